import { decodeRaw } from '../domain/raw-text.ts';

/** Splits what a program prints at NUL, or at another byte, whatever the chunks. */
export class NulSplitter {
  readonly #onText: (text: string) => void;
  readonly #end: number;
  #pending: Uint8Array = new Uint8Array();

  constructor(onText: (text: string) => void, end = 0) {
    this.#onText = onText;
    this.#end = end;
  }

  push(chunk: Uint8Array): void {
    let bytes = chunk;
    if (this.#pending.length > 0) {
      bytes = new Uint8Array(this.#pending.length + chunk.length);
      bytes.set(this.#pending);
      bytes.set(chunk, this.#pending.length);
    }
    let start = 0;
    for (let end = bytes.indexOf(this.#end); end !== -1; end = bytes.indexOf(this.#end, start)) {
      this.#onText(decodeRaw(bytes.subarray(start, end)));
      start = end + 1;
    }
    this.#pending = bytes.slice(start);
  }
}
