/** A stream that nobody reads keeps so much; beyond it the command is held back. */
const KEPT_BYTES = 2 ** 20;

/** Makes a web stream of chunks that are pushed into it. */
export class OutputStream {
  readonly readable: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #droppedBytes = 0;
  #isOver = false;
  #mayDrop = false;
  #wake = () => {};

  constructor() {
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#wake(),
        cancel: () => {
          this.#isOver = true;
          this.#wake();
        },
      },
      { highWaterMark: KEPT_BYTES, size: ({ byteLength }) => byteLength },
    );
  }

  /** Bytes at its end that were thrown away because nobody read it. */
  get droppedBytes(): number {
    return this.#droppedBytes;
  }

  /** Resolves when there is room for more. Where the stream was cancelled or is over, the bytes go nowhere. */
  async push(bytes: Uint8Array): Promise<void> {
    while (!this.#isOver && (this.#controller?.desiredSize ?? 0) <= 0) {
      if (this.#mayDrop && !this.readable.locked) break;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#isOver) return;
    // After a gap nothing more comes: what was kept is a beginning.
    if (this.#droppedBytes > 0 || (this.#controller?.desiredSize ?? 0) <= 0) this.#droppedBytes += bytes.length;
    else this.#controller?.enqueue(bytes);
  }

  /** From now on the end is thrown away, rather than the command held back, while nobody reads. */
  letDrop(): void {
    this.#mayDrop = true;
    this.#wake();
  }

  /** Ends it; with a reason whoever reads it hears that. What it has is read first where there is none. */
  end(failure?: { readonly reason: unknown }): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (failure) this.#controller?.error(failure.reason);
    else this.#controller?.close();
    this.#wake();
  }
}
