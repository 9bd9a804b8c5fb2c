import { type LayeredSetups, type LayerSnapshots, SandboxDirectories } from '@litterbox/linux-sandbox';
import type { CallOptions, Host, ProviderTraits } from '@litterbox/core/provider';
import type { OpenMachine } from '../address/open-machine.ts';
import { Containers } from '../container/containers.ts';
import { containerSnapshots } from './container-snapshots.ts';
import { assertCopyable, type DescribeInput } from './describe-sandbox.ts';
import { Engine } from '../engine/engine.ts';
import type { EngineFacts, EngineSurvey } from '../engine/engine-facts.ts';
import type { EngineFlavour } from '../engine/engine-flavour.ts';
import { Images } from '../engine/images.ts';
import { type ImageNotes, InstalledImages } from './installed-images.ts';
import { keptSetups } from './kept-setups.ts';
import { knownEngine, type KnownEngineOptions } from '../engine/known-engines.ts';
import { layoutOf } from '../engine/layout.ts';
import { isSandboxMeta } from '../engine/is-sandbox-meta.ts';
import type { SandboxMeta } from '../engine/sandbox-meta.ts';

/** Parts and places that the provider of one engine is made of. */
export interface ContainerProviderInput {
  readonly host: Host;
  /** Programs run as root there: disks of sandboxes can be mounted. */
  readonly isRoot: boolean;
  /** Absolute directory on the host, the provider's own, mode 0700, for base trees, layers and playgrounds. */
  readonly directory: string;
  readonly flavour: EngineFlavour;
  /** @defaultValue found on the host */
  readonly engine?: Engine;
  /** Reaches the machines of engines that are reached over SSH. @defaultValue such engines are refused */
  readonly openMachine?: OpenMachine | undefined;
  /** The host is a container of the engine's own. @defaultValue false */
  readonly isConfined?: boolean;
  /** @defaultValue in its own directory */
  readonly imageNotes?: ImageNotes;
}

/** The parts of a provider of containers, each knowing those that it stands on. */
export interface ContainerParts extends DescribeInput {
  readonly engine: Engine;
  /** How the engine is looked at. */
  readonly look: EngineSurvey;
  readonly containers: Containers;
  readonly setups: LayeredSetups<SandboxMeta>;
  readonly snapshots: LayerSnapshots<SandboxMeta>;
  /** The facts of the engine, by one look per process, as long as it succeeds. */
  facts(options?: KnownEngineOptions): Promise<EngineFacts>;
}

/** The engine as the host has it. Does nothing until it is asked. */
export function engineOf({ host, directory, flavour, openMachine }: ContainerProviderInput): Engine {
  const findEngine = async (options?: CallOptions) => await flavour.findEngine(host, layoutOf(directory), options);
  return new Engine({ ...flavour, host, findEngine, openMachine });
}

/** Joins the parts. Does nothing on the host. */
export function containerParts(input: ContainerProviderInput): ContainerParts {
  const { host, isRoot, directory, flavour, isConfined = false } = input;
  const layout = layoutOf(directory);
  const directories = new SandboxDirectories<SandboxMeta, typeof layout>({
    provider: flavour.provider,
    host,
    layout,
    isOwn: isSandboxMeta,
  });
  const engine = input.engine ?? engineOf(input);
  const { believedMs, hasIdentity = false, ownInfo } = flavour;
  const look = {
    host,
    ownInfo,
    hasIdentity,
    ...(believedMs && { memory: { file: layout.engine, forMs: believedMs } }),
  };
  const facts = async (options?: KnownEngineOptions) =>
    await knownEngine(engine, look, options).catch((error: unknown) => {
      engine.forget();
      throw error;
    });
  const containers = new Containers({ engine, directories, flavour, facts, isBelowEngine: isConfined });
  const images = new Images(engine);
  // A disk of its own is mounted, which takes root; its speed is bounded by groups of root's.
  const disk = isRoot ? (['diskBytes', 'diskBytesPerSecond'] as const) : [];
  const traits: ProviderTraits = {
    isolation: 'container',
    limits: ['memoryBytes', 'cpus', 'processes', 'openFiles', ...disk],
    workdir: '/src',
    roots: ['image'],
    canCopy: true,
    canBring: true,
    snapshotCost: 'copied',
  };
  return {
    directories,
    engine,
    look,
    traits,
    isConfined,
    images,
    containers,
    facts,
    installed: new InstalledImages({
      engine,
      images,
      containers,
      directories,
      notes: input.imageNotes ?? { host, directory: layout.images },
    }),
    setups: keptSetups(directories, containers.ends),
    snapshots: containerSnapshots(directories, containers, async (call) => {
      await assertCopyable(directories, isConfined, await facts(call));
    }),
  };
}
