import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';

const LENGTH = 128;
/** A write of 128 bytes is over at once, unless who writes was put aside in its middle. */
const MAX_READS = 100;
const PAUSE_MS = 1;
const PAUSE = new Int32Array(new SharedArrayBuffer(4));

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

  /**
   * `undefined` when there is none, or none that we wrote. Reading and writing at the same time can give some of the old mark and
   * some of the new one, which the check at its end shows: then it is read again.
   */
  read(): HeadMark | undefined {
    const file = openFile(this.#path, 'r');
    if (file === undefined) return undefined;
    try {
      for (let left = MAX_READS; left > 0; left -= 1) {
        const bytes = Buffer.alloc(LENGTH);
        readSync(file, bytes, 0, LENGTH, 0);
        const mark = parseMark(bytes.toString('latin1'));
        if (mark) return mark;
        Atomics.wait(PAUSE, 0, 0, PAUSE_MS);
      }
      return undefined;
    } finally {
      closeSync(file);
    }
  }

  /** In place and in one write within one sector: a kill leaves the old mark or the new one. */
  write(mark: HeadMark): void {
    if (this.#file === undefined) return;
    const text = `${mark.sequence} ${mark.hash}`;
    const line = `${`${text} ${checkOf(text)}`.padEnd(LENGTH - 1)}\n`;
    writeSync(this.#file, Buffer.from(line, 'latin1'), 0, LENGTH, 0);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

/** A mark of an older version has no check. */
function parseMark(line: string): HeadMark | undefined {
  const [, text = '', sequence, hash = '', check] =
    /^((\d{1,15}) ([0-9a-f]{64}|))(?: ([0-9a-f]{16}))? *\n/.exec(line) ?? [];
  if (sequence === undefined || (check !== undefined && check !== checkOf(text))) return undefined;
  return { sequence: Number(sequence), hash };
}

const checkOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

function openFile(path: Buffer, flags: string): number | undefined {
  try {
    return openSync(path, flags, 0o600);
  } catch (error) {
    if (['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
