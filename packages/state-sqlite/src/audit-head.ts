import { Buffer } from 'node:buffer';
import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';

const LENGTH = 128;

export interface HeadMark {
  readonly sequence: number;
  readonly hash: string;
}

/**
 * The newest durable entry of the audit log, in a small file beside the database: who removes entries at the end of the
 * log has to know of it. It may lag behind (a kill, two processes at once) and is never ahead, so it never cries wolf.
 */
export class AuditHead {
  readonly #path: Buffer;
  #file: number | undefined;

  /** @param isFresh the log is empty, so that a missing file is made; later a missing file is a finding of `verify` */
  constructor(path: Buffer, isFresh: boolean) {
    this.#path = path;
    this.#file = openFile(path, 'r+');
    if (!isFresh) return;
    this.#file ??= openFile(path, 'wx+') ?? openFile(path, 'r+');
    if (this.#file === undefined || this.read()) return;
    this.write({ sequence: 0, hash: '' });
    fsyncSync(this.#file);
  }

  /** `undefined` when there is none, or none that we wrote. */
  read(): HeadMark | undefined {
    const file = openFile(this.#path, 'r');
    if (file === undefined) return undefined;
    try {
      const bytes = Buffer.alloc(LENGTH);
      readSync(file, bytes, 0, LENGTH, 0);
      const found = /^(\d{1,15}) ([0-9a-f]{64}|) *\n/.exec(bytes.toString('latin1'));
      return found ? { sequence: Number(found[1]), hash: found[2] ?? '' } : undefined;
    } finally {
      closeSync(file);
    }
  }

  /** In place and in one write within one sector: a kill leaves the old mark or the new one. */
  write(mark: HeadMark): void {
    if (this.#file === undefined) return;
    writeSync(
      this.#file,
      Buffer.from(`${`${mark.sequence} ${mark.hash}`.padEnd(LENGTH - 1)}\n`, 'latin1'),
      0,
      LENGTH,
      0,
    );
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

function openFile(path: Buffer, flags: string): number | undefined {
  try {
    return openSync(path, flags, 0o600);
  } catch (error) {
    if (['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
