import {
  type CallOptions,
  type Host,
  type KeptSetup,
  LitterboxError,
  type ProviderKey,
  quoted,
  SandboxId,
  sha256,
  type SetupStore,
} from '@litterbox/core/provider';
import { SETUP_KEY } from '@litterbox/sandbox-kit';
import { endSessionScript, keepSetupScript, runScriptOrFail, sweepUnfinished } from '@litterbox/linux-sandbox';
import { strategyNamed, STRATEGY_NAMES } from './choose-strategy.ts';
import { type Layout, sandboxLayoutOf, setupDirectory } from './layout.ts';
import { leavingsOf } from './leavings-of.ts';
import type { Machine } from './machine.ts';
import { parseMeta, type SandboxMeta } from './sandbox-meta.ts';
import { SANDBOX_UID } from './supervisor-script.ts';

/** What setups left in sandboxes: read-only layers, or trees to copy, as the strategy has it. */
export class KeptSetups implements SetupStore {
  readonly #provider: ProviderKey;
  readonly #host: Host;
  readonly #layout: Layout;
  readonly #machine: () => Promise<Machine>;

  constructor(provider: ProviderKey, host: Host, layout: Layout, machine: () => Promise<Machine>) {
    this.#provider = provider;
    this.#host = host;
    this.#layout = layout;
    this.#machine = machine;
  }

  /** Shell text, after core's `REMOVE_TREE`: clears away what killed programs left. */
  get sweep(): string {
    return STRATEGY_NAMES.map((name) => sweepUnfinished(`${this.#layout.setups}/${name}`)).join('\n');
  }

  /** The first of the keys that is there. */
  async find(
    { strategy, base, root }: Pick<SandboxMeta, 'strategy' | 'base' | 'root'>,
    keys: readonly string[],
    call?: CallOptions,
  ): Promise<Pick<SandboxMeta, 'prepared'> | undefined> {
    if (keys.length === 0) return undefined;
    const programs = await this.#programs(root, call);
    for (const key of keys.filter((text) => SETUP_KEY.test(text)))
      if (await this.#host.files.stat(setupDirectory(this.#layout, { strategy, base, programs }, key), call))
        return { prepared: { key, programs } };
    return undefined;
  }

  /** Whether what the setup was built for is what is there. */
  async isCurrent({ prepared, root }: SandboxMeta, call?: CallOptions): Promise<boolean> {
    return prepared === undefined || prepared.programs === (await this.#programs(root, call));
  }

  directoryOf(meta: SandboxMeta): string | undefined {
    return meta.prepared && setupDirectory(this.#layout, { ...meta, ...meta.prepared }, meta.prepared.key);
  }

  async keep(id: SandboxId, key: string, call?: CallOptions): Promise<void> {
    if (!SETUP_KEY.test(key))
      throw new LitterboxError('INVALID_ARGUMENT', 'The key of a setup is a hexadecimal digest.', {
        operation: 'setup.keep',
        provider: this.#provider,
        hint: 'Take the digest of what the setup depends on.',
      });
    const sandbox = sandboxLayoutOf(this.#layout, id);
    const bytes = await this.#host.files.read(sandbox.meta, call);
    if (!bytes)
      throw new LitterboxError('NOT_FOUND', `This machine holds no sandbox ${id}.`, {
        operation: 'setup.keep',
        provider: this.#provider,
        hint: 'Create it first.',
      });
    const meta = parseMeta(bytes, sandbox.meta, this.#provider);
    if (meta.limits.diskBytes !== undefined) return; // its layers are on its own disk, which nobody else mounts
    const programs = await this.#programs(meta.root, call);
    const target = setupDirectory(this.#layout, { ...meta, programs }, key);
    if (meta.prepared !== undefined || (await this.#host.files.stat(target, call))) return;
    const parent = `${this.#layout.setups}/${meta.strategy}`;
    for (const directory of [this.#layout.setups, parent]) await this.#host.files.makeDirectory(directory);
    const strategy = strategyNamed(meta.strategy, this.#provider);
    const machine = await this.#machine();
    const owner = machine.isRoot ? `${SANDBOX_UID}:${SANDBOX_UID}` : '';
    const script = keepSetupScript({
      directory: sandbox.directory,
      parent,
      name: target.slice(parent.length + 1),
      base: meta.base,
      keep: strategy.keep(owner),
      takeBack: strategy.takeBack,
      ...(strategy.changes === 'upper' && {
        meta: JSON.stringify({ ...meta, prepared: { key, programs } } satisfies SandboxMeta),
      }),
    });
    await runScriptOrFail(
      this.#host,
      'setup.keep',
      `( ${endSessionScript(sandbox.directory, leavingsOf(machine, id))} ) || exit 1\n${script}`,
      call,
    );
  }

  async *list(call?: CallOptions): AsyncGenerator<KeptSetup, void, undefined> {
    const users = new Map<string, SandboxId[]>();
    for (const { name } of (await this.#host.files.list(this.#layout.sandboxes, call)) ?? []) {
      if (!SandboxId.is(name)) continue;
      const { meta: file } = sandboxLayoutOf(this.#layout, name);
      const bytes = await this.#host.files.read(file, call);
      const directory = bytes && this.directoryOf(parseMeta(bytes, file, this.#provider));
      if (directory !== undefined) users.set(directory, [...(users.get(directory) ?? []), name]);
    }
    for (const strategy of STRATEGY_NAMES) {
      const parent = `${this.#layout.setups}/${strategy}`;
      for (const { name } of (await this.#host.files.list(parent, call)) ?? []) {
        const [key = ''] = name.split('-');
        if (SETUP_KEY.test(key)) yield { key, usedBy: users.get(`${parent}/${name}`) ?? [] };
      }
    }
  }

  /**
   * Package managers add and replace programs and libraries by renaming: the change times of the directories that hold them tell. What
   * was built for other programs than there are now is not used.
   */
  async #programs(root: SandboxMeta['root'], call?: CallOptions): Promise<string> {
    const { facts, toolDirectories } = await this.#machine();
    const top = root.type === 'directory' ? root.path : '';
    const tools = root.type === 'machine' ? toolDirectories.map(({ path }) => path) : [];
    const directories = [
      ...['usr/bin', 'usr/sbin', 'usr/lib', 'usr/local/bin', 'usr/local/lib', 'bin'].map((name) => `${top}/${name}`),
      ...tools,
      ...facts.searchPath.filter((path) => tools.some((tool) => path.startsWith(`${tool}/`))),
    ];
    const script = `stat -L -c '%n %i %z' ${directories.map(quoted).join(' ')} 2>/dev/null; :`;
    const told = await runScriptOrFail(this.#host, 'setup.programs', script, call);
    return (await sha256(new TextEncoder().encode(told))).slice(0, 16);
  }
}
