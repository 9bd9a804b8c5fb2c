import {
  type CallOptions,
  type Host,
  type KeptSetup,
  LitterboxError,
  makeUnfinished,
  quoted,
  reach,
  runScriptOrFail,
  SandboxId,
  type SetupStore,
  sweepUnfinished,
  UNFINISHED,
} from '@litterbox/core/provider';
import { strategyNamed, STRATEGY_NAMES } from './choose-strategy.ts';
import { endSessionScript } from './end-session.ts';
import { type Layout, sandboxLayoutOf, setupDirectory } from './layout.ts';
import { parseMeta, type SandboxMeta } from './sandbox-meta.ts';
import { SANDBOX_UID } from './supervisor-script.ts';

const KEY = /^[0-9a-f]{8,128}$/;

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
    strategy: SandboxMeta['strategy'],
    keys: readonly string[],
    call?: CallOptions,
  ): Promise<{ readonly prepared: string } | undefined> {
    for (const key of keys.filter((text) => KEY.test(text)))
      if (await this.#host.files.stat(setupDirectory(this.#layout, strategy, key), call)) return { prepared: key };
    return undefined;
  }

  directoryOf({ strategy, prepared }: SandboxMeta): string | undefined {
    return prepared === undefined ? undefined : setupDirectory(this.#layout, strategy, prepared);
  }

  async keep(id: SandboxId, key: string, call?: CallOptions): Promise<void> {
    if (!KEY.test(key))
      throw new LitterboxError('INVALID_ARGUMENT', 'The key of a setup is hexadecimal.', {
        operation: 'setup.keep',
        provider: 'overlayfs',
        hint: 'Use a digest.',
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
    const target = setupDirectory(this.#layout, meta.strategy, key);
    if (meta.prepared !== undefined || (await this.#host.files.stat(target, call))) return;
    const parent = `${this.#layout.setups}/${meta.strategy}`;
    for (const directory of [this.#layout.setups, parent]) await this.#host.files.makeDirectory(directory);
    const strategy = strategyNamed(meta.strategy);
    const name = `${UNFINISHED}${crypto.randomUUID()}`;
    const owner = (await this.#isRoot()) ? `${SANDBOX_UID}:${SANDBOX_UID}` : '';
    // The description of the sandbox last: until it names the key, only `remove` is good for what is there.
    const next = JSON.stringify({ ...meta, prepared: key });
    const script = `( ${endSessionScript(sandbox.directory)} ) || exit 1
umask 022
${makeUnfinished(parent, name)} || exit 1
kept=${quoted(`${parent}/${name}`)}
trap 'cd /; rm -rf "$kept"' EXIT
cd ${quoted(sandbox.directory)} && {
${strategy.keep(owner).trim()}
} || exit 1
if mv -T "$kept" ${quoted(target)} 2>/dev/null; then
${strategy.changes === 'upper' ? `printf %s ${quoted(next)} >meta.new && rm -f scan-state.json && mv -T meta.new meta.json || exit 1` : ':'}
elif [ -d ${quoted(target)} ]; then
:
${strategy.takeBack}else exit 1
fi`;
    reach('setup.before-keep');
    await runScriptOrFail(this.#host, 'setup.keep', script, call);
    reach('setup.after-keep');
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
    for (const strategy of STRATEGY_NAMES)
      for (const { name: key } of (await this.#host.files.list(`${this.#layout.setups}/${strategy}`, call)) ?? [])
        if (KEY.test(key)) yield { key, usedBy: users.get(setupDirectory(this.#layout, strategy, key)) ?? [] };
  }
}
