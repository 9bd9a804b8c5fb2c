import {
  baseTreeName,
  confinedCopy,
  beginAtFirstMark,
  createOrRollBack,
  endSessionScript,
  ensureArtefactLayer,
  ensureBaseCopy,
  ensureBaseOver,
  ensureNewerFiles,
  type LayerSnapshots,
  type PlaceRuntime,
  type Removal,
  runProgram,
  SANDBOX_USER,
  SandboxDirectories,
  type ServedProgram,
  SpareProgram,
  type StagedDirectory,
  type Staging,
  encodePlan,
} from '@litterbox/linux-sandbox';
import {
  type CallOptions,
  type Host,
  isLitterboxError,
  LOCAL_HOST,
  parseProviderKey,
  type ProbeReport,
  type ProgressOptions,
  type ProviderKey,
  type ProviderMachine,
  type ProviderTraits,
  quoted,
  failpoint,
  type RemoveOptions,
  type RuntimeStatus,
  type SandboxId,
  type SandboxProvider,
  type SandboxRuntime,
  type SandboxSpec,
  type SetupStore,
  type SnapshotProvider,
} from '@litterbox/core/provider';
import {
  askedStrategy,
  LIVE_STRATEGY_NAMES,
  STRATEGY_NAMES,
  strategyNamed,
  TREE_KINDS,
} from './strategies/choose-strategy.ts';
import { complaining } from './complaining.ts';
import { describeCopied, describeSandbox } from './describe-sandbox.ts';
import { fillCopy, fillCopyPlan, fillPlan, fillSandbox } from './fill-sandbox.ts';
import { isSandboxMeta } from './is-sandbox-meta.ts';
import { KeptSetups } from './kept-setups.ts';
import { leavingsOf } from './leavings-of.ts';
import { type LookAhead, lookAtHost } from './session/look-at-host.ts';
import type { Machine } from './machine/machine.ts';
import { MachineSurvey } from './machine-survey.ts';
import { openSandbox } from './open-sandbox.ts';
import { overlayLayout } from './at-once.ts';
import { overlaySnapshots } from './overlay-snapshots.ts';
import { ownBoundOf } from './session/own-bound-of.ts';
import { removalPlan } from './removal-plan.ts';
import type { SandboxMeta } from './session/sandbox-meta.ts';
import type { Strategy } from './strategies/strategy.ts';
import { readSessionProgram, SessionProgram } from './machine/session-program.ts';
import { surveyStrategy } from './strategies/survey-strategy.ts';

/**
 * The machine, and how workspaces are copied. In the machine's directory the provider makes its own, `overlayfs`, mode 0700, for base
 * trees, layers and playgrounds.
 */
export interface OverlayfsOptions extends ProviderMachine {
  /** Use this way of copying or none. @defaultValue the first that works of overlay, btrfs, zfs, reflink, copy */
  readonly strategy?: Strategy['name'];
  /** The program that starts sessions, by `uname -m`; undefined: shell text does it. @defaultValue the one that is installed */
  readonly sessionProgram?: (architecture: string) => Uint8Array | undefined;
}

/** Sandboxes on a Linux machine by copy-on-write and namespaces. Needs no daemon and no image. Does nothing until it is asked. */
export function overlayfs(options: OverlayfsOptions): SandboxProvider {
  return new OverlayProvider(options);
}

const DISK_LIMITS = ['diskBytes', 'diskBytesPerSecond'] as const;

/** The things that making a sandbox needs. */
interface Begin {
  readonly machine: Machine;
  /** Undefined where shell text does it. */
  readonly served: ServedProgram | undefined;
  /** Told what will be made, before it is. */
  readonly onDecided: (meta: SandboxMeta) => void;
}

class OverlayProvider implements SandboxProvider {
  readonly name: ProviderKey;
  readonly traits: ProviderTraits;
  readonly #host: Host;
  readonly #directories: SandboxDirectories<SandboxMeta>;
  readonly #survey: MachineSurvey;
  readonly #setups: KeptSetups;
  readonly #snapshots: LayerSnapshots<SandboxMeta>;
  readonly #program: SessionProgram;
  readonly #spare: SpareProgram;

  constructor({ key = 'overlayfs', host, facts, directory, strategy, sessionProgram }: OverlayfsOptions) {
    this.name = key;
    // What bounds the disk is mounted, and its speed is bounded by a group that nobody hands out: both need root.
    const boundsDisk = facts.uid === 0;
    const liveStrategies = LIVE_STRATEGY_NAMES.filter((name) => strategy === undefined || name === strategy);
    this.traits = {
      isolation: 'process',
      limits: ['memoryBytes', 'cpus', 'processes', 'openFiles', ...(boundsDisk ? DISK_LIMITS : [])],
      ...(!boundsDisk && { rootLimits: DISK_LIMITS }),
      workdir: 'repository-path',
      roots: ['machine', 'directory'],
      canCopy: true,
      canBring: true,
      ...(liveStrategies.length > 0 && { liveStrategies }),
      strategies: STRATEGY_NAMES,
      snapshotCost: 'copied',
    };
    const layout = overlayLayout(directory);
    this.#host = host;
    this.#spare = new SpareProgram(host);
    const isHere = parseProviderKey(this.name).host === LOCAL_HOST;
    this.#directories = new SandboxDirectories({
      provider: this.name,
      host,
      layout,
      kinds: TREE_KINDS,
      // On another machine nothing stands on the person's working tree, whatever that machine says.
      isOwn: (description) => isSandboxMeta(description) && (isHere || description['live'] === undefined),
    });
    this.#program = new SessionProgram({
      host,
      provider: this.name,
      facts,
      root: layout.root,
      read: sessionProgram ?? readSessionProgram,
    });
    this.#survey = new MachineSurvey({
      provider: this.name,
      host,
      facts,
      layout,
      wanted: strategy,
      program: this.#program,
    });
    this.#setups = new KeptSetups(this.#directories, () => this.#survey.machine());
    this.#snapshots = overlaySnapshots(this.#directories, this.#survey);
  }

  get setups(): SetupStore {
    return this.#setups.store;
  }

  get snapshots(): SnapshotProvider {
    return this.#snapshots;
  }

  async probe(options?: CallOptions): Promise<ProbeReport> {
    this.#survey.forget();
    const machine = await this.#survey.machine(options);
    const isReady = machine.checks.every(({ status }) => status !== 'failed');
    if (!isReady) return { usable: false, checks: machine.checks };
    const { strategy, checks } = await this.#survey.strategy(options);
    const more = strategy ? await surveyStrategy(this.#host, strategy, this.#directories.layout.root, options) : [];
    const program = this.#program.check();
    return { usable: strategy !== undefined, checks: [...machine.checks, ...checks, program, ...more] };
  }

  async create(spec: SandboxSpec, options?: ProgressOptions): Promise<SandboxRuntime> {
    options?.signal?.throwIfAborted();
    // Most sandboxes are made with the strategy of the machine: it is found out meanwhile.
    if (spec.copyOf === undefined) this.#survey.strategy(options, askedStrategy(spec)).catch(() => {});
    const machine = await this.#survey.usableMachine(options);
    const program = await this.#survey.programFile(options);
    await using served = program === undefined ? undefined : this.#spare.take(program);
    let ahead: LookAhead | undefined;
    const look = async (meta: SandboxMeta) => {
      const { layout } = this.#directories;
      const seen = await this.#survey.machineWith(meta.searchPath, options);
      return await lookAtHost({ host: this.#host, machine: seen, layout, meta, program, served }, options);
    };
    const onDecided = (meta: SandboxMeta) => {
      ahead = { look: look(meta), beganAt: performance.now(), served };
      ahead.look.catch(() => {}); // of interest to the session alone
    };
    const meta = await (spec.copyOf === undefined
      ? this.#begun(spec, { machine, served, onDecided }, options)
      : this.#copied(spec, spec.copyOf, { machine, served, onDecided }, options));
    failpoint('provider.after-directory');
    const runtime = await createOrRollBack(
      {
        open: () => this.#runtime(meta, options, ahead),
        begin: async (runtime) => {
          await runtime.warm(options);
          failpoint('provider.after-session');
          // A copy of a kept setup or of a sandbox has nothing that tells their work from the base: its first scan looks at everything.
          const isWhole = strategyNamed(meta.strategy, this.name).changes === 'workspace';
          if (isWhole && meta.prepared === undefined && !meta.isCopy)
            await beginAtFirstMark(this.#directories, runtime, meta, options);
        },
        remove: () => this.remove(spec.id),
      },
      options,
    );
    if (program !== undefined) this.#spare.prepare(program);
    return runtime;
  }

  async open(id: SandboxId, options?: CallOptions): Promise<SandboxRuntime> {
    const [meta] = await Promise.all([this.#directories.read(id, options), this.#survey.usableMachine(options)]);
    return await this.#runtime(meta, options);
  }

  async *list(options?: CallOptions): AsyncGenerator<RuntimeStatus, void, undefined> {
    yield* this.#directories.list(options);
  }

  async remove(id: SandboxId, options?: RemoveOptions): Promise<void> {
    options?.signal?.throwIfAborted();
    const { directory } = this.#directories.filesOf(id);
    const machine = await this.#survey.machine(options);
    const leavings = leavingsOf(machine, id);
    const program = await this.#survey.programFile(options).catch((error: unknown) => {
      if (isLitterboxError(error, 'DISK_FULL')) return undefined; // no reason to keep a sandbox
      throw error;
    });
    const takenOut = options?.keepPlayground ? await this.#takePlaygroundOut(id) : '';
    failpoint('provider.before-remove');
    const end = `( ${endSessionScript(directory, leavings)} ) || exit 1
( ${leavings.empty}
) || exit 1
${takenOut}`;
    const run = (removal: Removal) =>
      program === undefined || takenOut !== ''
        ? undefined
        : complaining(runProgram(this.#host, [program, 'remove'], encodePlan(removalPlan(machine, id, removal))));
    await this.#directories.remove(id, { end, swept: this.#setups.swept, run }, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#spare[Symbol.asyncDispose]();
  }

  /** A sandbox's directory over a base tree. */
  async #begun(
    spec: SandboxSpec,
    { machine, served, onDecided }: Begin,
    options?: ProgressOptions,
  ): Promise<SandboxMeta> {
    const { traits } = this;
    const { root } = this.#directories.layout;
    const decided = await describeSandbox(
      { provider: this.name, traits, host: this.#host, survey: this.#survey, setups: this.#setups, root },
      spec,
      options,
    );
    onDecided(decided);
    const owner = machine.isRoot ? { owner: SANDBOX_USER } : {};
    const meta = await this.#withLayer(decided, spec, owner, options);
    const filling = (one: SandboxMeta): Omit<StagedDirectory, 'bases'> => {
      const input = this.#filled(one, machine);
      return {
        fill: (unfinished) => fillSandbox(input, unfinished),
        run: (staging, call) => {
          const plan = served && fillPlan(input, staging);
          return plan && complaining(served.run('stage', plan, call));
        },
      };
    };
    const stage = (one: SandboxMeta, bases: readonly string[] = []) =>
      this.#directories.stage(one, { bases, ...filling(one) }, options);
    if (meta.live) {
      await stage(meta);
      return meta;
    }
    const { baseKind, changes, copyBase } = strategyNamed(meta.strategy, this.name);
    const trees = { ...owner, ...(baseKind && { kind: baseKind }) };
    if ((await stage(meta, [baseTreeName(meta.base, baseKind)])) === 'staged') return meta;
    const { bases } = this.#directories.layout;
    const wanted = { host: this.#host, bases, ...owner };
    const over = changes === 'upper' ? await ensureBaseOver(wanted, spec.workspace, options) : undefined;
    if (over) {
      failpoint('provider.after-difference');
      const layered = { ...meta, over };
      if ((await stage(layered, [over.base, over.difference])) === 'staged') return layered;
    }
    if (copyBase) {
      const { layout } = this.#directories;
      await ensureBaseCopy(
        { host: this.#host, layout, isRoot: machine.isRoot, ...trees, copyBase },
        spec.workspace,
        options,
      );
    }
    await this.#directories.stageUnpacked(spec.workspace, trees, meta, filling(meta), options);
    return meta;
  }

  /** A sandbox's directory with the layers of another one, which stands still meanwhile. */
  async #copied(
    spec: SandboxSpec,
    of: SandboxId,
    { machine, served, onDecided }: Begin,
    options?: CallOptions,
  ): Promise<SandboxMeta> {
    const source = await this.#directories.read(of, options);
    const meta = describeCopied(this.name, spec, source);
    onDecided(meta);
    try {
      const input = this.#filled(meta, machine);
      const run = (staging: Staging, call?: CallOptions) => {
        const plan = served && fillCopyPlan(input, source, staging);
        return plan && complaining(served.run('stage', plan, call));
      };
      await this.#directories.stage(meta, { fill: fillCopy(input, source), run }, options);
    } catch (error) {
      if (!isLitterboxError(error, 'ALREADY_EXISTS')) await this.remove(meta.id); // what was copied of playground and disk
      throw error;
    }
    return meta;
  }

  /** Shell text, after `removeTree`: the playground gets a directory of its own where it is on the layers, which are going. */
  async #takePlaygroundOut(id: SandboxId): Promise<string> {
    const meta = await this.#directories.read(id).catch(() => undefined); // of what is broken or gone nothing can be kept
    const bound = meta && ownBoundOf(strategyNamed(meta.strategy, this.name), meta);
    if (!bound) return '';
    const { root, playgrounds } = this.#directories.layout;
    const { directory } = this.#directories.filesOf(id);
    const copy = confinedCopy({ root, isRoot: true, copy: bound.takeOut(directory, `${directory}/taken-out`) });
    const playground = quoted(`${playgrounds}/${id}`);
    return `( cd ${quoted(directory)} && remove_tree taken-out && mkdir -m 700 taken-out && ${copy} && remove_tree ${playground} && mv -T taken-out ${playground} ) || exit 1`;
  }

  #filled(meta: SandboxMeta, machine: Machine) {
    return { layout: this.#directories.layout, machine, meta, setup: this.#setups.directoryOf(meta) };
  }

  /** With the layer that has to lie over its base: what came along, or what is newer than the kept setup that it begins with. */
  async #withLayer(
    meta: SandboxMeta,
    spec: SandboxSpec,
    owner: { readonly owner?: typeof SANDBOX_USER },
    options?: ProgressOptions,
  ): Promise<SandboxMeta> {
    const { artefacts, workspace } = spec;
    if (!artefacts) return await this.#withNewerFiles(meta, spec, owner, options);
    const layers = { host: this.#host, bases: this.#directories.layout.bases, provider: this.name, ...owner };
    const { prepared: _unfit, ...ordinary } = meta;
    return { ...ordinary, artefacts: await ensureArtefactLayer(layers, workspace, artefacts, options) };
  }

  /** Without its kept setup where what differs from that one's base cannot be told. */
  async #withNewerFiles(
    meta: SandboxMeta,
    { workspace }: SandboxSpec,
    owner: { readonly owner?: typeof SANDBOX_USER },
    options?: CallOptions,
  ): Promise<SandboxMeta> {
    const setup = this.#setups.directoryOf(meta);
    // Where workspaces are copied, each base has kept setups of its own.
    if (setup === undefined || strategyNamed(meta.strategy, this.name).changes === 'workspace') return meta;
    const trees = { host: this.#host, bases: this.#directories.layout.bases, ...owner };
    const more = await ensureNewerFiles(trees, workspace, setup, options);
    const { prepared: _unfit, ...ordinary } = meta;
    return more ? { ...meta, ...more } : ordinary;
  }

  async #runtime(meta: SandboxMeta, options?: CallOptions, ahead?: LookAhead): Promise<PlaceRuntime> {
    const machine = await this.#survey.machineWith(meta.searchPath, options);
    const [filter, program] = await Promise.all([this.#survey.filterFile(machine), this.#survey.programFile(options)]);
    return openSandbox(this.#directories, meta, machine, { filter, program }, ahead);
  }
}
