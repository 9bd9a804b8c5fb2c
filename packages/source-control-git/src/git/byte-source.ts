/** Some of the bytes of a source, in pieces. */
export interface ByteBody extends AsyncIterable<Buffer> {
  /** False once all of it was read. */
  readonly hasMore: boolean;
}

/** Exact amounts of bytes out of chunks of any size. */
export class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #ended: () => Error;
  #chunk: Buffer = Buffer.alloc(0);

  /** `ended` makes the error for a source that ends too early. */
  constructor(chunks: AsyncIterator<Uint8Array>, ended: () => Error) {
    this.#chunks = chunks;
    this.#ended = ended;
  }

  /** The next bytes, at most `most`, at least one. */
  async some(most: number): Promise<Buffer> {
    if (this.#chunk.length === 0) await this.#next();
    const bytes = this.#chunk.subarray(0, most);
    this.#chunk = this.#chunk.subarray(bytes.length);
    return bytes;
  }

  /** Skips bytes of value 0. False when nothing else comes any more. */
  async skipZeros(): Promise<boolean> {
    for (;;) {
      const at = this.#chunk.findIndex((byte) => byte !== 0);
      if (at >= 0) {
        this.#chunk = this.#chunk.subarray(at);
        return true;
      }
      const { done, value } = await this.#chunks.next();
      if (done) return false;
      this.#chunk = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
  }

  /** The same as {@link take} where all of it is there already: for what is read a hundred thousand times. */
  takeNow(count: number): Buffer | undefined {
    if (this.#chunk.length < count) return undefined;
    const bytes = this.#chunk.subarray(0, count);
    this.#chunk = this.#chunk.subarray(count);
    return bytes;
  }

  async take(count: number): Promise<Buffer> {
    const whole = this.takeNow(count);
    if (whole) return whole;
    const parts: Buffer[] = [];
    for (let missing = count; missing > 0; ) {
      const part = await this.some(missing);
      parts.push(part);
      missing -= part.length;
    }
    return Buffer.concat(parts);
  }

  async skip(count: number): Promise<void> {
    for (let missing = count; missing > 0; ) missing -= (await this.some(missing)).length;
  }

  /** Up to the byte, without it. */
  async until(byte: number, mostBytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let size = 0; size <= mostBytes; ) {
      if (this.#chunk.length === 0) await this.#next();
      const at = this.#chunk.indexOf(byte);
      const part = this.#chunk.subarray(0, at < 0 ? this.#chunk.length : at);
      this.#chunk = this.#chunk.subarray(at < 0 ? this.#chunk.length : at + 1);
      parts.push(part);
      size += part.length;
      if (at >= 0) return parts.length === 1 ? part : Buffer.concat(parts);
    }
    throw new Error(`no ${byte} within ${mostBytes} bytes`);
  }

  /** Iterating a second time goes on where the first stopped. */
  body(sizeBytes: number): ByteBody {
    let missing = sizeBytes;
    return {
      get hasMore() {
        return missing > 0;
      },
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          if (missing === 0) return { done: true, value: undefined };
          const value = await this.some(missing);
          missing -= value.length;
          return { done: false, value };
        },
      }),
    };
  }

  async #next(): Promise<void> {
    do {
      const { done, value } = await this.#chunks.next();
      if (done) throw this.#ended();
      this.#chunk = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    } while (this.#chunk.length === 0);
  }
}
