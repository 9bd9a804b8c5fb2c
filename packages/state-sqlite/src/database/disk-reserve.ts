import { Buffer } from 'node:buffer';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';

const RESERVE_BYTES = 8 * 2 ** 20;
/** Enough for the files that an open state has beside it. */
const OPEN_BYTES = 2 * 2 ** 20;

/**
 * Space kept back on the state directory's file system, so that what frees space (deleting a sandbox, ending what was
 * begun) still works when the disk is full.
 */
export class DiskReserve {
  readonly #path: Buffer;

  constructor(path: Buffer) {
    this.#path = path;
  }

  /**
   * Does nothing when it is there already or when there is no room for it now.
   *
   * @param isFull it was released to open the state: what that took is left out
   */
  keep(isFull = false): void {
    let file: number;
    try {
      file = openSync(this.#path, 'wx', 0o600);
    } catch {
      return; // there already, or the disk is full: both are as good as it gets
    }
    try {
      const zeros = Buffer.alloc(2 ** 20);
      const wanted = isFull ? RESERVE_BYTES - OPEN_BYTES : RESERVE_BYTES;
      for (let written = 0; written < wanted; ) written += writeSync(file, zeros);
    } catch {
      rmSync(this.#path, { force: true });
    } finally {
      closeSync(file);
    }
  }

  /** Gives the space back. False when there was none. */
  release(): boolean {
    try {
      rmSync(this.#path);
      return true;
    } catch {
      return false;
    }
  }
}
