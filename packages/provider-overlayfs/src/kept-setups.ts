import {
  type CallOptions,
  type Host,
  keepSetupScript,
  type KeptSetup,
  LitterboxError,
  runScriptOrFail,
  SandboxId,
  SETUP_KEY,
  type SetupStore,
  sweepUnfinished,
} from '@litterbox/core/provider';
import { strategyNamed, STRATEGY_NAMES } from './choose-strategy.ts';
import { endSessionScript } from './end-session.ts';
import { type Layout, sandboxLayoutOf, setupDirectory, type SetupPlace } from './layout.ts';
import { parseMeta, type SandboxMeta } from './sandbox-meta.ts';
import { SANDBOX_UID } from './supervisor-script.ts';

/** What setups left in sandboxes: read-only layers, or trees to copy, as the strategy has it. */
export class KeptSetups implements SetupStore {
  readonly #host: Host;
  readonly #layout: Layout;
  readonly #isRoot: () => Promise<boolean>;

  constructor(host: Host, layout: Layout, isRoot: () => Promise<boolean>) {
    this.#host = host;
    this.#layout = layout;
    this.#isRoot = isRoot;
  }

  /** Shell text, after core's `REMOVE_TREE`: clears away what killed programs left. */
  get sweep(): string {
    return STRATEGY_NAMES.map((name) => sweepUnfinished(`${this.#layout.setups}/${name}`)).join('\n');
  }

  /** The first of the keys that is there. */
  async find(
    place: SetupPlace,
    keys: readonly string[],
    call?: CallOptions,
  ): Promise<{ readonly prepared: string } | undefined> {
    for (const key of keys.filter((text) => SETUP_KEY.test(text)))
      if (await this.#host.files.stat(setupDirectory(this.#layout, place, key), call)) return { prepared: key };
    return undefined;
  }

  directoryOf(meta: SandboxMeta): string | undefined {
    return meta.prepared === undefined ? undefined : setupDirectory(this.#layout, meta, meta.prepared);
  }

  async keep(id: SandboxId, key: string, call?: CallOptions): Promise<void> {
    if (!SETUP_KEY.test(key))
      throw new LitterboxError('INVALID_ARGUMENT', 'The key of a setup is a hexadecimal digest.', {
        operation: 'setup.keep',
        provider: 'overlayfs',
        hint: 'Take the digest of what the setup depends on.',
      });
    const sandbox = sandboxLayoutOf(this.#layout, id);
    const bytes = await this.#host.files.read(sandbox.meta, call);
    if (!bytes)
      throw new LitterboxError('NOT_FOUND', `This machine holds no sandbox ${id}.`, {
        operation: 'setup.keep',
        provider: 'overlayfs',
        hint: 'Create it first.',
      });
    const meta = parseMeta(bytes, sandbox.meta);
    const target = setupDirectory(this.#layout, meta, key);
    if (meta.prepared !== undefined || (await this.#host.files.stat(target, call))) return;
    const parent = `${this.#layout.setups}/${meta.strategy}`;
    for (const directory of [this.#layout.setups, parent]) await this.#host.files.makeDirectory(directory);
    const strategy = strategyNamed(meta.strategy);
    const owner = (await this.#isRoot()) ? `${SANDBOX_UID}:${SANDBOX_UID}` : '';
    const script = keepSetupScript({
      directory: sandbox.directory,
      parent,
      name: target.slice(parent.length + 1),
      keep: strategy.keep(owner),
      takeBack: strategy.takeBack,
      ...(strategy.changes === 'upper' && { meta: JSON.stringify({ ...meta, prepared: key } satisfies SandboxMeta) }),
    });
    await runScriptOrFail(
      this.#host,
      'setup.keep',
      `( ${endSessionScript(sandbox.directory)} ) || exit 1\n${script}`,
      call,
    );
  }

  async *list(call?: CallOptions): AsyncGenerator<KeptSetup, void, undefined> {
    const users = new Map<string, SandboxId[]>();
    for (const { name } of (await this.#host.files.list(this.#layout.sandboxes, call)) ?? []) {
      if (!SandboxId.is(name)) continue;
      const { meta: file } = sandboxLayoutOf(this.#layout, name);
      const bytes = await this.#host.files.read(file, call);
      const directory = bytes && this.directoryOf(parseMeta(bytes, file));
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
}
