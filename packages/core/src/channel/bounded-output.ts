import { joinBytes } from '../domain/text/join-bytes.ts';

/** What was kept of one output stream. */
export interface KeptOutput {
  /** The first and the last bytes, joined; everything when `droppedBytes` is 0. */
  readonly bytes: Uint8Array;
  /** Index in `bytes` at which `droppedBytes` bytes are missing. */
  readonly cutAt: number;
  readonly droppedBytes: number;
}

/** Pieces of a byte each take a hundred times as much. */
const MAX_PIECES = 1024;

/** Keeps the head and the tail of a stream of any length in bounded memory: errors stand at the end, causes at the start. */
export class BoundedOutput {
  readonly #maxBytes: number;
  readonly #head: Uint8Array[] = [];
  #headBytes = 0;
  /** Pieces at the start of the head that are many put together. */
  #joined = 0;
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  #totalBytes = 0;

  /** @param maxBytes at least 2 */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(bytes: Uint8Array): void {
    this.#totalBytes += bytes.length;
    const room = Math.ceil(this.#maxBytes / 2) - this.#headBytes;
    const forHead = bytes.subarray(0, Math.max(0, room));
    if (forHead.length > 0) {
      this.#head.push(forHead);
      this.#headBytes += forHead.length;
      if (this.#head.length - this.#joined > MAX_PIECES) this.#head.push(joinBytes(this.#head.splice(this.#joined++)));
    }
    const rest = bytes.subarray(forHead.length);
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#tailBytes += rest.length;
    // Compacted only when twice too long, so that every byte is copied a bounded number of times.
    if (this.#tailBytes > this.#maxBytes || this.#tail.length > MAX_PIECES) this.#compact();
  }

  kept(): KeptOutput {
    this.#compact();
    const bytes = joinBytes([...this.#head, ...this.#tail]);
    return { bytes, cutAt: this.#headBytes, droppedBytes: this.#totalBytes - bytes.length };
  }

  #compact(): void {
    const limit = Math.floor(this.#maxBytes / 2);
    const all = joinBytes(this.#tail);
    const kept = all.length > limit ? all.slice(all.length - limit) : all;
    this.#tail = [kept];
    this.#tailBytes = kept.length;
  }
}

/** The same, with no more than so many bytes: the first and the last of what is there. @param maxBytes at least 2 */
export function boundedTo({ bytes, cutAt, droppedBytes }: KeptOutput, maxBytes: number): KeptOutput {
  if (bytes.length <= maxBytes) return { bytes, cutAt, droppedBytes };
  const isCut = droppedBytes > 0;
  const headBytes = Math.min(isCut ? cutAt : bytes.length, Math.ceil(maxBytes / 2));
  const tail = bytes.subarray(Math.max(bytes.length - (maxBytes - headBytes), isCut ? cutAt : headBytes));
  const kept = joinBytes([bytes.subarray(0, headBytes), tail]);
  return { bytes: kept, cutAt: headBytes, droppedBytes: droppedBytes + bytes.length - kept.length };
}
