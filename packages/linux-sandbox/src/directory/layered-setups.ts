import {
  type CallOptions,
  type CachedSetup,
  LitterboxError,
  type SandboxId,
  type SetupStore,
} from '@litterbox/core/provider';
import { SETUP_KEY } from '@litterbox/sandbox-kit';
import type { DirectoryDescription } from './directory-description.ts';
import { keepSetupScript, type KeepSetupInput } from './keep-setup.ts';
import { runScriptOrFail } from '../script/run-script.ts';
import { descriptionLine, type SandboxDirectories } from './sandbox-directories.ts';

/** The description of a sandbox that may stand on a kept setup. */
export interface SetUpDescription extends DirectoryDescription {
  readonly base: string;
  /** The layer of files that came along: what a setup left over it is of no use without it. */
  readonly artefacts?: string;
  /** Absent where it stands on none. */
  readonly prepared?: unknown;
}

/** Where and how what the setup of one sandbox left is kept. */
export interface KeptPlace extends Pick<KeepSetupInput, 'keep' | 'takeBack'> {
  /** Name of its directory; it begins with the key, before a dash. */
  readonly name: string;
  /** The directory that holds it: one of {@link LayeredSetupsInput.parents}. */
  readonly parent: string;
  /** The sandbox's description from then on; absent when it stays. */
  readonly meta?: SetUpDescription;
}

/** In what the kept setups of one provider differ from those of another. */
export interface LayeredSetupsInput<Meta extends SetUpDescription> {
  readonly directories: SandboxDirectories<Meta>;
  /** Absolute paths of the directories below `layout.setups`, or that one itself, that hold what is kept. */
  readonly parents: readonly string[];
  /** Absolute path of the kept setup that the sandbox stands on. */
  directoryOf(meta: Meta): string | undefined;
  placeOf(meta: Meta, key: string, options?: CallOptions): Promise<KeptPlace>;
  /** Ends all that runs in the sandbox, or gives shell text that does. */
  end(id: SandboxId, options?: CallOptions): Promise<string>;
}

/** Keeps setups of sandboxes in directories that are complete before they get their names, and are never written again. */
export class LayeredSetups<Meta extends SetUpDescription> implements SetupStore {
  readonly #input: LayeredSetupsInput<Meta>;

  constructor(input: LayeredSetupsInput<Meta>) {
    this.#input = input;
  }

  /** Absolute paths of directories in which killed programs may have left something unfinished. */
  get swept(): readonly string[] {
    return this.#input.parents;
  }

  /** The first of the keys whose directory, an absolute path, is there. */
  async first(
    keys: readonly string[],
    directoryOf: (key: string) => string,
    options?: CallOptions,
  ): Promise<string | undefined> {
    for (const key of keys.filter((text) => SETUP_KEY.test(text)))
      if (await this.#input.directories.host.files.stat(directoryOf(key), options)) return key;
    return undefined;
  }

  async keep(id: SandboxId, key: string, options?: CallOptions): Promise<void> {
    const { directories, placeOf, end } = this.#input;
    const { host, provider } = directories;
    const words = { operation: 'setup.keep', provider };
    if (!SETUP_KEY.test(key))
      throw new LitterboxError('INVALID_ARGUMENT', 'The key of a setup is a hexadecimal digest.', {
        ...words,
        hint: 'Take the digest of what the setup depends on.',
      });
    const sandbox = directories.filesOf(id);
    const bytes = await host.files.read(sandbox.meta, options);
    if (!bytes)
      throw new LitterboxError('NOT_FOUND', `This machine holds no sandbox ${id}.`, {
        ...words,
        hint: 'Create it first.',
      });
    const meta = directories.parse(bytes, sandbox.meta, id);
    if (meta.limits.diskBytes !== undefined) return; // its layers are on its own disk, which nobody else mounts
    if (meta.prepared !== undefined || meta.artefacts !== undefined) return;
    const { name, parent, keep, takeBack, meta: next } = await placeOf(meta, key, options);
    if (await host.files.stat(`${parent}/${name}`, options)) return;
    const ended = await end(id, options);
    const script = keepSetupScript({
      directory: sandbox.directory,
      parent,
      name,
      base: meta.base,
      keep,
      removal: directories.removal,
      takeBack,
      isOther: next !== undefined,
    });
    const given = next && { given: descriptionLine(next) };
    await runScriptOrFail(host, words.operation, `${ended}${script}`, { ...options, ...given });
  }

  async *list(options?: CallOptions): AsyncGenerator<CachedSetup, void, undefined> {
    const { directories, parents, directoryOf } = this.#input;
    const { host } = directories;
    const users = new Map<string, SandboxId[]>();
    for await (const { id } of directories.list(options)) {
      const { meta: file } = directories.filesOf(id);
      const bytes = await host.files.read(file, options);
      const directory = bytes && directoryOf(directories.parse(bytes, file, id));
      if (directory !== undefined) users.set(directory, [...(users.get(directory) ?? []), id]);
    }
    for (const parent of parents) {
      for (const { name } of (await host.files.list(parent, options)) ?? []) {
        const [key = ''] = name.split('-');
        if (SETUP_KEY.test(key)) yield { key, usedBy: users.get(`${parent}/${name}`) ?? [] };
      }
    }
  }
}
