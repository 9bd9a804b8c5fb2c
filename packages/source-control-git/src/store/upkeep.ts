import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { settleJournal } from './settle-journal.ts';
import type { Store } from './store.ts';

/** Loose objects written by this process after which they are packed; git's own `gc.auto` is 6700. */
const LOOSE_OBJECTS = 4000;
/** Packs after which they become one; git's own `gc.autoPackLimit` is 50. */
const PACKS = 50;
/** Who opens the store looks at all that the journal holds, so it is kept short. */
const JOURNAL_ENTRIES = 64;
const JOURNAL_BYTES = 1024 * 1024;

/** Empties the journal and packs objects in the background, so that a long history stays as fast as a short one. Never prunes. */
export class Upkeep implements AsyncDisposable {
  readonly #store: Store;
  readonly #abort = new AbortController();
  #looseObjects = 0;
  #running: Promise<void> | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** To be told of every revision. */
  recorded(looseObjects: number): void {
    this.#looseObjects += looseObjects;
    if (this.#running) return;
    const { entries, bytes } = this.#store.journal.usage;
    const isFull = entries >= JOURNAL_ENTRIES || bytes >= JOURNAL_BYTES;
    if (!isFull && this.#looseObjects < LOOSE_OBJECTS) return;
    this.#running = this.#keepUp(isFull)
      .catch(() => {}) // the next one makes up for it
      .finally(() => (this.#running = undefined));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }

  async #keepUp(isFull: boolean): Promise<void> {
    const { signal } = this.#abort;
    if (isFull) await settleJournal(this.#store, signal);
    const packs = readdirSync(join(this.#store.gitDirectory, 'objects', 'pack')).filter((name) =>
      name.endsWith('.pack'),
    );
    const isScattered = packs.length >= PACKS;
    if (!isScattered && this.#looseObjects < LOOSE_OBJECTS) return;
    this.#looseObjects = 0;
    // -d removes packs and loose objects that the new pack holds; -a -k keeps what nothing names yet in the one pack.
    const args = ['repack', '-d', '-l', '-q', '--no-write-bitmap-index', ...(isScattered ? ['-a', '-k'] : [])];
    await this.#store.run(args, { signal });
  }
}
