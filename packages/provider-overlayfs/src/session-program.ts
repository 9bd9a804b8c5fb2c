import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import {
  type CallOptions,
  type Host,
  type HostFacts,
  LitterboxError,
  type ProviderKey,
  shown,
} from '@litterbox/core/provider';
import { checksum } from './checksum.ts';

/** By `uname -m`: packages that hold the program for it. */
const PACKAGES: Readonly<Record<string, string>> = {
  x86_64: '@litterbox/session-linux-x64',
  aarch64: '@litterbox/session-linux-arm64',
};

/** The program of a machine of that architecture; undefined where none is installed. */
export async function readSessionProgram(architecture: string): Promise<Uint8Array | undefined> {
  const name = PACKAGES[architecture];
  if (name === undefined) return undefined;
  try {
    return await readFile(createRequire(import.meta.url).resolve(`${name}/litterbox-session`));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'MODULE_NOT_FOUND' || code === 'ENOENT') return undefined;
    throw error;
  }
}

export interface SessionProgramInput {
  readonly host: Host;
  readonly provider: ProviderKey;
  readonly facts: HostFacts;
  /** Absolute path of the provider's own directory on the host. It has to be there. */
  readonly root: string;
  /** The program for an architecture, or undefined. */
  read(architecture: string): Promise<Uint8Array | undefined>;
}

interface Sent {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/**
 * The program that starts sessions, as a file on the machine where they run. It is written there once, under a name that tells what it holds,
 * and looked at before each start: who may write to it may do what this user may.
 */
export class SessionProgram {
  readonly #input: SessionProgramInput;
  #wanted: Promise<Sent | undefined> | undefined;
  /** The machine does not run it: the directory is on a file system without programs, or the kernel is another one. */
  #isRefused = false;

  constructor(input: SessionProgramInput) {
    this.#input = input;
  }

  /**
   * Absolute path of the file; undefined where there is none for this machine, or it does not run it.
   *
   * @throws LitterboxError `PERMISSION_DENIED` for a file that somebody else may have written
   */
  async path(options?: CallOptions): Promise<string | undefined> {
    const { host } = this.#input;
    this.#wanted ??= this.#find();
    const wanted = await this.#wanted;
    if (wanted === undefined || this.#isRefused) return undefined;
    if (await this.#isThere(wanted, options)) return wanted.path;
    await host.files.write(wanted.path, wanted.bytes, { mode: 0o700 });
    if (await this.#runs(wanted.path, options)) return wanted.path;
    this.#isRefused = true;
    await host.files.remove(wanted.path);
    return undefined;
  }

  async #find(): Promise<Sent | undefined> {
    const { facts, root, read } = this.#input;
    const bytes = await read(facts.architecture);
    return bytes && { bytes, path: `${root}/session-${checksum(bytes)}` };
  }

  async #isThere({ path, bytes }: Sent, options?: CallOptions): Promise<boolean> {
    const { host, facts, provider } = this.#input;
    const found = await host.files.stat(path, options);
    if (found === undefined) return false;
    const isOurs = found.type === 'file' && found.uid === facts.uid && (found.mode & 0o7077) === 0;
    if (!isOurs)
      throw new LitterboxError(
        'PERMISSION_DENIED',
        `${shown(path)} on ${host.name} starts sandboxes, and somebody else may have written it.`,
        { operation: 'provider.start', provider, hint: 'Remove it: Litterbox writes it again.' },
      );
    return found.sizeBytes === bytes.length && (found.mode & 0o100) !== 0;
  }

  async #runs(path: string, options?: CallOptions): Promise<boolean> {
    try {
      await using handle = await this.#input.host.spawn({ argv: [path, 'check'] }, options);
      return (await handle.exit).code === 0;
    } catch (error) {
      options?.signal?.throwIfAborted();
      if (error instanceof LitterboxError && error.code === 'UNAVAILABLE') throw error;
      return false;
    }
  }
}
