import { type CallOptions, quoted, type SandboxId, type SetupStore } from '@litterbox/core/provider';
import {
  endSessionScript,
  LayeredSetups,
  runScriptOrFail,
  SANDBOX_USER,
  type SandboxDirectories,
} from '@litterbox/linux-sandbox';
import { strategyNamed, STRATEGY_NAMES } from './strategies/choose-strategy.ts';
import { setupDirectory } from './session/layout.ts';
import { leavingsOf } from './leavings-of.ts';
import type { Machine } from './machine/machine.ts';
import type { SandboxMeta } from './session/sandbox-meta.ts';

/** What setups left in sandboxes: read-only layers, or trees to copy, as the strategy has it. */
export class KeptSetups {
  readonly store: SetupStore;
  readonly #directories: SandboxDirectories<SandboxMeta>;
  readonly #machine: () => Promise<Machine>;
  readonly #layered: LayeredSetups<SandboxMeta>;

  constructor(directories: SandboxDirectories<SandboxMeta>, machine: () => Promise<Machine>) {
    this.#directories = directories;
    this.#machine = machine;
    this.#layered = new LayeredSetups({
      directories,
      parents: STRATEGY_NAMES.map((name) => `${directories.layout.setups}/${name}`),
      directoryOf: (meta) => this.directoryOf(meta),
      placeOf: (meta, key, call) => this.#placeOf(meta, key, call),
      end: (id) => this.#end(id),
    });
    this.store = this.#layered;
  }

  /** Absolute paths of directories in which killed programs may have left something unfinished. */
  get swept(): readonly string[] {
    return this.#layered.swept;
  }

  /** The first of the keys that is there. */
  async find(
    { strategy, base, root }: Pick<SandboxMeta, 'strategy' | 'base' | 'root'>,
    keys: readonly string[],
    options?: CallOptions,
  ): Promise<Pick<SandboxMeta, 'prepared'> | undefined> {
    if (keys.length === 0) return undefined;
    const programs = await this.#programs(root, options);
    const place = { strategy: strategyNamed(strategy, this.#directories.provider), base, programs };
    const key = await this.#layered.first(keys, (one) => setupDirectory(this.#directories.layout, place, one), options);
    return key === undefined ? undefined : { prepared: { key, programs } };
  }

  directoryOf(meta: SandboxMeta): string | undefined {
    const { base, prepared } = meta;
    const strategy = strategyNamed(meta.strategy, this.#directories.provider);
    return (
      prepared &&
      setupDirectory(this.#directories.layout, { strategy, base, programs: prepared.programs }, prepared.key)
    );
  }

  async #placeOf(meta: SandboxMeta, key: string, options?: CallOptions) {
    const programs = await this.#programs(meta.root, options);
    const { layout } = this.#directories;
    const parent = `${layout.setups}/${meta.strategy}`;
    const strategy = strategyNamed(meta.strategy, this.#directories.provider);
    const { isRoot } = await this.#machine();
    const next: SandboxMeta = { ...meta, prepared: { key, programs } };
    return {
      parent,
      name: setupDirectory(layout, { strategy, base: meta.base, programs }, key).slice(parent.length + 1),
      keep: strategy.keep(isRoot ? `${SANDBOX_USER.uid}:${SANDBOX_USER.gid}` : ''),
      takeBack: strategy.takeBack,
      ...(strategy.changes === 'upper' && { meta: next }),
    };
  }

  async #end(id: SandboxId): Promise<string> {
    const { directory } = this.#directories.filesOf(id);
    return `( ${endSessionScript(directory, leavingsOf(await this.#machine(), id))} ) || exit 1\n`;
  }

  /**
   * Package managers add and replace programs and libraries by renaming: the files in the directories that hold them tell. What was built for
   * other programs than there are now is not used. The directories themselves tell too much: pyenv writes into its own at every login.
   */
  async #programs(root: SandboxMeta['root'], options?: CallOptions): Promise<string> {
    const { facts, toolDirectories } = await this.#machine();
    const top = root.type === 'directory' ? root.path : '';
    const tools = root.type === 'machine' ? toolDirectories.map(({ path }) => path) : [];
    const directories = [
      ...['usr/bin', 'usr/sbin', 'usr/lib', 'usr/local/bin', 'usr/local/lib', 'bin'].map((name) => `${top}/${name}`),
      ...tools,
      ...facts.searchPath.filter((path) => tools.some((tool) => path.startsWith(`${tool}/`))),
    ];
    const script = `for directory in ${directories.map(quoted).join(' ')}; do
cd "$directory" 2>/dev/null && pwd && stat -L -c '%F|%n|%i|%s|%z' ./* 2>/dev/null | sed 's/^\\(directory|[^|]*|[0-9]*\\)|.*/\\1/'
done | sha256sum`;
    return (await runScriptOrFail(this.#directories.host, 'setup.programs', script, options)).slice(0, 16);
  }
}
