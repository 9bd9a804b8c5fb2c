import { decodeRaw } from '@litterbox/core';

const NEWLINE = 10;
/** Bytes of each end of a line that are kept. */
const MAX_BYTES = 65_536;

/** A line of a patch without its newline. Of one that is too long both ends are kept, and the bytes between them are counted. */
export interface CutLine {
  readonly text: string;
  readonly more: number;
  readonly tail: string;
}

/** Lines of bytes that come in pieces, of bounded length. A character may lie in two pieces. */
export async function* patchLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<CutLine, void, undefined> {
  let line = new GrowingLine();
  for await (const chunk of source) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      line.add(chunk.subarray(from, end));
      yield line.cut();
      line = new GrowingLine();
      from = end + 1;
    }
    if (from < chunk.length) line.add(chunk.slice(from));
  }
  if (line.bytes > 0) yield line.cut();
}

class GrowingLine {
  bytes = 0;
  readonly #head: Uint8Array[] = [];
  #headBytes = 0;
  /** The last pieces, more of them than is kept: to join at each piece would take time by the square. */
  #tail: Uint8Array[] = [];
  #tailBytes = 0;

  add(part: Uint8Array): void {
    this.bytes += part.length;
    const fits = part.subarray(0, MAX_BYTES - this.#headBytes);
    this.#headBytes += fits.length;
    if (fits.length > 0) this.#head.push(fits);
    const rest = part.subarray(fits.length);
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#tailBytes += rest.length;
    if (this.#tailBytes > 2 * MAX_BYTES) this.#joinTail();
  }

  #joinTail(): Uint8Array {
    const joined = Buffer.concat(this.#tail).subarray(-MAX_BYTES);
    this.#tail = [joined];
    this.#tailBytes = joined.length;
    return joined;
  }

  cut(): CutLine {
    const [only = new Uint8Array()] = this.#head;
    const text = decodeRaw(this.#head.length > 1 ? Buffer.concat(this.#head) : only);
    const tail = this.#joinTail();
    return { text, more: this.bytes - this.#headBytes - tail.length, tail: decodeRaw(tail) };
  }
}
