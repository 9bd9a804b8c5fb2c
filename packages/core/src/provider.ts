// Everything an implementor of a port may import, and nothing it may not.
export { type ChannelCommand, whatToRun, type OutputListener, type RunningCommand } from './channel/channel-command.ts';
export { type ChannelTarget, ExecChannel } from './channel/exec-channel.ts';
export { type CommandOutcome, exitStatusOf } from './channel/command-outcome.ts';
export type { CommandShell } from './channel/command-shell.ts';
export { CallGuard } from './channel/call-guard.ts';
export { CALL_VARIABLE, KILL_FUNCTION } from './channel/kill-tree.ts';
export { interleaved } from './channel/interleaved.ts';
export { untilAborted } from './channel/until-aborted.ts';
export type { OutputSource } from './ports/common/output-source.ts';
export { MarkerSplitter } from './channel/marker-splitter.ts';
export { printfFormat, quoted } from './channel/shell-text.ts';
export type { Command } from './domain/processes/command.ts';
export { assertPort } from './domain/errors/assert-port.ts';
export {
  type Assurance,
  CONTROLS,
  type Control,
  type ControlName,
  MANDATORY_CONTROLS,
  missingControls,
  refusedControls,
} from './domain/sandbox/assurance.ts';
export type { ChangedPath, DirectoryChild } from './domain/paths/changed-path.ts';
export {
  ERROR_CODES,
  isLitterboxError,
  LitterboxError,
  type LitterboxErrorCode,
  type GivenDetails,
  type LitterboxErrorDetails,
} from './domain/errors/errors.ts';
export {
  type Advice,
  advice,
  type Hint,
  type NextStep,
  step,
  type StepInputs,
  type StepName,
} from './domain/errors/next-step.ts';
export { NETWORK_FILE_SYSTEMS, networkFileSystem } from './domain/text/network-file-system.ts';
export { SeenChanges } from './domain/patch/seen-changes.ts';
export { failpoint } from './domain/errors/failpoint.ts';
export { ObjectId, RepositoryId, SandboxId } from './domain/sandbox/ids.ts';
export { type EndpointPolicy, isListedPath } from './domain/secrets/endpoint-policy.ts';
export type { Policy, PortPolicy, ServicePolicy } from './domain/sandbox/policy.ts';
export {
  isHostName,
  LOCAL_HOST,
  normalHostName,
  parseProviderKey,
  type ProviderKey,
  providerKey,
} from './domain/sandbox/provider-key.ts';
export { hostNames } from './domain/sandbox/host-names.ts';
export { decodeRaw, encodeRaw } from './domain/text/raw-text.ts';
export { sha256 } from './domain/text/sha256.ts';
export { shown } from './domain/text/shown.ts';
export { foldedPath } from './domain/text/folded-path.ts';
export { INSIDE } from './domain/sandbox/inside.ts';
export { joinBytes } from './domain/text/join-bytes.ts';
export { meetsOwnPlaces } from './domain/sandbox/meets-own-places.ts';
export { whatRunsLater } from './domain/paths/known-files.ts';
export { includedPath, isWithinAny } from './domain/sandbox/included-path.ts';
export {
  SECRET_LOOK_BYTES,
  SECRET_PATTERNS,
  secretByName,
  secretTexts,
  type SecretText,
} from './domain/secrets/secret-files.ts';
export { UNSEEN } from './domain/text/unseen.ts';
export { visibleName } from './domain/text/visible.ts';
export { MAX_SLUG_CHARACTERS, type Slug, type SlugResult, slugify } from './domain/sandbox/slug.ts';
export type { ApprovalRequest, Approver } from './ports/person/approver.ts';
export type { AuditEntry, AuditFinish, AuditLog, AuditStart } from './ports/state/audit-log.ts';
export type { ByteStream } from './ports/common/byte-stream.ts';
export type { Asker, CallOptions, Progress, ProgressOptions } from './ports/common/call.ts';
export type { Clock } from './ports/common/clock.ts';
export { MAX_BLAMED_BYTES } from './ports/source-control/sandbox-histories.ts';
export { ALWAYS_LEAN, type Heap } from './ports/machine/heap.ts';
export { type UpstreamProxy, upstreamProxyOf } from './config/upstream-proxy.ts';
export type {
  EndpointBooks,
  EndpointGate,
  EndpointOutcome,
  EndpointRequest,
  EndRequest,
  ModelTokens,
} from './ports/network/endpoint-gate.ts';
export type { GateLedger, GatePolicy, GateReport, NetworkGate, OpenGate } from './ports/network/network-gate.ts';
export type { OpenPort } from './ports/common/open-port.ts';
export type { DirectorySync, HostDirectory, SyncOptions, SyncReport } from './ports/machine/directory-sync.ts';
export type { FileType } from './domain/paths/file-type.ts';
export type {
  FileStat,
  Host,
  HostFacts,
  HostFiles,
  HostPipes,
  PipeWriter,
  NamespaceLoopback,
  NetworkNamespace,
  SocketAddress,
} from './ports/machine/host.ts';
export type { ExitStatus } from './domain/processes/exit-status.ts';
export type { SignalName } from './domain/processes/signal-name.ts';
export type { OutputChunk, ProcessHandle, ProcessSpec, TerminalSize } from './ports/common/process.ts';
export type { MachineLoad } from './domain/sandbox/machine-load.ts';
export type { HostVerdict, PlacedHost, Placement } from './domain/sandbox/placement.ts';
export { LIMIT_KEYS, type LimitName, type ResourceLimits } from './domain/sandbox/resource-limits.ts';
export type { SandboxRoot } from './domain/sandbox/sandbox-root.ts';
export type { HostGauge } from './ports/machine/host-gauge.ts';
export { MAX_SECRET_CHARACTERS, type SecretSource } from './ports/person/secret-source.ts';
export { secretIn } from './domain/secrets/secret-in.ts';
export type { SecretBytes } from './domain/secrets/secret-bytes.ts';
export { originText, type SecretOrigin } from './domain/secrets/secret-origin.ts';
export type { Hosts, KnownHost, OpenedHost } from './ports/machine/hosts.ts';
export type {
  ProviderFactory,
  ProviderLoader,
  ProviderMachine,
  Providers,
  WaitOptions,
} from './ports/sandbox/providers.ts';
export type {
  Artefacts,
  LiveLower,
  NewerThanBuilt,
  ProbeCheck,
  ProbeReport,
  ProviderTraits,
  RemoveOptions,
  RuntimeStatus,
  SandboxProvider,
  SandboxSpec,
  WorkspaceSource,
} from './ports/sandbox/sandbox-provider.ts';
export type {
  ChangeMark,
  ChangeScan,
  ResourceUsage,
  SandboxRuntime,
  ScanOptions,
} from './ports/sandbox/sandbox-runtime.ts';
export type { KeeperAnswer, KeeperRequest, Keepers } from './ports/network/keepers.ts';
export type { Forward, PortForwarder } from './ports/network/port-forwarder.ts';
export type { ImageStore } from './ports/sandbox/image-store.ts';
export type { CachedSetup, SetupStore } from './ports/sandbox/setup-store.ts';
export {
  type KeptSnapshot,
  MAX_SNAPSHOT_NOTE_BYTES,
  type SnapshotName,
  type SnapshotProvider,
  type SnapshotUsage,
  type TakeSnapshotOptions,
} from './ports/sandbox/snapshot-provider.ts';
export type { FileChange } from './ports/source-control/file-change.ts';
export type {
  ConflictFile,
  ConflictPart,
  ConflictSide,
  ConflictSideName,
  SettledFile,
} from './ports/source-control/conflict-file.ts';
export type { FilePart, OfferedFile, OfferedHunk } from './ports/source-control/file-part.ts';
export type {
  Base,
  BaseDescription,
  BaseSource,
  ExportPlan,
  FoundBase,
  HeldBack,
  HeldFile,
  Integration,
  Forecast,
  ForecastConflict,
  ForecastOptions,
  IntegrationPlan,
  IntegrationResult,
  LargeFileState,
  PersonsRepository,
  PlanRequest,
  HalfRename,
  RiskyChange,
  SubmoduleState,
  TreeOptions,
  WorkTreeDrift,
} from './ports/source-control/persons-repository.ts';
export type {
  DiffOptions,
  LogEntry,
  Milestone,
  RecordRequest,
  RevisionResult,
  RecordWarning,
  Revision,
  BlamedLines,
  PrintedContent,
  RecordedWork,
  SandboxHistories,
  SandboxHistory,
} from './ports/source-control/sandbox-histories.ts';
export type {
  FetchedRepository,
  OpenOptions,
  SourceControl,
  SourceRepository,
} from './ports/source-control/source-control.ts';
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
  StateWrite,
} from './ports/state/state-store.ts';
export type { KeptService, ServiceState, ServiceStatus } from './services/kept-service.ts';
export { SandboxServices, type SandboxServicesInput } from './services/sandbox-services.ts';
export { checkedMessage, type RevisionMessage } from './domain/sandbox/revision-message.ts';
export { isConnectionLost, connectionLost } from './domain/errors/connection-lost.ts';
