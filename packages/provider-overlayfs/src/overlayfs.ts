import { alreadyThere, baseEnvironment, cannotHonour, assertClaimable, unlike } from '@litterbox/sandbox-kit';
import {
  ASK_BEFORE_NAME,
  type BaseTreesInput,
  confinedCopy,
  copyDisk,
  copyError,
  copyTree,
  DISK_REMEDY,
  endSessionScript,
  ensureBaseTree,
  ensureNewerFiles,
  LayerSnapshots,
  makeDisk,
  makeUnfinished,
  PlaceRuntime,
  pooledMark,
  readDescription,
  REMOVE_TREE,
  runAsking,
  runScript,
  runScriptOrFail,
  scriptError,
  stillCopy,
  sweepUnfinished,
  takeMark,
  UNFINISHED,
} from '@litterbox/linux-sandbox';
import {
  type CallOptions,
  type Host,
  isLitterboxError,
  LitterboxError,
  type ProviderKey,
  type ProviderMachine,
  type ProviderTraits,
  type ProbeReport,
  type ProgressOptions,
  quoted,
  reach,
  type RemoveOptions,
  type RuntimeStatus,
  SandboxId,
  type SandboxProvider,
  type SandboxRoot,
  type SandboxRuntime,
  type SandboxSpec,
  type SetupStore,
  type SnapshotProvider,
  type WorkspaceSource,
} from '@litterbox/core/provider';
import { type Cgroup, cgroupFreeze, cgroupIsFrozen, cgroupThaw, cgroupUsage } from './cgroup.ts';
import { choosing, STRATEGY_NAMES, type StrategyChoice, strategyNamed } from './choose-strategy.ts';
import { KeptSetups } from './kept-setups.ts';
import { diskImage, diskOf, layersOf, type Layout, layoutOf, sandboxLayoutOf } from './layout.ts';
import { launchSession } from './launch-session.ts';
import { leavingsOf } from './leavings-of.ts';
import { type Machine, readMachine } from './machine.ts';
import type { SandboxMeta } from './sandbox-meta.ts';
import { HOLD, letGoScript } from './held-session.ts';
import { seccompFilter } from './seccomp-filter.ts';
import type { Strategy } from './strategies/strategy.ts';
import { SANDBOX_UID } from './supervisor-script.ts';

/**
 * The machine, and how workspaces are copied. In the machine's directory the provider makes its own, `overlayfs`, mode 0700, for base
 * trees, layers and playgrounds.
 */
export interface OverlayfsOptions extends ProviderMachine {
  /** Use this way of copying or none. @defaultValue the first that works of overlay, reflink, copy */
  readonly strategy?: Strategy['name'];
}

const DEFAULT_LIMITS = { memoryBytes: 4 * 2 ** 30, cpus: 2, processes: 512, openFiles: 4096 };

/** Sandboxes on a Linux machine by copy-on-write and namespaces. Needs no daemon and no image. Does nothing until it is asked. */
export function overlayfs(options: OverlayfsOptions): SandboxProvider {
  return new OverlayProvider(options);
}

class OverlayProvider implements SandboxProvider {
  readonly name: ProviderKey;
  readonly traits: ProviderTraits;
  readonly #host: Host;
  readonly #layout: Layout;
  readonly #wanted: Strategy['name'] | undefined;
  readonly #setups: KeptSetups;
  readonly #snapshots: LayerSnapshots<SandboxMeta>;
  #machine: Promise<Machine> | undefined;
  /** By the strategy that was asked for, each tried once. */
  readonly #choices = new Map<Strategy['name'] | undefined, Promise<StrategyChoice>>();
  #filter: Promise<string> | undefined;

  constructor({ key = 'overlayfs', host, facts, directory, strategy }: OverlayfsOptions) {
    this.name = key;
    this.#host = host;
    // A disk of its own is mounted, which needs root, and holds layers alone: a copy of the base would not share its blocks.
    const boundsDisk = facts.uid === 0 && (strategy ?? 'overlay') === 'overlay';
    this.traits = {
      isolation: 'process',
      limits: ['memoryBytes', 'cpus', 'processes', 'openFiles', ...(boundsDisk ? (['diskBytes'] as const) : [])],
      workdir: 'repository-path',
      roots: ['machine', 'directory'],
      strategies: STRATEGY_NAMES,
      canCopy: true,
      snapshotCost: 'copied',
    };
    this.#layout = layoutOf(`${directory}/overlayfs`);
    this.#wanted = strategy;
    this.#setups = new KeptSetups(this.name, host, this.#layout, () => this.#survey());
    this.#snapshots = new LayerSnapshots<SandboxMeta>({
      provider: this.name,
      host,
      root: this.#layout.root,
      directoryOf: (id) => sandboxLayoutOf(this.#layout, id).directory,
      layersOf: (meta) => layersOf(meta.strategy),
      assertCopyable: async (call) => void (await this.#usableMachine(call)),
      isRoot: async (call) => (await this.#survey(call)).isRoot,
      still: async (meta, script, call) => {
        const still = this.#still(meta, await this.#survey(call), script);
        const { code, stderr } = await runScript(host, still, call);
        if (code !== 0) throw copyError('snapshot.take', this.name, code, stderr);
      },
      ended: async ({ id }, script) => {
        const { directory } = sandboxLayoutOf(this.#layout, id);
        // No session starts meanwhile, not by a runtime either that somebody has open.
        const alone = `cd ${quoted(directory)} && exec 5>>start.lock && flock -w 60 5 || exit 1`;
        await runScriptOrFail(
          host,
          'snapshot.restore',
          `${alone}\n( ${endSessionScript(directory, leavingsOf(await this.#survey(), id))} ) || exit 1\n${script}`,
        );
      },
      restored: ({ firstMark: _firstMark, prepared: _prepared, newer: _newer, ...meta }, kept) => {
        if (meta.strategy !== kept.strategy)
          throw cannotHonour(
            this.name,
            `a snapshot of a sandbox with the strategy ${kept.strategy} in one with the strategy ${meta.strategy}`,
            `Make a sandbox with the strategy ${kept.strategy}.`,
          );
        return {
          ...meta,
          base: kept.base,
          ...(kept.prepared && { prepared: kept.prepared }),
          ...(kept.newer !== undefined && { newer: kept.newer }),
          isCopy: true,
        };
      },
    });
  }

  get setups(): SetupStore {
    return this.#setups;
  }

  get snapshots(): SnapshotProvider {
    return this.#snapshots;
  }

  async probe(call?: CallOptions): Promise<ProbeReport> {
    this.#machine = undefined;
    this.#choices.clear();
    const machine = await this.#survey(call);
    const isReady = machine.checks.every(({ status }) => status !== 'failed');
    if (!isReady) return { usable: false, checks: machine.checks };
    const { strategy, checks } = await this.#strategy(call);
    return { usable: strategy !== undefined, checks: [...machine.checks, ...checks] };
  }

  async create(spec: SandboxSpec, options?: ProgressOptions): Promise<SandboxRuntime> {
    options?.signal?.throwIfAborted();
    const machine = await this.#usableMachine(options);
    const source = spec.copyOf === undefined ? undefined : await this.#described(spec.copyOf, options);
    const decided = source ? this.#metaOfCopy(spec, source) : await this.#metaOf(spec, options);
    const sandbox = sandboxLayoutOf(this.#layout, spec.id);
    if (await this.#host.files.stat(sandbox.directory, options)) throw alreadyThere(this.name, spec.id);
    const strategy = strategyNamed(decided.strategy, this.name);
    let meta = decided;
    if (source) await this.#prepareCopy(meta, source, machine, options);
    else {
      const trees = {
        host: this.#host,
        bases: this.#layout.bases,
        ...(machine.isRoot && { owner: { uid: SANDBOX_UID, gid: SANDBOX_UID } }),
      };
      const base = await ensureBaseTree(trees, spec.workspace, options);
      reach('provider.after-base-tree');
      meta = await this.#withNewerFiles(decided, trees, spec.workspace, options);
      await this.#prepare(meta, strategy, base, machine, spec.isPooled === true, options);
    }
    reach('provider.after-directory');
    let runtime: PlaceRuntime | undefined;
    try {
      runtime = await this.#runtime(meta, machine);
      options?.signal?.throwIfAborted();
      await runtime.warm(options);
      reach('provider.after-session');
      // A copy of a kept setup or of a sandbox has nothing that tells their work from the base: its first scan looks at everything.
      if (strategy.changes === 'workspace' && meta.prepared === undefined && !meta.isCopy) {
        const first = { ...meta, firstMark: await runtime.mark(options) };
        await this.#host.files.write(sandbox.meta, new TextEncoder().encode(JSON.stringify(first)));
        runtime.beginAt(first.firstMark);
      }
      options?.signal?.throwIfAborted();
      return runtime;
    } catch (error) {
      await runtime?.[Symbol.asyncDispose]();
      await this.remove(spec.id);
      options?.signal?.throwIfAborted();
      throw error;
    }
  }

  async open(id: SandboxId, call?: CallOptions): Promise<SandboxRuntime> {
    return await this.#runtime(await this.#described(id, call), await this.#usableMachine(call));
  }

  async #described(id: SandboxId, call?: CallOptions): Promise<SandboxMeta> {
    return await readDescription<SandboxMeta>(this.#host, sandboxLayoutOf(this.#layout, id), this.name, id, call);
  }

  async claim(id: SandboxId, spec: SandboxSpec, options?: ProgressOptions): Promise<SandboxRuntime> {
    options?.signal?.throwIfAborted();
    const sandbox = sandboxLayoutOf(this.#layout, id);
    const [machine, made] = await Promise.all([
      this.#usableMachine(options),
      readDescription<SandboxMeta>(this.#host, sandbox, this.name, id, options),
    ]);
    const isMine = this.#wanted === undefined || this.#wanted === made.strategy;
    assertClaimable(this.name, spec, isMine ? made : { ...made, base: '' });
    if (made.prepared && !(await this.#setups.isCurrent(made, options)))
      throw unlike(this.name, 'the programs of this machine have changed since its setup ran');
    await takeMark(this.#host, sandbox.directory, this.name, id, options);
    reach('provider.after-claim-mark');
    const meta: SandboxMeta = { ...made, slug: spec.slug };
    await this.#host.files.write(sandbox.meta, new TextEncoder().encode(JSON.stringify(meta)));
    const runtime = await this.#runtime(meta, machine);
    try {
      // Its session is this program's too by then, and from now on ends with the last who uses it.
      await Promise.all([runtime.resume(options), runtime.assurance(options)]);
      reach('provider.after-claim-thaw');
      await runScriptOrFail(this.#host, 'provider.claim', letGoScript(sandbox.directory), options);
      void runtime.warm(options).catch(() => {}); // who looks for changes is told
      options?.signal?.throwIfAborted();
      return runtime;
    } catch (error) {
      await runtime[Symbol.asyncDispose]();
      throw error;
    }
  }

  async *list(call?: CallOptions): AsyncGenerator<RuntimeStatus, void, undefined> {
    for (const { name } of (await this.#host.files.list(this.#layout.sandboxes, call)) ?? []) {
      if (!SandboxId.is(name)) continue;
      const sandbox = sandboxLayoutOf(this.#layout, name);
      const [meta, paused, stopped, pooled] = await Promise.all(
        [sandbox.meta, sandbox.pausedMark, sandbox.stoppedMark, pooledMark(sandbox.directory)].map((path) =>
          this.#host.files.stat(path, call),
        ),
      );
      const state = meta === undefined ? 'broken' : paused ? 'paused' : stopped ? 'stopped' : 'running';
      yield { id: name, state, ...(pooled && { isPooled: true }) };
    }
  }

  async remove(id: SandboxId, call?: RemoveOptions): Promise<void> {
    call?.signal?.throwIfAborted();
    const { directory } = sandboxLayoutOf(this.#layout, id);
    const gone = `${this.#layout.sandboxes}/${UNFINISHED}${id}`;
    const own = call?.keepPlayground
      ? ''
      : ` && remove_tree ${quoted(`${this.#layout.playgrounds}/${id}`)} && rm -f ${quoted(diskImage(this.#layout, id))}`;
    const leavings = leavingsOf(await this.#survey(call), id);
    reach('provider.before-remove');
    // Renamed first: from then on it is in no list, and a removal that was killed half-way is finished by the next sweep.
    const script = `${REMOVE_TREE}( ${endSessionScript(directory, leavings)} ) || exit 1
( ${leavings.empty}
) || exit 1
${letGoScript(directory)}
[ ! -d ${quoted(directory)} ] || mv -T ${quoted(directory)} ${quoted(gone)}
remove_tree ${quoted(gone)}${own} || exit 1
${sweepUnfinished(this.#layout.sandboxes)}
${sweepUnfinished(this.#layout.bases)}
${this.#setups.sweep}`;
    await runScriptOrFail(this.#host, 'provider.remove', script);
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #metaOf(spec: SandboxSpec, call?: CallOptions): Promise<SandboxMeta> {
    const { root, limits } = spec;
    if (root.type === 'image')
      throw cannotHonour(
        this.name,
        `the image ${root.reference}`,
        'Set overlayfs.rootfs to a directory, leave the image out, or use a container provider.',
      );
    for (const name of ['diskBytes', 'diskBytesPerSecond'] as const) {
      if (limits[name] !== undefined && !this.traits.limits.includes(name))
        throw cannotHonour(
          this.name,
          `the limit ${name}`,
          name === 'diskBytes' ? 'Leave it out, or run Litterbox as root with the strategy overlay.' : 'Leave it out.',
        );
    }
    if (limits.diskBytes !== undefined) this.#assertDisk(spec, await this.#survey(call));
    if (root.type === 'directory' && /^\/(usr|bin|sbin|lib|lib64|etc)(\/|$)/.test(spec.workdir))
      throw cannotHonour(
        this.name,
        `the workdir ${spec.workdir} in a root file system of your own`,
        'Set workspace.workdir to /src.',
      );
    const { maxOpenFiles } = await this.#survey(call);
    if (limits.openFiles !== undefined && limits.openFiles > maxOpenFiles)
      throw cannotHonour(
        this.name,
        `${limits.openFiles} open files: this program itself may have ${maxOpenFiles}`,
        'Ask for fewer, or raise the hard limit of who starts Litterbox (ulimit -Hn).',
      );
    const { strategy, checks } = await this.#strategy(call, spec.strategy);
    if (limits.diskBytes !== undefined && strategy?.changes === 'workspace')
      throw cannotHonour(
        this.name,
        `the limit diskBytes with the strategy ${strategy.name}`,
        'Use the strategy overlay, or leave the limit out.',
      );
    if (!strategy) {
      throw new LitterboxError('UNSUPPORTED', `No way of copying works below ${this.#layout.root}.`, {
        operation: 'provider.create',
        provider: this.name,
        hint: checks.map(({ name, finding }) => `${name}: ${finding}`).join('; '),
      });
    }
    return {
      version: 1,
      id: spec.id,
      slug: spec.slug,
      repositoryId: spec.repositoryId,
      base: spec.workspace.key,
      strategy: strategy.name,
      workdir: spec.workdir,
      root,
      environment: spec.environment,
      limits: { ...DEFAULT_LIMITS, openFiles: Math.min(DEFAULT_LIMITS.openFiles, maxOpenFiles), ...limits },
      playground: spec.playground,
      allowDegraded: spec.allowDegraded,
      ...(await this.#setups.find(
        { strategy: strategy.name, base: spec.workspace.key, root },
        spec.prepared ?? [],
        call,
      )),
    };
  }

  /** Without its kept setup where what differs from that one's base cannot be told. */
  async #withNewerFiles(
    meta: SandboxMeta,
    trees: BaseTreesInput,
    workspace: WorkspaceSource,
    call?: CallOptions,
  ): Promise<SandboxMeta> {
    const setup = this.#setups.directoryOf(meta);
    // Where workspaces are copied, each base has kept setups of its own.
    if (setup === undefined || strategyNamed(meta.strategy, this.name).changes === 'workspace') return meta;
    const more = await ensureNewerFiles(trees, workspace, setup, call);
    const { prepared: _unfit, ...ordinary } = meta;
    return more ? { ...meta, ...more } : ordinary;
  }

  #assertDisk({ id, playground }: SandboxSpec, { canMakeDisks }: Machine): void {
    if (playground !== id)
      throw cannotHonour(
        this.name,
        'the limit diskBytes with a playground that several sandboxes share',
        'Set playground.scope to sandbox, or leave the limit out.',
      );
    if (!canMakeDisks)
      throw cannotHonour(this.name, 'the limit diskBytes on this machine', `${DISK_REMEDY}, or leave the limit out.`);
  }

  /** What a copy is made of is what its source is made of; who asks for anything else is told. */
  #metaOfCopy(spec: SandboxSpec, { firstMark: _firstMark, ...source }: SandboxMeta): SandboxMeta {
    const { root, limits, strategy } = spec;
    const refused = (what: string) =>
      cannotHonour(this.name, `${what} in a copy of a sandbox`, 'Ask for what that one has, or make a new sandbox.');
    if (strategy !== undefined && strategy !== source.strategy)
      throw refused(`another strategy than ${source.strategy}`);
    const pathOf = (one: SandboxRoot) => (one.type === 'directory' ? one.path : '');
    if (root.type !== source.root.type || pathOf(root) !== pathOf(source.root))
      throw refused('another root file system');
    if (limits.diskBytes !== source.limits.diskBytes) throw refused('another limit diskBytes');
    return {
      ...source,
      id: spec.id,
      slug: spec.slug,
      repositoryId: spec.repositoryId,
      workdir: spec.workdir,
      environment: spec.environment,
      limits: { ...source.limits, ...limits },
      playground: spec.playground,
      allowDegraded: spec.allowDegraded,
      isCopy: true,
    };
  }

  #still({ id }: SandboxMeta, { cgroup }: Machine, copy: string): string {
    const freezer = cgroup && {
      freeze: freezeScript(cgroup, id, true),
      thaw: freezeScript(cgroup, id, false),
      isStill: cgroupIsFrozen(cgroup, id),
    };
    return stillCopy({ directory: sandboxLayoutOf(this.#layout, id).directory, copy, ...(freezer && { freezer }) });
  }

  /** The sandbox's directory with the layers of another one, which stands still meanwhile. */
  async #prepareCopy(meta: SandboxMeta, source: SandboxMeta, machine: Machine, call?: CallOptions): Promise<void> {
    const strategy = strategyNamed(meta.strategy, this.name);
    const from = sandboxLayoutOf(this.#layout, source.id).directory;
    const hasPlayground = meta.playground === meta.id && source.playground === source.id;
    const [fromDisk, toDisk] = [diskOf(this.#layout, source), diskOf(this.#layout, meta)];
    const base = `${this.#layout.bases}/${meta.base}`;
    const empty = strategy.changes === 'upper' ? strategy.prepare(base, this.#setups.directoryOf(meta)) : '';
    const playground = quoted(`${this.#layout.playgrounds}/${meta.playground}`);
    const owner = machine.isRoot ? ` && chown ${SANDBOX_UID}:${SANDBOX_UID} ${playground}` : '';
    // Playground and disk get their names when somebody waits for the copy, and not before.
    const place = toDisk
      ? `mv -T disk.img ${quoted(toDisk.image)}`
      : hasPlayground
        ? `mv -T own-playground ${playground}`
        : `[ -d ${playground} ] || { mkdir ${playground}${owner}; }`;
    const fill = (unfinished: string) => {
      const trees = [
        ...layersOf(meta.strategy).map((name) => copyTree(`${from}/${name}`, `${unfinished}/${name}`)),
        ...(hasPlayground
          ? [copyTree(`${this.#layout.playgrounds}/${source.id}`, `${unfinished}/own-playground`)]
          : []),
      ];
      const copy = fromDisk ? `cd ${quoted(unfinished)} || exit 1\n${copyDisk(from, fromDisk)}` : trees.join(' && ');
      const confined = confinedCopy({ root: this.#layout.root, isRoot: machine.isRoot, copy });
      return `${empty}${this.#still(source, machine, confined)} || exit
${ASK_BEFORE_NAME}
${place}
`;
    };
    try {
      await this.#make(meta, machine, fill, copyError, call);
    } catch (error) {
      if (!isLitterboxError(error, 'ALREADY_EXISTS')) await this.remove(meta.id); // what was copied of playground and disk
      throw error;
    }
  }

  /** The sandbox's directory, complete before it gets its name. */
  async #prepare(
    meta: SandboxMeta,
    strategy: Strategy,
    base: string,
    machine: Machine,
    isPooled: boolean,
    call?: CallOptions,
  ): Promise<void> {
    const disk = diskOf(this.#layout, meta);
    const owned = strategy.changes === 'upper' ? 'ws upper' : 'ws';
    const playground = quoted(`${this.#layout.playgrounds}/${meta.playground}`);
    const pooled = isPooled ? `: >pooled; mkfifo -m 600 ${HOLD}\n` : '';
    const fill = () => `${pooled}mkdir ${playground} 2>/dev/null || [ -d ${playground} ]
${strategy.prepare(base, this.#setups.directoryOf(meta))}
${machine.isRoot ? `chown ${SANDBOX_UID}:${SANDBOX_UID} home ${playground} ${owned}` : ''}
${disk ? makeDisk(disk) : ''}`;
    await this.#make(
      meta,
      machine,
      fill,
      (operation, _provider, code, stderr) => scriptError(operation, code, stderr),
      call,
    );
  }

  async #make(
    meta: SandboxMeta,
    machine: Machine,
    fill: (unfinished: string) => string,
    toError: typeof copyError,
    call?: CallOptions,
  ): Promise<void> {
    const { directory } = sandboxLayoutOf(this.#layout, meta.id);
    const name = `${UNFINISHED}${crypto.randomUUID()}`;
    const unfinished = `${this.#layout.sandboxes}/${name}`;
    // The sandbox's user finds its way through, and sees nothing on it.
    const script = `umask 066
${makeUnfinished(this.#layout.sandboxes, name)} || exit 1
trap 'cd /; rm -rf ${quoted(unfinished)}' EXIT
set -e
mkdir io scan-io
umask 022
mkdir base etc playground root tools home ws
mkfifo -m 600 stop.fifo
: >start.lock; : >alive.lock; : >clients.lock
${fill(unfinished)}printf %s ${quoted(JSON.stringify(meta))} >meta.json
mv -T ${quoted(unfinished)} ${quoted(directory)}
trap - EXIT`;
    const { code, stderr } = await runAsking(this.#host, script, async () => {}, call);
    if (code === 0) return;
    const error = toError('provider.create', this.name, code, stderr);
    if (!isLitterboxError(error, 'DISK_FULL') && (await this.#host.files.stat(`${directory}/meta.json`)))
      throw alreadyThere(this.name, meta.id);
    throw error;
  }

  async #runtime(meta: SandboxMeta, machine: Machine): Promise<PlaceRuntime> {
    const directories = [
      ...machine.facts.searchPath.filter((path) => isVisible(path, machine)),
      '/usr/local/bin',
      '/usr/bin',
      '/bin',
    ];
    const path =
      meta.root.type === 'machine'
        ? [...new Set(directories)]
        : ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
    const strategy = strategyNamed(meta.strategy, this.name);
    const sandbox = sandboxLayoutOf(this.#layout, meta.id);
    const { cgroup, isRoot } = machine;
    const filter = await this.#filterFile(machine);
    const rustup = machine.toolDirectories.find((tool) => tool.path.endsWith('/.rustup'));
    const environment = {
      ...baseEnvironment(meta.slug, path.join(':')),
      // Its programs look for tool chains in the home, which is the sandbox's own.
      ...(rustup && meta.root.type === 'machine' && { RUSTUP_HOME: rustup.path }),
      ...meta.environment,
    };
    const host = this.#host;
    const launch = { host, machine, layout: this.#layout, sandbox, meta, strategy, filter, environment };
    const isUpper = strategy.changes === 'upper';
    return new PlaceRuntime({
      provider: this.name,
      host,
      id: meta.id,
      files: sandbox,
      workdir: meta.workdir,
      environment,
      allowDegraded: meta.allowDegraded,
      isRoot,
      hasScannerPlace: true,
      launch: (call) => launchSession(launch, call),
      scanned: {
        changes: isUpper ? '/changes' : '/workspace',
        workspace: '/workspace',
        ...(isUpper && meta.prepared !== undefined && { prepared: '/prepared' }),
        ...(meta.isCopy && { isCopy: true }),
      },
      ...(meta.prepared !== undefined && { prepared: meta.prepared.key }),
      ...(meta.firstMark !== undefined && { firstMark: meta.firstMark }),
      freezeHint:
        'This user may not make control groups: use pause --stop, or run litterbox doctor for the command that hands them to this user.',
      leavings: leavingsOf(machine, meta.id),
      ...(cgroup && {
        freeze: (isFrozen: boolean) => freezeScript(cgroup, meta.id, isFrozen),
        usage: cgroupUsage(cgroup, meta.id),
      }),
    });
  }

  /** One look per process: what is there does not come and go while it runs; `probe` looks anew. */
  #survey(call?: CallOptions): Promise<Machine> {
    this.#machine ??= readMachine(this.#host, this.name).catch((error: unknown) => {
      this.#machine = undefined;
      throw error;
    });
    call?.signal?.throwIfAborted();
    return this.#machine;
  }

  async #usableMachine(call?: CallOptions): Promise<Machine> {
    const machine = await this.#survey(call);
    const [first] = machine.checks.filter(({ status }) => status === 'failed');
    if (!first) return machine;
    throw new LitterboxError(
      first.name === 'tools' ? 'TOOL_MISSING' : 'UNAVAILABLE',
      `Sandboxes cannot run on this machine: ${first.finding}.`,
      { operation: 'provider.create', provider: this.name, hint: first.remedy ?? 'Run litterbox doctor.' },
    );
  }

  async #strategy(call?: CallOptions, asked?: string): Promise<StrategyChoice> {
    const wanted = asked === undefined ? this.#wanted : strategyNamed(asked, this.name).name;
    const known = this.#choices.get(wanted);
    if (known) return await known;
    const choice = (async () => {
      const machine = await this.#survey(call);
      for (const directory of [
        this.#layout.root,
        this.#layout.bases,
        this.#layout.sandboxes,
        this.#layout.playgrounds,
        this.#layout.disks,
      ])
        await this.#host.files.makeDirectory(directory);
      return await choosing(this.#host, this.#layout.sandboxes, machine, wanted);
    })().catch((error: unknown) => {
      this.#choices.delete(wanted);
      throw error;
    });
    this.#choices.set(wanted, choice);
    return await choice;
  }

  #filterFile(machine: Machine): Promise<string> {
    this.#filter ??= (async () => {
      const bytes = seccompFilter(machine.facts.architecture, this.name);
      const path = `${this.#layout.root}/seccomp-${machine.facts.architecture}-${checksum(bytes)}.bpf`;
      if (!(await this.#host.files.stat(path))) await this.#host.files.write(path, bytes, { mode: 0o600 });
      return path;
    })();
    return this.#filter;
  }
}

function isVisible(path: string, { toolDirectories, rootLinks, rootDirectories }: Machine): boolean {
  const [, top = ''] = path.split('/');
  if (top === 'usr' || rootDirectories.includes(top) || rootLinks.some(([name]) => name === top)) return true;
  return toolDirectories.some((tool) => path === tool.path || path.startsWith(`${tool.path}/`));
}

function freezeScript(cgroup: Cgroup, id: string, isFrozen: boolean): string {
  return `[ -d '${cgroup.parents.freezer}/${id}' ] || exit 0
${isFrozen ? cgroupFreeze(cgroup, id) : cgroupThaw(cgroup, id)}`;
}

/** Tells versions of the filter apart (FNV-1a); nothing secret hangs on it. */
function checksum(bytes: Uint8Array): string {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}
