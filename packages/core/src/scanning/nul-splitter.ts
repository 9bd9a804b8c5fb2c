import { decodeRaw } from '../domain/raw-text.ts';

/** Splits what a program prints at NUL, or at another ASCII character, whatever the chunks. */
export class NulSplitter {
  readonly #onText: (text: string) => void;
  readonly #end: number;
  readonly #separator: string;
  #pending: Uint8Array = new Uint8Array();

  constructor(onText: (text: string) => void, end = 0) {
    this.#onText = onText;
    this.#end = end;
    this.#separator = String.fromCharCode(end);
  }

  push(chunk: Uint8Array): void {
    let bytes = chunk;
    if (this.#pending.length > 0) {
      bytes = new Uint8Array(this.#pending.length + chunk.length);
      bytes.set(this.#pending);
      bytes.set(chunk, this.#pending.length);
    }
    const end = bytes.lastIndexOf(this.#end);
    if (end !== -1) {
      // At once, not one by one: a decoder costs more than what it decodes. No sequence of UTF-8 goes across an ASCII character.
      for (const text of decodeRaw(bytes.subarray(0, end)).split(this.#separator)) this.#onText(text);
    }
    this.#pending = bytes.slice(end + 1);
  }
}
