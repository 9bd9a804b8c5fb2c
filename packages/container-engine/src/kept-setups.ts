import {
  type CallOptions,
  type Host,
  type KeptSetup,
  LitterboxError,
  SandboxId,
  type SetupStore,
} from '@litterbox/core/provider';
import { SETUP_KEY, parseDescription } from '@litterbox/sandbox-kit';
import { keepLayers, keepSetupScript, runScriptOrFail, TAKE_LAYERS_BACK } from '@litterbox/linux-sandbox';
import type { Containers } from './containers.ts';
import { type Layout, sandboxLayoutOf, setupDirectory } from './layout.ts';
import type { SandboxMeta } from './sandbox-meta.ts';

/** What setups left in containers: two layers, of the workspace and of the home directory, for each key and image. */
export class KeptSetups implements SetupStore {
  readonly #provider: string;
  readonly #host: Host;
  readonly #layout: Layout;
  readonly #containers: Containers;

  constructor(provider: string, host: Host, layout: Layout, containers: Containers) {
    this.#provider = provider;
    this.#host = host;
    this.#layout = layout;
    this.#containers = containers;
  }

  /** The first of the keys that is there for the image. */
  async find(
    imageId: string,
    keys: readonly string[],
    call?: CallOptions,
  ): Promise<{ readonly prepared: string } | undefined> {
    for (const key of keys.filter((text) => SETUP_KEY.test(text)))
      if (await this.#host.files.stat(setupDirectory(this.#layout, imageId, key), call)) return { prepared: key };
    return undefined;
  }

  async keep(id: SandboxId, key: string, call?: CallOptions): Promise<void> {
    const words = { operation: 'setup.keep', provider: this.#provider };
    if (!SETUP_KEY.test(key))
      throw new LitterboxError('INVALID_ARGUMENT', 'The key of a setup is a hexadecimal digest.', {
        ...words,
        hint: 'Take the digest of what the setup depends on.',
      });
    const sandbox = sandboxLayoutOf(this.#layout, id);
    const bytes = await this.#host.files.read(sandbox.meta, call);
    if (!bytes)
      throw new LitterboxError('NOT_FOUND', `This machine holds no sandbox ${id}.`, {
        ...words,
        hint: 'Create it first.',
      });
    const meta = parseDescription<SandboxMeta>(bytes, sandbox.meta, this.#provider);
    const target = setupDirectory(this.#layout, meta.imageId, key);
    if (meta.limits.diskBytes !== undefined) return; // its layers are on its own disk, which nobody else mounts
    if (meta.prepared !== undefined || (await this.#host.files.stat(target, call))) return;
    await this.#host.files.makeDirectory(this.#layout.setups, { ...call, mode: 0o700 });
    await this.#containers.remove(id, call); // it is made again, on the kept layers, when the sandbox is used
    const cut = target.lastIndexOf('/');
    const { uid } = await this.#host.facts();
    const script = keepSetupScript({
      directory: sandbox.directory,
      parent: target.slice(0, cut),
      name: target.slice(cut + 1),
      base: meta.base,
      keep: keepLayers(uid === 0 ? `${meta.user.uid}:${meta.user.gid}` : ''),
      takeBack: TAKE_LAYERS_BACK,
      meta: JSON.stringify({ ...meta, prepared: key } satisfies SandboxMeta),
    });
    await runScriptOrFail(this.#host, words.operation, script, call);
  }

  async *list(call?: CallOptions): AsyncGenerator<KeptSetup, void, undefined> {
    const users = new Map<string, SandboxId[]>();
    for (const { name } of (await this.#host.files.list(this.#layout.sandboxes, call)) ?? []) {
      if (!SandboxId.is(name)) continue;
      const { meta: file } = sandboxLayoutOf(this.#layout, name);
      const bytes = await this.#host.files.read(file, call);
      const meta = bytes && parseDescription<SandboxMeta>(bytes, file, this.#provider);
      if (meta?.prepared === undefined) continue;
      const directory = setupDirectory(this.#layout, meta.imageId, meta.prepared);
      users.set(directory, [...(users.get(directory) ?? []), name]);
    }
    for (const { name } of (await this.#host.files.list(this.#layout.setups, call)) ?? []) {
      const [key = ''] = name.split('-');
      if (SETUP_KEY.test(key)) yield { key, usedBy: users.get(`${this.#layout.setups}/${name}`) ?? [] };
    }
  }
}
