export { createLitterbox, type Litterbox } from './create-litterbox.ts';
export type { Performer } from './create-performer.ts';
export { openForPeople as createPerformer } from './open-for-people.ts';
export type { ProviderFactory, ProviderLoader, ProviderMachine } from '@litterbox/core/agent';
export type { LitterboxOptions, LitterboxParts } from './litterbox-options.ts';
export type { ProviderSource } from './open-providers.ts';
export { defaultStateDirectory } from './load-parts.ts';
export {
  type ApplyOptions,
  type CommandResult,
  type ForkInput,
  type MergeOptions,
  type RunOptions,
  Sandbox,
} from './sandbox.ts';
export type { Content } from './sandbox/read-content.ts';
export { type ChangeOptions, SandboxFiles, type WriteOptions } from './sandbox/sandbox-files.ts';
export { type KeepOptions, KeptCommand } from './sandbox/kept-command.ts';
export { type SpawnOptions, SpawnedProcess, type SpawnResult } from './sandbox/spawned-process.ts';
export type * from './operation-options.ts';
export { type DescribedOperation, operations } from './operations.ts';
export type {
  NoFacts,
  SandboxEvent,
  SandboxEventBase,
  SandboxEventFacts,
  SandboxEventType,
} from './watch/sandbox-event.ts';
export type { TextListeners } from './sandbox/hear-text.ts';
// What a program meets in the answers: so that nobody has to install the core beside the library.
export {
  type AgentTable,
  agentsOf,
  type AuditEntry,
  type CallOptions,
  type FailedFork,
  type AttachedProcess,
  type FileChange,
  type FileStatus,
  type FoundName,
  hintForPeople,
  type IntegrateResult,
  type IntegrationPlan,
  isLitterboxError,
  LitterboxError,
  type LitterboxErrorCode,
  type LogEntry,
  type Milestone,
  type OutputChunk,
  type Progress,
  type LastCall,
  type RecordedWork,
  type RevisionResult,
  type RestoreSnapshotResult,
  type SandboxSnapshot,
  type SandboxSummary,
  type ShownState,
  type SnapshotNote,
  type TakeSnapshotResult,
  type UndoResult,
  type Assurance,
  type CreateSandboxResult,
  type JsonSchema,
  type LitterboxEvent,
  type Operation,
  type RestoreResult,
  type RunState,
  type RunStateResult,
  type SandboxRecord,
  type ServiceOutput,
  type ServiceStatus,
  type ShownPlan,
  type ComputeUse,
  type ShownUsage,
  visible,
} from '@litterbox/core';
