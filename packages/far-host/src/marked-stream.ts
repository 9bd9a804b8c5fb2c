import { MarkerSplitter } from '@litterbox/core/provider';

/** What a login shell may print before our first word. */
const MAX_NOISE_BYTES = 2 ** 20;

/** A stream that begins with what a login shell prints, until a marker says that the rest is ours. */
export class MarkedStream {
  /** What came behind the marker. */
  readonly behind: Uint8Array[] = [];
  readonly #splitter: MarkerSplitter;
  #word: string | undefined;
  #noiseBytes = 0;

  /** @param nonce of the marker: unguessable text of letters and digits */
  constructor(nonce: string) {
    this.#splitter = new MarkerSplitter(
      (bytes) => {
        if (this.#word === undefined) this.#noiseBytes += bytes.length;
        else this.behind.push(bytes);
      },
      (word) => (this.#word ??= word),
    );
    this.#splitter.expect(nonce);
  }

  /** What the marker says; absent until it has come. */
  get word(): string | undefined {
    return this.#word;
  }

  /** Whether so much came before a marker that none is to be expected. */
  get isEndless(): boolean {
    return this.#noiseBytes > MAX_NOISE_BYTES;
  }

  push(bytes: Uint8Array): void {
    this.#splitter.push(bytes);
  }

  /** Once the marker has come: what looked like the beginning of another one is an ordinary byte too. */
  flush(): void {
    this.#splitter.flush();
  }
}
