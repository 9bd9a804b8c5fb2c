import type { Buffer } from 'node:buffer';
import { closeSync, fdatasync, fstatSync, openSync } from 'node:fs';
import { promisify } from 'node:util';

const fdatasyncAsync = promisify(fdatasync);

/**
 * SQLite's write-ahead log, to sync what it holds. SQLite itself, as Node builds it, syncs times and lengths too, for which the file
 * system waits until everything that anyone did to any file is on the disk. Length and place of a log that is used again do not
 * change, and where they do this sync includes them.
 *
 * SQLite has no fcntl lock on this file, so closing it drops none; it stays the same file while a connection is open.
 * @see https://www.sqlite.org/wal.html
 */
export class LogFile {
  readonly #path: Buffer;
  readonly #onOpen: () => void;
  #file: number | undefined;

  /** @param onOpen makes the name of the file durable */
  constructor(path: Buffer, onOpen: () => void) {
    this.#path = path;
    this.#onOpen = onOpen;
  }

  /** All that was committed when it was called, by any process, survives a power cut when it resolves. */
  async sync(): Promise<void> {
    if (this.#file !== undefined && fstatSync(this.#file).nlink === 0) this.close();
    if (this.#file === undefined) {
      this.#file = openSync(this.#path, 'r');
      this.#onOpen();
    }
    await fdatasyncAsync(this.#file);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}
