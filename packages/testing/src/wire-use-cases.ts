import {
  AccessFiles,
  type Approver,
  type Asker,
  AcceptWork,
  AskProviders,
  AssignPorts,
  AttachProcess,
  BringArtefacts,
  type AuditLog,
  ChangeRunState,
  ChangeWorkspace,
  ChooseProvider,
  ClearPool,
  type Clock,
  CloneRepository,
  ControlServices,
  CreateSandbox,
  CutMilestone,
  DecidePolicy,
  DeleteSandbox,
  EditFile,
  ExportTree,
  FillPool,
  FindSandbox,
  ForkSandbox,
  type Heap,
  type Host,
  type HostGauge,
  type Hosts,
  InspectSandbox,
  InstallImage,
  IntegrateChanges,
  type Keepers,
  KeepSandbox,
  ListFiles,
  ListSandboxes,
  ListSnapshots,
  LookAtSandbox,
  LitterboxError,
  type NetworkGate,
  OpenNetwork,
  OpenRepository,
  OpenSandboxes,
  PatchFile,
  PlaceSandbox,
  type PoolFiller,
  type PortForwarder,
  type Providers,
  RaceForks,
  ReachKeeper,
  ReadAudit,
  ReadHistory,
  ReadLines,
  Reconcile,
  RecordRevision,
  RemoveSnapshot,
  RestoreRecords,
  RestoreRevision,
  RestoreSnapshot,
  RunCommand,
  type SandboxPool,
  SearchFiles,
  SettleSandbox,
  SetUpSandbox,
  type SourceControl,
  SpillOutput,
  type StateStore,
  TakePooled,
  TakeSnapshot,
  TrustConfig,
} from '@litterbox/core';
import { AuditRead, type DirectorySync, FindShell, ReadClone } from '@litterbox/core/agent';

/** Everything that use cases are made of. */
export interface Ports {
  readonly providers: Providers;
  readonly sourceControl: SourceControl;
  readonly state: StateStore;
  readonly audit: AuditLog;
  readonly pool: SandboxPool;
  readonly poolFiller: PoolFiller;
  readonly host: Host;
  readonly hosts: Pick<Hosts, 'open' | 'preferred'>;
  readonly hostGauge: HostGauge;
  readonly clock: Clock;
  readonly heap: Heap;
  readonly forwarder: PortForwarder;
  readonly keepers: Keepers;
  readonly networkGate: NetworkGate;
  readonly approver: Approver;
  readonly repositoryPath: string;
  readonly actor: string;
  readonly asker: Asker;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export type WiredUseCases = ReturnType<typeof wireUseCases>;

/** Sandboxes in memory are on the machine of the person. */
const NOTHING_TO_SYNC: DirectorySync = {
  sync: () =>
    Promise.reject(new LitterboxError('UNSUPPORTED', 'There is one machine in memory.', { operation: 'sync' })),
};

/** The use cases over these ports, wired as the composition root of `litterbox` does it. */
export function wireUseCases(ports: Ports) {
  const { providers, sourceControl, state, audit, pool, host, clock, heap, forwarder, keepers, actor } = ports;
  const askProviders = new AskProviders(providers, clock);
  const openRepository = new OpenRepository(sourceControl, ports.repositoryPath, ports.asker);
  const assignPorts = new AssignPorts(state, forwarder);
  const openNetwork = new OpenNetwork(ports.networkGate, audit, state, clock, ports.hosts);
  const keepSandbox = new KeepSandbox(state, providers, keepers, forwarder, assignPorts, openNetwork, clock);
  const reachKeeper = new ReachKeeper(keepers, keepSandbox);
  const openSandboxes = new OpenSandboxes(providers, openRepository, reachKeeper);
  const findSandbox = new FindSandbox(state, openRepository, audit);
  const chooseProvider = new ChooseProvider(providers, askProviders, ports.hosts);
  const placeSandbox = new PlaceSandbox(ports.hostGauge, state, chooseProvider, clock);
  const decidePolicy = new DecidePolicy(host, state, ports.environment);
  const recordRevision = new RecordRevision(state, openRepository, heap, audit);
  const setUpSandbox = new SetUpSandbox(state, recordRevision, openNetwork, openRepository, ports.asker);
  const takePooled = new TakePooled(pool);
  const clearPool = new ClearPool(openRepository, state, pool, audit, providers, askProviders, actor);
  const installImage = new InstallImage(state, audit, openNetwork, actor);
  const bringArtefacts = new BringArtefacts(host, NOTHING_TO_SYNC);
  const fillPool = new FillPool(
    openRepository,
    state,
    pool,
    audit,
    decidePolicy,
    placeSandbox,
    openNetwork,
    installImage,
    clearPool,
    heap,
    actor,
  );
  const createSandbox = new CreateSandbox(
    openRepository,
    state,
    audit,
    decidePolicy,
    placeSandbox,
    openSandboxes,
    setUpSandbox,
    assignPorts,
    reachKeeper,
    openNetwork,
    recordRevision,
    takePooled,
    ports.poolFiller,
    installImage,
    bringArtefacts,
    clock,
    actor,
    ports.asker,
  );
  const changeWorkspace = new ChangeWorkspace(findSandbox, openSandboxes, state, audit, recordRevision, actor);
  const inspectSandbox = new InspectSandbox(findSandbox, openSandboxes, state, audit, actor);
  const settleSandbox = new SettleSandbox(state, openSandboxes, recordRevision);
  const lookAtSandbox = new LookAtSandbox(findSandbox, openRepository, state, settleSandbox, ports.asker);
  const acceptWork = new AcceptWork(state, openRepository, ports.approver, lookAtSandbox);
  const deleteSandbox = new DeleteSandbox(
    findSandbox,
    openRepository,
    state,
    audit,
    openSandboxes,
    settleSandbox,
    reachKeeper,
    askProviders,
    actor,
  );
  const restoreRevision = new RestoreRevision(
    findSandbox,
    openRepository,
    state,
    audit,
    openSandboxes,
    recordRevision,
    setUpSandbox,
    installImage,
    bringArtefacts,
    reachKeeper,
    heap,
    actor,
  );
  const restoreSnapshot = new RestoreSnapshot(
    findSandbox,
    openRepository,
    state,
    audit,
    openSandboxes,
    recordRevision,
    reachKeeper,
    actor,
  );
  const restoreRecords = new RestoreRecords(state, pool, providers, askProviders, decidePolicy, placeSandbox, clock);
  const runCommand = new RunCommand(changeWorkspace);
  const forkSandbox = new ForkSandbox(
    findSandbox,
    openRepository,
    state,
    audit,
    openSandboxes,
    recordRevision,
    assignPorts,
    createSandbox,
    clock,
    actor,
  );
  return {
    openRepository,
    assignPorts,
    openNetwork,
    keepSandbox,
    reachKeeper,
    openSandboxes,
    findSandbox,
    findShell: new FindShell(openSandboxes),
    chooseProvider,
    placeSandbox,
    decidePolicy,
    recordRevision,
    setUpSandbox,
    takePooled,
    clearPool,
    installImage,
    fillPool,
    createSandbox,
    changeWorkspace,
    inspectSandbox,
    settleSandbox,
    deleteSandbox,
    restoreRevision,
    restoreSnapshot,
    restoreRecords,
    runCommand,
    accessFiles: new AccessFiles(findSandbox, openSandboxes, state, changeWorkspace),
    editFile: new EditFile(changeWorkspace),
    patchFile: new PatchFile(changeWorkspace),
    controlServices: new ControlServices(changeWorkspace, inspectSandbox, findSandbox, reachKeeper),
    readLines: new ReadLines(inspectSandbox),
    listFiles: new ListFiles(inspectSandbox),
    searchFiles: new SearchFiles(inspectSandbox),
    cloneRepository: new CloneRepository(inspectSandbox, sourceControl),
    readClone: new ReadClone(inspectSandbox),
    spillOutput: new SpillOutput(findSandbox, openSandboxes),
    cutMilestone: new CutMilestone(findSandbox, openRepository, state, audit, settleSandbox, actor, ports.asker),
    listSandboxes: new ListSandboxes(openRepository, state, audit, askProviders),
    auditRead: new AuditRead(findSandbox, openRepository, audit, actor),
    readHistory: new ReadHistory(findSandbox, openRepository, audit),
    attachProcess: new AttachProcess(findSandbox, openSandboxes, state, audit, recordRevision, actor),
    integrateChanges: new IntegrateChanges(
      findSandbox,
      openRepository,
      state,
      audit,
      acceptWork,
      lookAtSandbox,
      deleteSandbox,
      settleSandbox,
      actor,
    ),
    lookAtSandbox,
    exportTree: new ExportTree(findSandbox, openRepository, audit, acceptWork, actor),
    changeRunState: new ChangeRunState(findSandbox, state, audit, openSandboxes, reachKeeper, actor),
    forkSandbox,
    raceForks: new RaceForks(forkSandbox, runCommand, restoreRevision, openRepository),
    listSnapshots: new ListSnapshots(findSandbox, openSandboxes),
    removeSnapshot: new RemoveSnapshot(findSandbox, state, audit, openSandboxes, actor),
    takeSnapshot: new TakeSnapshot(findSandbox, openRepository, state, audit, openSandboxes, recordRevision, actor),
    trustConfig: new TrustConfig(openRepository, decidePolicy, state, audit, actor),
    readAudit: new ReadAudit(findSandbox, openRepository, audit),
    reconcile: new Reconcile(
      openRepository,
      state,
      openSandboxes,
      deleteSandbox,
      restoreRevision,
      restoreSnapshot,
      restoreRecords,
      clearPool,
      askProviders,
    ),
  };
}
