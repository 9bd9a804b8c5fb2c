import { LitterboxError, PERSON_USE_CASES } from '@litterbox/core';
import { type DirectorySync, type Ports, type Wired, wireUseCases } from '@litterbox/core/agent';
import {
  type Approver,
  type Asker,
  type AuditLog,
  type Host,
  type Keepers,
  type NetworkGate,
  type PoolFiller,
  type PortForwarder,
  type Providers,
  type SandboxPool,
  type SandboxProvider,
  type SandboxRuntime,
  type SourceControl,
  type SourceRepository,
  type StateStore,
  ALWAYS_LEAN,
} from '@litterbox/core/provider';
import { atFailpoint } from './at-failpoint.ts';
import { type HandClock, handClock } from './hand-clock.ts';
import { type Life, mortal } from './life.ts';
import type { Program } from './machine/machine-process.ts';
import { memoryApprover } from './memory-approver.ts';
import { memoryAudit } from './memory-audit.ts';
import { memoryForwarder } from './memory-forwarder.ts';
import { memoryGate } from './memory-gate.ts';
import { type GaugeAnswer, memoryGauge } from './memory-gauge.ts';
import { memoryHost } from './memory-host.ts';
import { memoryKeepers } from './memory-keepers.ts';
import { memoryPool } from './memory-pool.ts';
import { memoryProvider } from './memory-provider.ts';
import { memoryProviders } from './memory-providers.ts';
import { memorySourceControl } from './memory-source-control.ts';
import { memoryState } from './memory-state.ts';
import { type Override, overridden } from './overridden.ts';
import type { PersonalRepository } from './personal-repository.ts';
import { type FirstFile, RepositoryShelf } from './repository-shelf.ts';
import { SandboxShelf } from './sandbox-shelf.ts';
import { StateShelf } from './state-shelf.ts';

/** What a test wants otherwise than in the ordinary world. */
export interface UseCaseFixtureOptions {
  /** Of the person's one commit. @defaultValue a README */
  readonly files?: readonly FirstFile[];
  /** Text of `.litterbox.toml`, which a person has agreed to. */
  readonly config?: string;
  /** Whether somebody agreed to the configuration. @defaultValue true */
  readonly isTrusted?: boolean;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Programs that sandboxes have besides those of every machine in memory. */
  readonly programs?: Readonly<Record<string, Program>>;
  /** Who asks for what the test asks for. @defaultValue person */
  readonly asker?: Asker;
  /** What the person answers. @defaultValue false */
  readonly answer?: boolean;
  readonly provider?: Override<SandboxProvider>;
  /** Of every runtime that the provider gives. */
  readonly runtime?: Override<SandboxRuntime>;
  /** Providers after the one in memory. */
  readonly otherProviders?: readonly SandboxProvider[];
  /** What finds providers by their keys. */
  readonly providers?: Override<Providers>;
  readonly sourceControl?: Override<SourceControl>;
  readonly repository?: Override<SourceRepository>;
  readonly state?: Override<StateStore>;
  readonly audit?: Override<AuditLog>;
  readonly pool?: Override<SandboxPool>;
  readonly poolFiller?: PoolFiller;
  readonly approver?: Override<Approver>;
  readonly keepers?: Override<Keepers>;
  readonly forwarder?: Override<PortForwarder>;
  readonly networkGate?: Override<NetworkGate>;
  readonly host?: Override<Host>;
  /** What machines answer that are asked for room, by their names. */
  readonly machines?: Readonly<Record<string, GaugeAnswer>>;
  /** The machines for who names none. @defaultValue this one */
  readonly preferredHosts?: readonly string[];
}

/** What outlives a program: records, sandboxes, repositories, and the time. */
interface Shelves {
  readonly clock: HandClock;
  readonly records: StateShelf;
  readonly sandboxes: SandboxShelf;
  readonly repositories: RepositoryShelf;
  readonly person: PersonalRepository;
}

/** What is left of sandboxes, in a few words each. */
export interface Left {
  /** `NAME: STATE`. */
  readonly records: readonly string[];
  /** Names. */
  readonly histories: readonly string[];
  /** `OPERATION: STEP`. */
  readonly journal: readonly string[];
  /** States. */
  readonly runtimes: readonly string[];
  /** States of those made in advance. */
  readonly pool: readonly string[];
}

/** Sandboxes in memory are on the machine of the person. */
const NOTHING_TO_SYNC: DirectorySync = {
  sync: () =>
    Promise.reject(new LitterboxError('UNSUPPORTED', 'There is one machine in memory.', { operation: 'sync' })),
};

/** Nothing at all. */
export const NOTHING_LEFT: Left = { records: [], histories: [], journal: [], runtimes: [], pool: [] };

/** The use cases over ports in memory, and what a test asks of that world. */
export interface UseCaseFixture extends Wired<typeof PERSON_USE_CASES>, AsyncDisposable {
  readonly shelves: Shelves;
  readonly clock: HandClock;
  readonly person: PersonalRepository;
  /** As they are, without what a test wanted otherwise. */
  readonly state: StateStore;
  readonly approver: ReturnType<typeof memoryApprover>;
  readonly forwarder: ReturnType<typeof memoryForwarder>;
  readonly gate: ReturnType<typeof memoryGate>;
  left(): Left;
  /** `OPERATION: OUTCOME` of every call in the audit log, oldest first. */
  audited(): Promise<readonly string[]>;
  /** Types of all events, oldest first. */
  told(): readonly string[];
  /** The subjects of a sandbox's revisions, oldest first. */
  subjects(name: string): readonly string[];
  /** The content of a file in a sandbox's workspace; nothing where there is none. */
  look(name: string, path: string): string | undefined;
  /** Writes into a sandbox's workspace as a program that nobody waits for does. */
  scribble(name: string, path: string, content: string): void;
  /**
   * Starts a call and kills the program at a step that core names: none of its calls is made any more, and the kernel frees what it held.
   * What it had made stays.
   */
  killedAt(point: string, call: (world: UseCaseFixture) => Promise<unknown>): Promise<void>;
  /** Another program over what is left. */
  restarted(options?: UseCaseFixtureOptions): UseCaseFixture;
}

/** Wires use cases over ports in memory. Nothing of it touches the machine, and its time stands still. */
export function useCaseFixture(options: UseCaseFixtureOptions = {}): UseCaseFixture {
  const { files = [{ path: 'README', content: 'read me\n' }], config } = options;
  const repositories = new RepositoryShelf();
  const all = config === undefined ? files : [...files, { path: '.litterbox.toml', content: config }];
  const person = repositories.add(all, '/home/person/project');
  const shelves = {
    clock: handClock(),
    records: new StateShelf(),
    sandboxes: new SandboxShelf(),
    repositories,
    person,
  };
  return fixtureOver(shelves, options);
}

function fixtureOver(shelves: Shelves, options: UseCaseFixtureOptions): UseCaseFixture {
  const { clock, records, sandboxes, repositories, person } = shelves;
  const owner = { isAlive: true };
  const life: Life = { isOver: false };
  const state = memoryState(records, clock, owner);
  const approver = memoryApprover(options.answer ?? false);
  const forwarder = memoryForwarder();
  const gate = memoryGate();
  const isTrusted = options.isTrusted ?? true;
  const ports: Ports = {
    providers: overridden<Providers>(
      memoryProviders([mortal(providerOf(shelves, options), life), ...(options.otherProviders ?? [])]),
      options.providers,
    ),
    sourceControl: mortal(sourceControlOf(shelves, options, life), life),
    state: mortal(overridden(isTrusted ? { ...state, isTrusted: async () => true } : state, options.state), life),
    audit: mortal(overridden(memoryAudit(records, clock, owner), options.audit), life),
    pool: mortal(overridden(memoryPool(records, clock, owner), options.pool), life),
    poolFiller: options.poolFiller ?? {},
    host: overridden(memoryHost(repositories), options.host),
    hosts: {
      open: async (name) => ({ host: { ...memoryHost(repositories), name }, directory: '/' }),
      preferred: async () => options.preferredHosts ?? [],
    },
    hostGauge: memoryGauge(options.machines),
    clock,
    heap: ALWAYS_LEAN,
    forwarder: overridden<PortForwarder>(forwarder, options.forwarder),
    keepers: overridden(memoryKeepers(), options.keepers),
    directorySync: NOTHING_TO_SYNC,
    networkGate: overridden<NetworkGate>(gate, options.networkGate),
    approver: overridden<Approver>(approver, options.approver),
    repositoryPath: person.root,
    actor: 'test',
    asker: options.asker ?? 'person',
    environment: options.environment ?? {},
  };
  const useCases = wireUseCases(ports, PERSON_USE_CASES);
  const histories = () => [...(repositories.find(person.root)?.histories.values() ?? [])];
  const filesOf = (name: string) => {
    const record = records.records.find(({ slug }) => slug === name);
    const sandbox = record && sandboxes.sandboxes.get(record.id);
    if (!sandbox) throw new Error(`There is no sandbox ${name}.`);
    return { files: sandbox.machine.files, workdir: sandbox.spec.workdir };
  };
  const die = () => {
    life.isOver = true;
    owner.isAlive = false;
    for (const slot of records.leases.values())
      if (slot.holder?.owner === owner) {
        slot.holder = undefined;
        slot.isTaken = false;
      }
  };
  const world: UseCaseFixture = {
    ...useCases,
    shelves,
    clock,
    person,
    state,
    approver,
    forwarder,
    gate,

    left: () => ({
      records: records.records.map(({ slug, state: one }) => `${slug}: ${one}`),
      histories: histories().map(({ slug }) => slug),
      journal: records.journal.map(({ entry: { operation, step } }) => `${operation}: ${step}`),
      runtimes: [...sandboxes.sandboxes.values()].map((sandbox) => sandbox.state),
      pool: records.pool.map(({ sandbox }) => sandbox.state),
    }),

    async audited() {
      const entries = await memoryAudit(records, clock).entries({ limit: 1000 });
      return entries.map(({ operation, outcome }) => `${operation}: ${outcome}`).toReversed();
    },

    told: () => records.events.map(({ type }) => type),

    subjects(name) {
      const history = histories().find(({ slug }) => slug === name);
      return (history?.revisions ?? []).map(({ message }) => message.subject);
    },

    look(name, path) {
      const { files, workdir } = filesOf(name);
      const node = files.look(`${workdir}/${path}`);
      return node?.type === 'file' ? Buffer.from(node.content).toString() : undefined;
    },

    scribble(name, path, content) {
      const { files, workdir } = filesOf(name);
      const above = `${workdir}/${path}`.replace(/\/[^/]*$/, '');
      files.makeDirectory(above, true);
      files.write(`${workdir}/${path}`, Buffer.from(content));
    },

    async killedAt(point, call) {
      let reached = () => {};
      const isReached = new Promise<'reached'>((resolve) => {
        reached = () => resolve('reached');
      });
      using _ = atFailpoint(point, () => {
        die();
        reached();
        throw new Error('The program was killed.');
      });
      const ended = call(world).then(
        () => 'ended' as const,
        () => 'ended' as const,
      );
      await Promise.race([isReached, ended]);
    },

    restarted(more = options) {
      die();
      return fixtureOver(shelves, more);
    },

    async [Symbol.asyncDispose]() {
      if (life.isOver) return;
      await useCases.keepSandbox.closeAll();
      await useCases.openSandboxes.closeAll();
      await useCases.openRepository.close();
      await state[Symbol.asyncDispose]();
    },
  };
  return world;
}

function providerOf(
  { clock, sandboxes }: Shelves,
  { programs, provider, runtime }: UseCaseFixtureOptions,
): SandboxProvider {
  const real = memoryProvider({ shelf: sandboxes, clock, ...(programs && { programs }) });
  const given = async (made: Promise<SandboxRuntime>) => overridden(await made, runtime);
  const { claim } = real;
  return overridden(
    {
      ...real,
      create: (spec, call) => given(real.create(spec, call)),
      open: (id, call) => given(real.open(id, call)),
      ...(claim && { claim: (id, spec, call) => given(claim(id, spec, call)) }),
    },
    provider,
  );
}

function sourceControlOf(
  { clock, repositories }: Shelves,
  { sourceControl, repository }: UseCaseFixtureOptions,
  life: Life,
): SourceControl {
  const real = memorySourceControl(repositories, clock);
  return overridden(
    {
      ...real,
      open: async (path, call) => mortal(overridden(await real.open(path, call), repository), life),
    },
    sourceControl,
  );
}
