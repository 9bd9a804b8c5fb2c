import type { Store } from './store.ts';

/** Loose objects written by this process after which they are packed; git's own `gc.auto` is 6700. */
const LOOSE_OBJECTS = 4000;

/** Packs loose objects in the background, so that a long history stays as fast as a short one. Never prunes. */
export class Repacking implements AsyncDisposable {
  readonly #store: Store;
  readonly #abort = new AbortController();
  #count = 0;
  #running: Promise<void> | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  count(objects: number): void {
    this.#count += objects;
    if (this.#count < LOOSE_OBJECTS || this.#running) return;
    this.#count = 0;
    // -d removes packs and loose objects that the new pack holds, never one that nothing names.
    const args = ['repack', '-d', '-l', '-q', '--no-write-bitmap-index'];
    this.#running = this.#store
      .run(args, { signal: this.#abort.signal })
      .then(() => {})
      .catch(() => {}) // the next one makes up for it
      .finally(() => (this.#running = undefined));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }
}
