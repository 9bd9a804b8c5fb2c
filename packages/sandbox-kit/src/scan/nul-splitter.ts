import { decodeRaw } from '@litterbox/core/provider';

/** Longest text where nothing else is said: a path of Linux (PATH_MAX, 4096 bytes) with what is said of it. A program inside may write into what ours print. */
const MAX_TEXT_BYTES = 16 * 1024;

/** Splits what a program prints at NUL, or at another ASCII character, whatever the chunks. */
export class NulSplitter {
  readonly #onText: (text: string) => void;
  readonly #end: number;
  readonly #separator: string;
  readonly #maxTextBytes: number;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #isOverlong = false;

  /** @param maxTextBytes how long a text may be at most */
  constructor(onText: (text: string) => void, end = 0, maxTextBytes = MAX_TEXT_BYTES) {
    this.#onText = onText;
    this.#end = end;
    this.#maxTextBytes = maxTextBytes;
    this.#separator = String.fromCharCode(end);
  }

  /** True once a text was longer than any that a program of ours prints. What came of it was dropped. */
  get isOverlong(): boolean {
    return this.#isOverlong;
  }

  push(chunk: Uint8Array): void {
    const end = chunk.lastIndexOf(this.#end);
    if (end === -1) return this.#keep(chunk);
    const bytes = joined([...this.#pending, chunk.subarray(0, end)]);
    this.#pending = [];
    this.#pendingBytes = 0;
    // At once, not one by one: a decoder costs more than what it decodes. No sequence of UTF-8 goes across an ASCII character.
    for (const text of decodeRaw(bytes).split(this.#separator)) this.#onText(text);
    this.#keep(chunk.slice(end + 1));
  }

  #keep(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#pendingBytes += chunk.length;
    if (this.#pendingBytes > this.#maxTextBytes) {
      this.#isOverlong = true;
      this.#pending = [];
    } else this.#pending.push(chunk);
  }
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  if (chunks.length === 1 && only) return only;
  const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
