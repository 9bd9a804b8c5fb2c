import { readdirSync, rmSync } from 'node:fs';
import { LockFile } from './lock-file.ts';
import type { StateDatabase } from './database/state-database.ts';

/** With more owner files than this, those of dead processes are looked for and removed. */
const SWEEP_ABOVE_FILES = 32;

/**
 * Who began what. An owner is a lock file that its process holds for as long as it lives: whether that process is dead
 * is answered by the kernel, so neither a reused process id, nor another PID namespace, nor a jumping clock can mislead.
 * No file means dead: the file is there and locked before its name is written anywhere.
 */
export class OwnerLocks implements AsyncDisposable {
  readonly #database: StateDatabase;
  #own: { readonly name: string; readonly lock: LockFile } | undefined;

  constructor(database: StateDatabase) {
    this.#database = database;
  }

  /** The name of this owner, taken on first use. */
  async own(): Promise<string> {
    const { DatabaseSync } = await this.#database.open();
    this.#sweep(DatabaseSync);
    while (this.#own === undefined) {
      const name = `${process.pid}-${crypto.randomUUID()}`;
      const lock = new LockFile(DatabaseSync, this.#pathOf(name));
      // A sweep of another process may have locked or removed the file before we had locked it: then take a new one.
      if (lock.tryLock() && !lock.isStale()) this.#own = { name, lock };
      else lock.close();
    }
    return this.#own.name;
  }

  /** Also removes the file of a dead one. */
  async isAlive(name: string): Promise<boolean> {
    if (name === this.#own?.name) return true;
    if (!/^[0-9a-f-]+$/.test(name)) return false; // ours are of this form; never a path of someone else's choice
    const { DatabaseSync } = await this.#database.open();
    return this.#isLocked(DatabaseSync, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#own === undefined) return;
    rmSync(this.#pathOf(this.#own.name), { force: true });
    this.#own.lock.close();
    this.#own = undefined;
  }

  #isLocked(DatabaseSync: typeof import('node:sqlite').DatabaseSync, name: string): boolean {
    const path = this.#pathOf(name);
    if (!readdirSync(this.#database.pathOf('owners')).includes(name)) return false; // opening it would make it
    const lock = new LockFile(DatabaseSync, path);
    try {
      if (!lock.tryLock()) return true;
      rmSync(path, { force: true });
      return false;
    } finally {
      lock.close();
    }
  }

  #sweep(DatabaseSync: typeof import('node:sqlite').DatabaseSync): void {
    if (this.#own !== undefined) return;
    const names = readdirSync(this.#database.pathOf('owners'));
    if (names.length > SWEEP_ABOVE_FILES) for (const name of names) this.#isLocked(DatabaseSync, name);
  }

  #pathOf(name: string) {
    return this.#database.pathOf('owners', name);
  }
}
