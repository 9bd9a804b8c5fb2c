// What embedders import.
export { type ChannelCommand, whatToRun, type OutputListener, type RunningCommand } from './channel/channel-command.ts';
export { type ChannelTarget, ExecChannel } from './channel/exec-channel.ts';
export { type CommandOutcome, exitStatusOf } from './channel/command-outcome.ts';
export { BoundedOutput } from './channel/bounded-output.ts';
export type { CommandShell } from './channel/command-shell.ts';
export { CallGuard } from './channel/call-guard.ts';
export { CALL_VARIABLE, KILL_FUNCTION } from './channel/kill-tree.ts';
export { printfFormat, quoted } from './channel/shell-text.ts';
export type { ConfigOverrides } from './config/config-overrides.ts';
export type { Config } from './config/config-schema.ts';
export { type AgentTable, agentsOf } from './config/agent-table.ts';
export type { ConfigWarning } from './config/config-warning.ts';
export { contentHash } from './config/content-hash.ts';
export { DEFAULT_IMAGE } from './config/default-image.ts';
export { nearestName } from './config/nearest-name.ts';
export { isWorkdir, normalPath } from './config/settings/normal-path.ts';
export {
  DEFAULT_LIMITS,
  DEFAULT_SETUP_TIMEOUT_MS,
  DEFAULT_TIMEOUT_MS,
  type PolicyFacts,
  policyOf,
} from './config/policy-of.ts';
export { type TrustSummary, trustSummary } from './config/trust-summary.ts';
export { type UpstreamProxy, upstreamProxyOf } from './config/upstream-proxy.ts';
export { trustText, widens } from './config/trust-text.ts';
export { isReservedVariable, variableProblem } from './config/settings/variable-problem.ts';
export { workdirOf } from './config/workdir-of.ts';
export type { Command } from './domain/processes/command.ts';
export { testIn } from './domain/processes/test-in.ts';
export {
  type Assurance,
  CONTROLS,
  type Control,
  type ControlName,
  MANDATORY_CONTROLS,
  missingControls,
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
  stepForPrograms,
  worded,
} from './domain/errors/next-step.ts';
export { hintForPeople, STEP_COMMANDS, stepCommand } from './operations/declare/step-command.ts';
export { detected, ECOSYSTEMS, type Ecosystem } from './domain/sandbox/ecosystems.ts';
export { placementLines } from './domain/sandbox/placement-lines.ts';
export {
  type GroupedRisks,
  groupedRisks,
  type RiskEntry,
  type RiskGroup,
  riskLines,
} from './domain/paths/grouped-risks.ts';
export type { MachineLoad } from './domain/sandbox/machine-load.ts';
export type { HostVerdict, PlacedHost, Placement } from './domain/sandbox/placement.ts';
export type { HostGauge } from './ports/machine/host-gauge.ts';
export type { SecretSource } from './ports/person/secret-source.ts';
export { originText, type SecretOrigin } from './domain/secrets/secret-origin.ts';
export { ObjectId, RepositoryId, SandboxId } from './domain/sandbox/ids.ts';
export type { NetworkMode, NetworkPolicy, Policy } from './domain/sandbox/policy.ts';
export { decodeRaw, encodeRaw } from './domain/text/raw-text.ts';
export { shown } from './domain/text/shown.ts';
export { MAX_SLUG_CHARACTERS, type Slug, type SlugResult, slugify } from './domain/sandbox/slug.ts';
export type { ApprovalRequest, Approver } from './ports/person/approver.ts';
export type { AuditEntry, AuditFinish, AuditLog, AuditStart } from './ports/state/audit-log.ts';
export type { ByteStream } from './ports/common/byte-stream.ts';
export type { Asker, CallOptions, Progress, ProgressOptions } from './ports/common/call.ts';
export type { Clock } from './ports/common/clock.ts';
export { ALWAYS_LEAN, type Heap } from './ports/machine/heap.ts';
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
export type { FileType } from './domain/paths/file-type.ts';
export type { FileStat, Host, HostFacts, HostFiles, SocketAddress } from './ports/machine/host.ts';
export type { ExitStatus } from './domain/processes/exit-status.ts';
export type { SignalName } from './domain/processes/signal-name.ts';
export type { OutputChunk, ProcessHandle, ProcessSpec, TerminalSize } from './ports/common/process.ts';
export type { LimitName, ResourceLimits } from './domain/sandbox/resource-limits.ts';
export type { SandboxRoot } from './domain/sandbox/sandbox-root.ts';
export type { Hosts, KnownHost, OpenedHost } from './ports/machine/hosts.ts';
export type {
  ProviderFactory,
  ProviderLoader,
  ProviderMachine,
  Providers,
  WaitOptions,
} from './ports/sandbox/providers.ts';
export {
  LOCAL_HOST,
  normalHostName,
  parseProviderKey,
  type ProviderKey,
  type ProviderPlace,
  providerKey,
} from './domain/sandbox/provider-key.ts';
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
export {
  type KeptSnapshot,
  MAX_SNAPSHOT_NOTE_BYTES,
  type SnapshotName,
  type SnapshotProvider,
  type SnapshotUsage,
  type TakeSnapshotOptions,
} from './ports/sandbox/snapshot-provider.ts';
export type { FileChange } from './ports/source-control/file-change.ts';
export { SeenChanges } from './domain/patch/seen-changes.ts';
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
export { joinBytes } from './domain/text/join-bytes.ts';
export { checkedMessage, MAX_MESSAGE_BYTES, revisionMessage } from './domain/sandbox/revision-message.ts';
export { jsonEscape, UNSEEN } from './domain/text/unseen.ts';
export { visible, visibleName } from './domain/text/visible.ts';
export { workspacePath } from './domain/paths/workspace-path.ts';
export type { FileStatus } from './inside/file-tree.ts';
export type { FoundName } from './inside/walk-files.ts';
export type { FileTreeChange } from './use-cases/work/manage-files.ts';
export type { WriteFileInput, WriteFileResult } from './use-cases/work/access-files.ts';
export { MAX_FILE_BYTES } from './inside/file-contents.ts';
export { portUrl } from './operations/work/list-ports.ts';
export type { Explanation } from './operations/explain.ts';
export { planDocument } from './operations/review/integrate.ts';
export type { ComputeUse } from './use-cases/review/read-compute.ts';
export type { NotesOfSandbox } from './use-cases/review/write-notes.ts';
export type { ReviewNote } from './ports/state/review-note.ts';
export type { CommandForm, Operation, OperationOptions, Parsed, UseCases } from './operations/declare/operation.ts';
export { OPERATIONS } from './operations/all-operations.ts';
export * from './operations/operations.ts';
export { describeSandbox } from './operations/describe-sandbox.ts';
export { jsonSchemaOf, type JsonSchema } from './operations/declare/json-schema-of.ts';
export { parseInput } from './operations/declare/parse-input.ts';
export type { TracedLines, WorkTrace } from './use-cases/review/trace-work.ts';
export type { SandboxDiff } from './operations/review/read-diff.ts';
export { type FieldSchema, type Wording, wordings } from './operations/declare/wording.ts';
export type { FilesArchive } from './operations/work/archive-files.ts';
export type { AttachInput } from './use-cases/work/attach-input.ts';
export type { AttachedProcess, FinishedProcess } from './use-cases/work/attached-process.ts';
export type { RunState, RunStateResult } from './use-cases/session/change-run-state.ts';
export type { WorkspaceChange } from './use-cases/work/change-workspace.ts';
export { AskProviders } from './use-cases/common/ask-providers.ts';
export type { ProviderReport } from './use-cases/decide/choose-provider.ts';
export type { CloneRepositoryInput, ClonedRepository } from './use-cases/work/clone-repository.ts';
export { isUp, type LogRequest, type ServiceChange, type ServiceRequest } from './use-cases/work/control-services.ts';
export { KeepSandbox } from './use-cases/keeper/keep-sandbox.ts';
export type { KeeperStatus, PortStatus, ServiceOutput } from './use-cases/keeper/keeper-status.ts';
export type { WayStatus } from './use-cases/keeper/kept-way.ts';
export { ReachKeeper } from './use-cases/keeper/reach-keeper.ts';
export type { ServiceState, ServiceStatus } from './services/kept-service.ts';
export type { KeeperAnswer, KeeperRequest, Keepers } from './ports/network/keepers.ts';
export type { Forward, PortForwarder } from './ports/network/port-forwarder.ts';
export type { FailedFork, ForkResult, ForksResult } from './use-cases/create/fork-sandbox.ts';
export { type RaceInput, type Racer, RACER_VARIABLE, type RaceResult } from './use-cases/go-back/race-forks.ts';
export type { JudgedSandbox, JudgeResult } from './use-cases/go-back/judge-sandboxes.ts';
export type { RacerMarks } from './use-cases/go-back/rank-racers.ts';
export type { BroughtArtefacts, WantedArtefacts } from './use-cases/decide/bring-artefacts.ts';
export type {
  CreateOptions,
  CreateSandboxInput,
  CreateSandboxResult,
  PersonsGift,
} from './use-cases/create/create-options.ts';
export {
  type CreatedWith,
  type DependencyAdvice,
  dependencyAdvice,
  isBare,
} from './use-cases/decide/dependency-advice.ts';
export type { MissingDependencies } from './use-cases/decide/missing-dependencies.ts';
export type { CheckedSecret, NamedSecret } from './use-cases/decide/check-secrets.ts';
export { CONFIG_FILE, type PolicyOverrides, type ReadConfig } from './use-cases/decide/decide-policy.ts';
export { DeleteSandbox } from './use-cases/remove/delete-sandbox.ts';
export type { EditFileInput, EditResult } from './use-cases/work/edit-file.ts';
export type { Inspection } from './use-cases/work/inspect-sandbox.ts';
export type { PatchFileInput, PatchResult } from './use-cases/work/patch-file.ts';
export type { LineSlice } from './use-cases/work/read-lines.ts';
export type { FoundLine } from './use-cases/work/search-files.ts';
export type { TakenBack } from './use-cases/work/spill-output.ts';
export { AcceptWork, type GivenConsent, type OfferedWork, type ShowUnseen } from './use-cases/review/accept-work.ts';
export type { ExportedTree, ExportTreeInput } from './use-cases/review/export-tree.ts';
export { FindSandbox } from './use-cases/common/find-sandbox.ts';
export type {
  IntegrateInput,
  IntegrateResult,
  OfferedConflict,
  OfferedParts,
} from './use-cases/remove/integrate-changes.ts';
export type { ShownPlan } from './use-cases/review/shown-plan.ts';
export { type Look, LookAtSandbox } from './use-cases/review/look-at-sandbox.ts';
export type { PastCall, PastOutput } from './use-cases/review/read-call.ts';
export type { ForecastLine, MergeForecast } from './use-cases/review/forecast-merges.ts';
export type { BlamedChange, FileBlame } from './use-cases/review/blame-file.ts';
export { ReadUsage, type ShownUsage } from './use-cases/review/read-usage.ts';
export { type Proof, ReadProof, type TestRun } from './use-cases/review/read-proof.ts';
export type { CalledRevision, HistoryEntry, QuietCall } from './use-cases/review/read-history.ts';
export type { RestoreSnapshotResult } from './use-cases/go-back/restore-snapshot.ts';
export type { SandboxSnapshot } from './use-cases/common/sandbox-snapshots.ts';
export { isSnapshotId, parseSnapshotId } from './domain/text/snapshot-id.ts';
export type { TakeSnapshotResult } from './use-cases/go-back/take-snapshot.ts';
export type { SnapshotNote } from './domain/sandbox/snapshot-note.ts';
export {
  type LastCall,
  type ListedConflicts,
  ListSandboxes,
  type SandboxSummary,
  type ShownState,
} from './use-cases/review/list-sandboxes.ts';
export { listRuntimes } from './use-cases/common/list-runtimes.ts';
export type { InstalledSandbox } from './use-cases/prepare/install-image.ts';
export { NetworkLedger } from './use-cases/network/network-ledger.ts';
export { OpenNetwork, type NetworkSession } from './use-cases/network/open-network.ts';
export { OpenRepository } from './use-cases/common/open-repository.ts';
export { ForwardPorts } from './use-cases/session/forward-ports.ts';
export { OpenSandboxes } from './use-cases/session/open-sandboxes.ts';
export type { RestoreResult, UndoResult } from './use-cases/go-back/restore-revision.ts';
export type { RunCommandInput, RunCommandResult } from './use-cases/work/run-command.ts';
export { SetUpSandbox } from './use-cases/prepare/set-up-sandbox.ts';
export { parseByteSize } from './config/settings/parse-byte-size.ts';
export { parseDuration } from './config/settings/parse-duration.ts';
export type { RevisionMessage } from './domain/sandbox/revision-message.ts';
export { FindShell } from './use-cases/work/find-shell.ts';
export { PERSON_USE_CASES } from './wiring/person-use-cases.ts';
