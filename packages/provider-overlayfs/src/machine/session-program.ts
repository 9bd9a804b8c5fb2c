import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  type CallOptions,
  type Host,
  type HostFacts,
  isLitterboxError,
  LitterboxError,
  type ProbeCheck,
  type ProviderKey,
  shown,
} from '@litterbox/core/provider';
import type { FoundProgram } from './machine.ts';

/** By `uname -m`: packages that hold the program for it. */
const PACKAGES: Readonly<Record<string, string>> = {
  x86_64: '@litterbox/session-linux-x64',
  aarch64: '@litterbox/session-linux-arm64',
};

/** The program of a machine of that architecture; undefined where none is installed. */
export function readSessionProgram(architecture: string): Uint8Array | undefined {
  const name = PACKAGES[architecture];
  if (name === undefined) return undefined;
  try {
    return readFileSync(createRequire(import.meta.url).resolve(`${name}/dist/litterbox-session`));
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
  /** Absolute path of the provider's own directory on the host. */
  readonly root: string;
  /** The program for an architecture, or undefined. */
  read(architecture: string): Uint8Array | undefined;
}

interface Wanted {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/**
 * The program that starts sessions, as a file on the machine where they run. It is written there once, under a name that tells what it holds.
 * Who looks at the machine looks at the file too: one that somebody else may have written is refused. The users of sandboxes run it.
 */
export class SessionProgram {
  readonly #input: SessionProgramInput;
  #wanted: Wanted | 'none' | undefined;
  #path: Promise<string | undefined> | undefined;

  constructor(input: SessionProgramInput) {
    this.#input = input;
  }

  /** Absolute path where it is to be; undefined where none is installed for that machine. */
  get wantedPath(): string | undefined {
    return this.#find()?.path;
  }

  /** The finding for a person who asks how the machine is. */
  check(): ProbeCheck {
    const name = 'session program';
    if (this.#find()) return { name, status: 'ok', finding: 'starts sandboxes in few steps' };
    const { architecture } = this.#input.facts;
    const needed = PACKAGES[architecture];
    return {
      name,
      status: 'warning',
      finding: `none for ${architecture} is installed: shell text starts sandboxes, which takes several times as long`,
      remedy:
        needed === undefined
          ? 'Use a machine with an x86_64 or aarch64 processor.'
          : `Install the package ${needed}; in a checkout, run npm run setup.`,
    };
  }

  /**
   * Absolute path of the file; undefined where none is installed for the machine, or it does not run it.
   *
   * @param found what is there, as the machine tells of it
   * @throws LitterboxError `PERMISSION_DENIED` for a file that somebody else may have written
   */
  async path(found: FoundProgram | undefined, options?: CallOptions): Promise<string | undefined> {
    options?.signal?.throwIfAborted();
    this.#path ??= this.#prepare(found).catch((error: unknown) => {
      this.#path = undefined;
      throw error;
    });
    return await this.#path;
  }

  /** At once, so that nobody waits for it before the machine is asked. */
  #find(): Wanted | undefined {
    const { facts, root, read } = this.#input;
    if (this.#wanted === undefined) {
      const bytes = read(facts.architecture);
      const sum = bytes && createHash('sha256').update(bytes).digest('hex').slice(0, 16);
      this.#wanted = bytes ? { bytes, path: `${root}/session-${sum}` } : 'none';
    }
    return this.#wanted === 'none' ? undefined : this.#wanted;
  }

  async #prepare(found: FoundProgram | undefined): Promise<string | undefined> {
    const { host } = this.#input;
    const wanted = this.#find();
    if (wanted === undefined) return undefined;
    if (found && this.#isWhole(found, wanted)) return wanted.path;
    await host.files.makeDirectory(this.#input.root); // what a killed create left may be removed before anything was made
    await host.files.write(wanted.path, wanted.bytes, { mode: 0o755 });
    if (await this.#runs(wanted.path)) return wanted.path;
    // The directory is on a file system that starts no programs, or the kernel is another one.
    await host.files.remove(wanted.path);
    return undefined;
  }

  #isWhole({ isFile, uid, mode, sizeBytes }: FoundProgram, { path, bytes }: Wanted): boolean {
    const { host, facts, provider } = this.#input;
    if (isFile && uid === facts.uid && (mode & 0o7022) === 0)
      return sizeBytes === bytes.length && (mode & 0o555) === 0o555;
    throw new LitterboxError(
      'PERMISSION_DENIED',
      `${shown(path)} on ${host.name} starts sandboxes, and somebody else may have written it.`,
      { operation: 'provider.start', provider, hint: 'Remove it: Litterbox writes it again.' },
    );
  }

  async #runs(path: string): Promise<boolean> {
    try {
      await using handle = await this.#input.host.spawn({ argv: [path, 'check'] });
      return (await handle.exit).code === 0;
    } catch (error) {
      if (isLitterboxError(error, 'UNAVAILABLE')) throw error;
      return false;
    }
  }
}
