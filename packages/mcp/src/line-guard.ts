import { Transform, type TransformCallback } from 'node:stream';

const NEWLINE = 10;

/**
 * Lets lines through as they are and drops those that are longer than allowed: what reads them would have to keep them whole.
 *
 * @param onDropped told once for each dropped line, as soon as it is too long
 */
export class LineGuard extends Transform {
  readonly #maxBytes: number;
  readonly #onDropped: () => void;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #isDropping = false;

  constructor(maxBytes: number, onDropped: () => void) {
    super();
    this.#maxBytes = maxBytes;
    this.#onDropped = onDropped;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.#take(chunk.subarray(from, end + 1));
      if (!this.#isDropping) this.#flushLine();
      this.#isDropping = false;
      from = end + 1;
    }
    if (from < chunk.length) this.#take(chunk.subarray(from));
    done();
  }

  #take(part: Buffer): void {
    if (this.#isDropping) return;
    if (this.#pendingBytes + part.length <= this.#maxBytes) {
      this.#pending.push(part);
      this.#pendingBytes += part.length;
      return;
    }
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#isDropping = true;
    this.#onDropped();
  }

  #flushLine(): void {
    this.push(this.#pending.length === 1 ? this.#pending[0] : Buffer.concat(this.#pending));
    this.#pending = [];
    this.#pendingBytes = 0;
  }
}
