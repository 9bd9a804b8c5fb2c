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
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** For each of two halves, an older and a newer one. */
const MAX_HALF_BYTES = 8 * 2 ** 20;
const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;

/** All that the agent of one sandbox printed in its last run, bounded. */
export class AgentLog implements Disposable {
  readonly #path: string;
  #file: number;
  #sizeBytes = 0;

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

  /** Where the log was removed with its sandbox meanwhile, nothing comes in its place. */
  write(bytes: Uint8Array): void {
    if (this.#sizeBytes + bytes.length > MAX_HALF_BYTES && this.#sizeBytes > 0) {
      this.#beginAnew();
      this.#sizeBytes = 0;
    }
    this.#sizeBytes += writeSync(this.#file, bytes.subarray(0, MAX_HALF_BYTES));
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

  #beginAnew(): void {
    if (!existsSync(this.#path)) return ftruncateSync(this.#file);
    renameSync(this.#path, `${this.#path}.old`);
    closeSync(this.#file);
    this.#file = openSync(this.#path, FLAGS, 0o600);
  }
}

function pathsIn(directory: string): readonly [older: string, newer: string] {
  const path = join(directory, 'log');
  return [`${path}.old`, path];
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
