import { joinBytes } from './join-bytes.ts';

const NEWLINE = 10;

/** Makes lines of bytes that come in pieces. Of a line that is too long nothing is kept. */
export class LineSplitter {
  readonly #maxBytes: number;
  readonly #onLine: (line: Uint8Array) => void;
  readonly #onTooLong: () => void;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #isDropping = false;

  /**
   * @param maxBytes of a line with its end
   * @param onLine gets each line, with its end; the last one only if it has an end
   * @param onTooLong called once for each line that is longer, as soon as it is
   */
  constructor(maxBytes: number, onLine: (line: Uint8Array) => void, onTooLong: () => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  take(chunk: Uint8Array): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, end + 1));
      if (!this.#isDropping) this.#flush();
      this.#isDropping = false;
      from = end + 1;
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from));
  }

  #keep(part: Uint8Array): void {
    if (this.#isDropping) return;
    if (this.#pendingBytes + part.length <= this.#maxBytes) {
      this.#pending.push(part);
      this.#pendingBytes += part.length;
      return;
    }
    [this.#pending, this.#pendingBytes, this.#isDropping] = [[], 0, true];
    this.#onTooLong();
  }

  #flush(): void {
    const line = joinBytes(this.#pending);
    [this.#pending, this.#pendingBytes] = [[], 0];
    this.#onLine(line);
  }
}
