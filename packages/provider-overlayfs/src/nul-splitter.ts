import { decodeRaw } from '@litterbox/core/provider';

/** Splits what `find` prints at NUL, whatever the chunks. */
export class NulSplitter {
  readonly #onText: (text: string) => void;
  #pending: Uint8Array = new Uint8Array();

  constructor(onText: (text: string) => void) {
    this.#onText = onText;
  }

  push(chunk: Uint8Array): void {
    let bytes = chunk;
    if (this.#pending.length > 0) {
      bytes = new Uint8Array(this.#pending.length + chunk.length);
      bytes.set(this.#pending);
      bytes.set(chunk, this.#pending.length);
    }
    let start = 0;
    for (let end = bytes.indexOf(0); end !== -1; end = bytes.indexOf(0, start)) {
      this.#onText(decodeRaw(bytes.subarray(start, end)));
      start = end + 1;
    }
    this.#pending = bytes.slice(start);
  }
}
