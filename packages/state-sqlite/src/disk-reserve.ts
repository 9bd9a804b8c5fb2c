import { Buffer } from 'node:buffer';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';

const RESERVE_BYTES = 8 * 2 ** 20;

/**
 * Space kept back on the state directory's file system, so that what frees space (deleting a sandbox, ending what was
 * begun) still works when the disk is full.
 */
export class DiskReserve {
  readonly #path: Buffer;

  constructor(path: Buffer) {
    this.#path = path;
  }

  /** Does nothing when it is there already or when there is no room for it now. */
  keep(): void {
    let file: number;
    try {
      file = openSync(this.#path, 'wx', 0o600);
    } catch {
      return; // there already, or the disk is full: both are as good as it gets
    }
    try {
      const zeros = Buffer.alloc(2 ** 20);
      for (let written = 0; written < RESERVE_BYTES; ) written += writeSync(file, zeros);
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
