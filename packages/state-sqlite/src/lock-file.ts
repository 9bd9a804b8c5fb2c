import type { Buffer } from 'node:buffer';
import { lstatSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { isBusy } from './database/sqlite-error.ts';

/**
 * A lock that the kernel frees when its holder dies, in a file that stays empty: SQLite's EXCLUSIVE lock is an fcntl lock,
 * and Node has no other way to take one.
 *
 * fcntl locks belong to the process, and closing any descriptor of the file drops them. So nobody but SQLite may open
 * the file; SQLite itself keeps count of its connections to one file and closes none while another holds a lock.
 * @see https://www.sqlite.org/howtocorrupt.html section 2.2
 */
export class LockFile {
  readonly #path: Buffer;
  readonly #connection: DatabaseSync;
  #inode: bigint | undefined;

  constructor(DatabaseSync: typeof import('node:sqlite').DatabaseSync, path: Buffer) {
    this.#path = path;
    this.#connection = new DatabaseSync(path, { timeout: 0 });
  }

  /** Never waits. False when another connection or process holds it. */
  tryLock(): boolean {
    try {
      // Without this SQLite would write and remove a journal file each time. It cannot be set while another one holds
      // the lock, so it belongs to the attempt.
      if (this.#inode === undefined) this.#connection.exec('PRAGMA journal_mode = MEMORY');
      this.#connection.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
    this.#inode ??= inodeOf(this.#path);
    return true;
  }

  unlock(): void {
    this.#connection.exec('ROLLBACK');
  }

  /** Whether the file was removed or replaced behind our back: its lock then excludes nobody. */
  isStale(): boolean {
    return this.#inode === undefined || inodeOf(this.#path) !== this.#inode;
  }

  /** Also unlocks. */
  close(): void {
    this.#connection.close();
  }
}

function inodeOf(path: Buffer): bigint | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}
