// Everything an implementor of a port may import, and nothing it may not.
export {
  type ChannelCommand,
  type ChannelTarget,
  type CommandOutcome,
  ExecChannel,
  exitStatusOf,
  whatToRun,
  type OutputListener,
  type RunningCommand,
} from './channel/exec-channel.ts';
export type { CommandShell } from './channel/command-shell.ts';
export { CALL_VARIABLE, KILL_FUNCTION } from './channel/kill-tree.ts';
export { MarkerSplitter } from './channel/marker-splitter.ts';
export { printfFormat, quoted } from './channel/shell-text.ts';
export type { Command } from './domain/command.ts';
export { assertPort } from './domain/assert-port.ts';
export {
  type Assurance,
  CONTROLS,
  type Control,
  type ControlName,
  MANDATORY_CONTROLS,
  missingControls,
} from './domain/assurance.ts';
export type { ChangedPath, DirectoryChild } from './domain/changed-path.ts';
export {
  ERROR_CODES,
  isLitterboxError,
  LitterboxError,
  type LitterboxErrorCode,
  type LitterboxErrorDetails,
} from './domain/errors.ts';
export { reach } from './domain/failpoint.ts';
export { ObjectId, RepositoryId, SandboxId } from './domain/ids.ts';
export type { Policy, PortPolicy, ServicePolicy } from './domain/policy.ts';
export { isHostName, LOCAL_HOST, parseProviderKey, type ProviderKey, providerKey } from './domain/provider-key.ts';
export { decodeRaw, encodeRaw } from './domain/raw-text.ts';
export { sha256 } from './domain/sha256.ts';
export { shown } from './domain/shown.ts';
export { CORE_LIMIT_BYTES, REFUSED_COMMANDS, RLIMIT_CORE } from './places/refused-arguments.ts';
export { AF_UNIX, REFUSED_REQUESTS, SOCKET_PROTOCOLS } from './places/socket-protocols.ts';
export { foldedPath } from './domain/folded-path.ts';
export { whatRunsLater } from './domain/known-files.ts';
export { UNSEEN } from './domain/unseen.ts';
export { visibleName } from './domain/visible.ts';
export { MAX_SLUG_CHARACTERS, type Slug, type SlugResult, slugify } from './domain/slug.ts';
export type { ApprovalRequest, Approver } from './ports/approver.ts';
export type { AuditEntry, AuditFinish, AuditLog, AuditStart } from './ports/audit-log.ts';
export type { ByteStream } from './ports/byte-stream.ts';
export type { Asker, CallOptions, Progress, ProgressOptions } from './ports/call.ts';
export type { Clock } from './ports/clock.ts';
export { ALWAYS_LEAN, type Heap } from './ports/heap.ts';
export { type UpstreamProxy, upstreamProxyOf } from './config/upstream-proxy.ts';
export type { GateBooks, GatePolicy, GateReport, NetworkGate, OpenGate } from './ports/network-gate.ts';
export type { OpenPort } from './ports/open-port.ts';
export type { PooledSandbox, SandboxPool } from './ports/sandbox-pool.ts';
export type { PoolFiller } from './ports/pool-filler.ts';
export type { DirectorySync, HostDirectory, SyncOptions, SyncReport } from './ports/directory-sync.ts';
export type {
  FileStat,
  FileType,
  Host,
  HostFacts,
  HostFiles,
  NamespaceLoopback,
  NetworkNamespace,
  SocketAddress,
} from './ports/host.ts';
export type { Hosts, KnownHost, OpenedHost } from './ports/hosts.ts';
export type { ExitStatus, OutputChunk, ProcessHandle, ProcessSpec, SignalName, TerminalSize } from './ports/process.ts';
export type {
  ProviderFactory,
  ProviderLoader,
  ProviderMachine,
  Providers,
  WaitOptions,
} from './ports/providers.ts';
export type {
  LimitName,
  ProbeCheck,
  ProbeReport,
  ProviderTraits,
  RemoveOptions,
  ResourceLimits,
  RuntimeStatus,
  SandboxProvider,
  SandboxRoot,
  SandboxSpec,
  WorkspaceSource,
} from './ports/sandbox-provider.ts';
export type { ChangeMark, ChangeScan, ResourceUsage, SandboxRuntime } from './ports/sandbox-runtime.ts';
export type { KeeperAnswer, KeeperRequest, Keepers } from './ports/keepers.ts';
export type { Forward, PortForwarder } from './ports/port-forwarder.ts';
export type { ImageStore } from './ports/image-store.ts';
export type { KeptSetup, SetupStore } from './ports/setup-store.ts';
export type { SnapshotName, SnapshotProvider } from './ports/snapshot-provider.ts';
export type {
  Base,
  BaseDescription,
  BaseSource,
  DiffOptions,
  ExportPlan,
  FetchedRepository,
  FileChange,
  FoundBase,
  Integration,
  IntegrationPlan,
  IntegrationResult,
  LogEntry,
  Milestone,
  OpenOptions,
  PlanRequest,
  RecordRequest,
  RecordResult,
  RecordWarning,
  Revision,
  RevisionMessage,
  RiskyChange,
  RecordedWork,
  SandboxHistory,
  SourceControl,
  SourceRepository,
  LargeFileState,
  SubmoduleState,
  TreeOptions,
} from './ports/source-control.ts';
export type {
  AssignedPort,
  JournalEntry,
  Lease,
  LitterboxEvent,
  SandboxChange,
  SandboxRecord,
  SandboxState,
  Spending,
  StateStore,
} from './ports/state-store.ts';
export { assertClaimable, type MadeSandbox, pooledMark, takeMark, unlike } from './places/claim-pooled.ts';
export { baseEnvironment } from './places/base-environment.ts';
export { allowedProcessors, chooseProcessors, parseProcessors } from './places/processors.ts';
export { TEMPORARY_DIRECTORIES, temporaryBytes } from './places/temporary-directories.ts';
export { endSessionScript, type SessionLeavings } from './places/end-session.ts';
export { etcDirectoryScript } from './places/etc-directory.ts';
export { PROCESS_ONE } from './places/first-process.ts';
export { INSIDE } from './places/inside.ts';
export { meetsOwnPlaces } from './places/meets-own-places.ts';
export type { Isolation, Place, PlaceLimits } from './places/isolation.ts';
export { type ExpectedPlace, judgeFacts } from './places/judge-facts.ts';
export { factFilesScript, HOST_NAMESPACES_SCRIPT, type KernelFacts } from './places/kernel-facts.ts';
export { MASKED_PROC_DIRECTORIES, MASKED_PROC_FILES, READ_ONLY_PROC } from './places/kernel-paths.ts';
export { ownNames } from './places/own-names.ts';
export { type Description, parseDescription } from './places/parse-description.ts';
export { type PlaceFiles, placeFilesOf } from './places/place-files.ts';
export { placeProvider, type PlaceProviderOptions } from './places/place-provider.ts';
export { type PlaceInput, PlaceRuntime } from './places/place-runtime.ts';
export type { Launch, SessionInput } from './places/place-session.ts';
export { readDescription } from './places/read-description.ts';
export { alreadyThere, cannotHonour, notHere } from './places/refusals.ts';
export { seccompProfile } from './places/seccomp-profile.ts';
export type { KeptService, ServiceState, ServiceStatus } from './services/kept-service.ts';
export { SandboxServices, type SandboxServicesInput } from './services/sandbox-services.ts';
export { ChangeScanner, type ScannerInput } from './scanning/change-scanner.ts';
export {
  CAN_MAKE_DISKS,
  copyDisk,
  DISK_REMEDY,
  type DiskImage,
  makeDisk,
  mountDisk,
  RESERVE_DISK,
} from './disks/disk-image.ts';
export { type BaseTreesInput, ensureBaseTree } from './trees/base-trees.ts';
export { ensureNewerFiles, type NewerFiles } from './trees/newer-files.ts';
export {
  ASK_BEFORE_NAME,
  type ConfinedCopy,
  confinedCopy,
  COPY_EXITS,
  copyError,
  COPYING,
  copyTree,
  type StillCopy,
  stillCopy,
  toldCopy,
} from './trees/copy-layers.ts';
export {
  keepLayers,
  type KeepSetupInput,
  keepSetupScript,
  SETUP_KEY,
  TAKE_LAYERS_BACK,
} from './trees/keep-setup.ts';
export { type LayeredDescription, LayerSnapshots, type LayerSnapshotsInput } from './trees/layer-snapshots.ts';
export { runAsking, runScript, runScriptOrFail, scriptError, type ScriptResult } from './trees/run-script.ts';
export { makeUnfinished, REMOVE_TREE, sweepUnfinished, UNFINISHED } from './trees/unfinished.ts';
