import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
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

/** All that the agent of one sandbox printed in its last run, bounded, in the state directory of the person. */
export class AgentLog implements Disposable {
  readonly #path: string;
  #file: number;
  #sizeBytes = 0;

  private constructor(path: string, file: number) {
    this.#path = path;
    this.#file = file;
  }

  /** Begins anew. @param id of the sandbox */
  static begin(stateDirectory: string, id: string): AgentLog {
    const path = pathOf(stateDirectory, id);
    mkdirSync(join(stateDirectory, 'agents'), { recursive: true, mode: 0o700 });
    for (const one of [path, `${path}.old`]) rmSync(one, { force: true });
    return new AgentLog(path, openSync(path, FLAGS, 0o600));
  }

  write(bytes: Uint8Array): void {
    if (this.#sizeBytes + bytes.length > MAX_HALF_BYTES && this.#sizeBytes > 0) {
      closeSync(this.#file);
      renameSync(this.#path, `${this.#path}.old`);
      this.#file = openSync(this.#path, FLAGS, 0o600);
      this.#sizeBytes = 0;
    }
    this.#sizeBytes += writeSync(this.#file, bytes.subarray(0, MAX_HALF_BYTES));
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  /** The older half and the newer one; nothing where no agent ran. Hostile bytes. */
  static read(stateDirectory: string, id: string): readonly Uint8Array[] {
    const path = pathOf(stateDirectory, id);
    return [`${path}.old`, path].filter((one) => existsSync(one)).map(contentsOf);
  }

  static remove(stateDirectory: string, id: string): void {
    const path = pathOf(stateDirectory, id);
    for (const one of [path, `${path}.old`]) rmSync(one, { force: true });
  }
}

const pathOf = (stateDirectory: string, id: string) => join(stateDirectory, 'agents', `${id}.log`);

function contentsOf(path: string): Uint8Array {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const bytes = Buffer.alloc(Math.min(fstatSync(file).size, MAX_HALF_BYTES));
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(file);
  }
}
