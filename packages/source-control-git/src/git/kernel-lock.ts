import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { LitterboxError } from '@litterbox/core/provider';

/** Between two tries, longer each time: twenty programs that ask all the time would keep the holder from the processor. */
const [POLL_MS, MAX_POLL_MS] = [2, 32] as const;
/** The last of twenty programs that begin at once on two busy processors waited for twelve seconds and more. */
const WAIT_MS = 60_000;

/**
 * A lock between processes that the kernel frees when its holder dies: SQLite's exclusive lock (fcntl) on an empty
 * database, which nothing is ever written to. Node has no flock of its own.
 */
export class KernelLock {
  readonly #path: string;
  #database: DatabaseSync | undefined;
  #isReady = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /** Runs `body` while nobody else holds the lock, in turn within this process. @throws LitterboxError `BUSY`. */
  async hold<T>(
    operation: string,
    body: () => Promise<T>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<T> {
    const turn = this.#last.then(async () => {
      const database = await this.#acquire(operation, options?.signal);
      try {
        return await body();
      } finally {
        database.exec('ROLLBACK');
      }
    });
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #acquire(operation: string, signal: AbortSignal | undefined): Promise<DatabaseSync> {
    this.#database ??= new DatabaseSync(this.#path, { timeout: 0 });
    const database = this.#database;
    const deadline = performance.now() + WAIT_MS;
    for (let pollMs: number = POLL_MS; ; pollMs = Math.min(2 * pollMs, MAX_POLL_MS)) {
      signal?.throwIfAborted();
      try {
        // Else SQLite writes and removes a journal file each time. It cannot be set while another one holds the lock.
        if (!this.#isReady) database.exec('PRAGMA journal_mode = MEMORY');
        this.#isReady = true;
        database.exec('BEGIN EXCLUSIVE');
        return database;
      } catch (cause) {
        if ((cause as { errcode?: number }).errcode !== 5 /* SQLITE_BUSY */) throw cause;
        if (performance.now() > deadline) {
          throw new LitterboxError(
            'BUSY',
            `Other processes have been using the history for ${WAIT_MS / 1000} seconds.`,
            { operation, hint: 'Try again when they are done.' },
            { cause },
          );
        }
        await sleep(pollMs);
      }
    }
  }

  close(): void {
    this.#database?.close();
    this.#database = undefined;
    this.#isReady = false;
  }
}
