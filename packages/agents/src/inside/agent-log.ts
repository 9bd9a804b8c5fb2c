import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** For each of two halves, an older and a newer one. */
const MAX_HALF_BYTES = 8 * 2 ** 20;
const MAX_PART_BYTES = 2 ** 20;
const LOOK_MS = 100;
const FULL: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT']);
const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;

/** All that the agent of one sandbox printed in its last run, bounded. */
export class AgentLog implements Disposable {
  readonly #path: string;
  #file: number;
  #sizeBytes = 0;
  #lostBytes = 0;

  private constructor(path: string, file: number) {
    this.#path = path;
    this.#file = file;
  }

  /** Begins anew. @param directory of the sandbox's agent, that nobody but the person writes to */
  static begin(directory: string): AgentLog {
    const [older, newer] = pathsIn(directory);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (const one of [older, newer]) rmSync(one, { force: true });
    return new AgentLog(newer, openSync(newer, FLAGS, 0o600));
  }

  /**
   * Where the log was removed with its sandbox meanwhile, nothing comes in its place. What a full disk does not take is missing, and the log
   * says so: its agent works on.
   */
  write(bytes: Uint8Array): void {
    try {
      if (this.#sizeBytes + bytes.length > MAX_HALF_BYTES && this.#sizeBytes > 0) {
        this.#beginAnew();
        this.#sizeBytes = 0;
      }
      if (this.#lostBytes > 0) {
        const gap = Buffer.from(`\n[litterbox: the disk was full, ${this.#lostBytes} bytes are missing]\n`);
        if (!this.#append(gap)) return void (this.#lostBytes += bytes.length);
        this.#lostBytes = 0;
      }
      const kept = bytes.subarray(0, MAX_HALF_BYTES);
      this.#lostBytes += kept.length - this.#append(kept);
    } catch (error) {
      if (!FULL.has((error as NodeJS.ErrnoException).code)) throw error;
      this.#lostBytes += bytes.length;
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  /** The older half and the newer one; nothing where no agent ran. Hostile bytes. */
  static read(directory: string): readonly Uint8Array[] {
    return pathsIn(directory)
      .filter((one) => existsSync(one))
      .map(contentsOf);
  }

  /**
   * Gives what is there and what comes, until nobody writes it any more. Of more than a half between two looks the beginning is left out.
   *
   * @param isAtWork whether somebody writes it
   */
  static async *follow(
    directory: string,
    isAtWork: () => boolean,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const [older, newer] = pathsIn(directory);
    if (existsSync(older)) yield contentsOf(older);
    for (let from: Place = { file: 0, sizeBytes: 0 }; ; ) {
      const isOver = !isAtWork(); // before the look: what it wrote last is seen
      const isOlder = statSync(older, { throwIfNoEntry: false })?.ino === from.file;
      const rest = isOlder ? readFrom(older, from) : undefined;
      const { file, bytes } = rest && rest.bytes.length > 0 ? rest : readFrom(newer, from);
      from = { file, sizeBytes: (file === from.file ? from.sizeBytes : 0) + bytes.length };
      if (bytes.length > 0) yield bytes;
      else if (isOver) return;
      else await sleep(LOOK_MS, undefined, { signal });
    }
  }

  /** @returns how much of it was written */
  #append(bytes: Uint8Array): number {
    const count = writeSync(this.#file, bytes);
    this.#sizeBytes += count;
    return count;
  }

  #beginAnew(): void {
    if (!existsSync(this.#path)) return ftruncateSync(this.#file);
    renameSync(this.#path, `${this.#path}.old`);
    const file = openSync(this.#path, FLAGS, 0o600);
    closeSync(this.#file);
    this.#file = file;
  }
}

function pathsIn(directory: string): readonly [older: string, newer: string] {
  const path = join(directory, 'log');
  return [`${path}.old`, path];
}

interface Place {
  /** By its inode. */
  readonly file: number;
  readonly sizeBytes: number;
}

/** Reads on in a file from that place, or from its beginning where it is another file. */
function readFrom(path: string, from: Place): { readonly file: number; readonly bytes: Uint8Array } {
  if (!existsSync(path)) return { file: from.file, bytes: new Uint8Array() };
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { ino, size } = fstatSync(file);
    const start = ino === from.file ? from.sizeBytes : 0;
    const bytes = Buffer.alloc(Math.min(Math.max(0, size - start), MAX_PART_BYTES));
    return { file: ino, bytes: bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start)) };
  } finally {
    closeSync(file);
  }
}

function contentsOf(path: string): Uint8Array {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const bytes = Buffer.alloc(Math.min(fstatSync(file).size, MAX_HALF_BYTES));
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(file);
  }
}
