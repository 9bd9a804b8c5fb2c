import { joinBytes } from '../domain/text/join-bytes.ts';

const MAX_CHUNKS = 4096;

/** What one service printed, both streams as they came: the newest bytes, whatever it prints in all. */
export class ServiceLog {
  readonly #maxBytes: number;
  #chunks: Uint8Array[] = [];
  #heldBytes = 0;
  /** Of all that was ever printed. */
  #totalBytes = 0;
  #wake = () => {};
  #next = this.#another();

  constructor(maxBytes = 2 ** 20) {
    this.#maxBytes = maxBytes;
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  push(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const kept = bytes.length > this.#maxBytes ? bytes.subarray(-this.#maxBytes) : bytes;
    this.#chunks.push(new Uint8Array(kept)); // a copy: what it came in may be used again
    this.#heldBytes += kept.length;
    this.#totalBytes += bytes.length;
    // A piece of one byte takes a hundred.
    if (this.#chunks.length > MAX_CHUNKS) this.#chunks = [joinBytes(this.#chunks)];
    while (this.#heldBytes > this.#maxBytes) {
      const [first] = this.#chunks;
      if (!first) break;
      const tooMany = this.#heldBytes - this.#maxBytes;
      if (first.length <= tooMany) this.#chunks.shift();
      else this.#chunks[0] = first.subarray(tooMany);
      this.#heldBytes -= Math.min(first.length, tooMany);
    }
    this.#wake();
    this.#next = this.#another();
  }

  /** A line of our own, told apart by its form. */
  note(text: string): void {
    this.push(new TextEncoder().encode(`[litterbox: ${text}]\n`));
  }

  /** From that byte of all that was ever printed on, as far as it is still held. */
  since(offset: number): { readonly bytes: Uint8Array; readonly skippedBytes: number; readonly next: number } {
    const start = this.#totalBytes - this.#heldBytes;
    const from = Math.max(offset, start);
    const bytes = new Uint8Array(this.#totalBytes - from);
    let at = start;
    for (const chunk of this.#chunks) {
      if (at + chunk.length > from) bytes.set(chunk.subarray(Math.max(0, from - at)), Math.max(0, at - from));
      at += chunk.length;
    }
    return { bytes, skippedBytes: from - offset, next: this.#totalBytes };
  }

  /** Resolves when more is printed. */
  more(): Promise<void> {
    return this.#next;
  }

  #another(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
