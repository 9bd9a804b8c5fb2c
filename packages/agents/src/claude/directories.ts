import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { lstat, mkdir, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isLitterboxError } from 'litterbox';
import type { ExecPlace } from '../exec-place.ts';
import { hostPath, insidePath, isPlain } from '../paths.ts';

const MAX_PATH_BYTES = 4096;
const MAX_STAND_INS = 1000;
const NO_FILE = ['NOT_FOUND', 'NOT_A_REGULAR_FILE', 'IS_A_DIRECTORY', 'NOT_A_DIRECTORY', 'FILE_TOO_LARGE'] as const;

/**
 * Where the commands of Claude run. Claude keeps the directory in which its last command ended and starts the next one there, so it has to
 * be one of the person's machine: that of the same name in the work tree, or an empty one that stands for a directory of the sandbox alone.
 */
export class Directories {
  readonly #place: ExecPlace;
  readonly #standIns: string;
  readonly #inside = new Map<string, string>();
  /** Begins the names of this session's notes inside. */
  readonly #note = `/tmp/claude-${crypto.randomUUID().slice(0, 8)}`;
  readonly #taken = new Set<string>();

  /** @param standIns a directory of ours, to which Claude may go */
  constructor(place: ExecPlace, standIns: string) {
    this.#place = place;
    this.#standIns = standIns;
  }

  /** As hands take it: the directory of the sandbox for the one in which Claude is. */
  inside(directory: string): string {
    const { workdir } = this.#place.hands.record;
    const standsFor = this.#inside.get(directory);
    if (standsFor !== undefined) return insidePath({ root: workdir }, standsFor) ?? standsFor;
    return insidePath(this.#place, directory) ?? '.';
  }

  /**
   * A file inside for the directory in which a command ends, until it is released. Claude names another one for each command, which would
   * pile up; these are as many as there are commands at once.
   */
  note(): Disposable & { readonly file: string } {
    let number = 1;
    while (this.#taken.has(`${this.#note}-${number}`)) number += 1;
    const file = `${this.#note}-${number}`;
    this.#taken.add(file);
    return { file, [Symbol.dispose]: () => void this.#taken.delete(file) };
  }

  /** The directory for Claude after a command, from the file that the command wrote: it is the agent's, and counts if it is one path. */
  async after(file: string): Promise<string | undefined> {
    try {
      const bytes = await this.#place.hands.files.read(file);
      const isOne = bytes.length <= MAX_PATH_BYTES && isUtf8(bytes);
      const path = isOne ? Buffer.from(bytes).toString('utf8').replace(/\n$/, '') : '';
      return isPlain(path) ? await this.#outside(path) : undefined;
    } catch (error) {
      if (NO_FILE.some((code) => isLitterboxError(error, code))) return undefined;
      throw error;
    }
  }

  async #outside(path: string): Promise<string> {
    const host = hostPath(this.#place, path);
    if (host !== undefined && (await isDirectory(host))) return host;
    const [known] = [...this.#inside].find(([, inside]) => inside === path) ?? [];
    if (known !== undefined) return known;
    if (this.#inside.size >= MAX_STAND_INS) return this.#place.root;
    const standIn = join(this.#standIns, String(this.#inside.size + 1));
    this.#inside.set(standIn, path);
    await mkdir(standIn, { recursive: true, mode: 0o700 });
    return standIn;
  }
}

/** Itself, and not by a link. */
async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory() && (await realpath(path)) === path;
  } catch {
    return false;
  }
}

/** Makes the file that Claude reads and takes away. One that is there already is somebody else's, and stays as it is. */
export async function tellDirectory(file: string, directory: string): Promise<void> {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  try {
    await using handle = await open(file, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
    await handle.writeFile(`${directory}\n`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
