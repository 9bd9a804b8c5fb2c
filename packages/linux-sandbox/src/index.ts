export { ensureArtefactLayer, type ArtefactLayer, type ArtefactLayerInput } from './artefacts/artefact-layer.ts';
export { ensureBaseTree, type BaseTreesInput } from './directory/base-trees.ts';
export {
  ASK_BEFORE_NAME,
  COPYING,
  COPY_EXITS,
  confinedCopy,
  copyError,
  copyTree,
  stillCopy,
  toldCopy,
  type ConfinedCopy,
  type StillCopy,
} from './directory/copy-layers.ts';
export { copiesPlan, type CopiedLayers } from './script/copies-plan.ts';
export { createOrRollBack, type CreateSteps } from './directory/create-or-roll-back.ts';
export {
  DEFAULT_LIMITS,
  describeCopy,
  describeDirectory,
  notInCopies,
  type DecidedLimits,
  type DirectoryDescription,
} from './directory/directory-description.ts';
export { directoryLayout, type DirectoryLayout } from './directory/directory-layout.ts';
export {
  isAbsolutePath,
  isDirectoryDescription,
  isObjectOf,
  type ReadDescription,
} from './directory/is-directory-description.ts';
export { TAKE_LAYERS_BACK, keepLayers } from './directory/keep-setup.ts';
export type { Layer } from './directory/layer.ts';
export { layTree } from './directory/lay-tree.ts';
export { LayerSnapshots, type LayerSnapshotsInput } from './snapshots/layer-snapshots.ts';
export { DISK_USAGE } from './snapshots/snapshot-usage.ts';
export {
  LayeredSetups,
  type KeptPlace,
  type LayeredSetupsInput,
  type SetUpDescription,
} from './directory/layered-setups.ts';
export { ensureNewerFiles, type NewerFiles } from './directory/newer-files.ts';
export { type NameList, sandboxStates } from './directory/sandbox-states.ts';
export { RunMarks } from './directory/run-marks.ts';
export {
  GIVEN,
  runAsking,
  runProgram,
  runProgramAsking,
  runScript,
  runScriptOrFail,
  type ScriptOptions,
  type ScriptResult,
  TAKE_GIVEN,
} from './script/run-script.ts';
export { scriptError } from './script/script-error.ts';
export {
  type FileShell,
  type FileShellAnswer,
  type FileShellOptions,
  ShellFiles,
} from './directory/shell-files.ts';
export {
  descriptionLine,
  SandboxDirectories,
  type RemovedDirectory,
  type SandboxDirectoriesInput,
  type StagedDirectory,
  type Removal,
  type Staging,
} from './directory/sandbox-directories.ts';
export { sandboxFilesOf, type SandboxFiles } from './directory/sandbox-files.ts';
export { SANDBOX_USER } from './directory/sandbox-user.ts';
export { baseTreeName, type TreeKind } from './directory/tree-kind.ts';
export {
  UNFINISHED,
  ensureDirectories,
  makeUnfinished,
  removeTree,
  sweepUnfinished,
} from './directory/unfinished.ts';
export {
  CAN_MAKE_DISKS,
  DISK_REMEDY,
  RESERVE_DISK,
  copyDisk,
  makeDisk,
  mountDisk,
  type DiskImage,
} from './disk/disk-image.ts';
export { type DiskTree, fillDisk } from './disk/fill-disk.ts';
export { assertOwnPlayground, diskOf, noDisks } from './disk/disk-of.ts';
export { assertToldWrites, noDiskSpeed } from './disk/assert-told-writes.ts';
export type { ExpectedPlace } from './kernel/expected-place.ts';
export { judgeFacts } from './kernel/judge-facts.ts';
export { mountsOf, type Mount } from './kernel/mounts-of.ts';
export {
  HOST_NAMESPACES,
  HOST_NAMESPACES_SCRIPT,
  factFilesScript,
  uidMapScript,
  type KernelFacts,
} from './kernel/kernel-facts.ts';
export { MASKED_PROC_DIRECTORIES, MASKED_PROC_FILES, READ_ONLY_PROC } from './kernel/kernel-paths.ts';
export { allowedProcessors, chooseProcessors, parseProcessors } from './kernel/processors.ts';
export { CORE_LIMIT_BYTES } from './kernel/refused-arguments.ts';
export { hasSeccompFilter, seccompFilter } from './kernel/seccomp-filter.ts';
export { seccompProfile } from './kernel/seccomp-profile.ts';
export { encodePlan, type PlanEntry } from './script/plan-entry.ts';
export { beginAtFirstMark } from './session/begin-at-first-mark.ts';
export { KEEP_TIME, KEPT_TIME } from './session/kept-time.ts';
export { endSessionScript, type SessionLeavings } from './session/end-session.ts';
export { NOTE_FACTS } from './session/note-facts.ts';
export { openLowPorts } from './session/open-low-ports.ts';
export { ETC_SOURCES, etcDirectoryScript, etcPrefix } from './session/etc-directory.ts';
export { PROCESS_ONE } from './session/first-process.ts';
export { FIRST_PROGRAM, PLACE_ARGUMENTS } from './session/first-program.ts';
export { type Isolation, type Place, type PlaceLimits } from './session/isolation.ts';
export { placeFilesOf, type PlaceFiles } from './session/place-files.ts';
export { placeProvider, type PlaceProviderOptions } from './session/place-provider.ts';
export { PlaceRuntime, type PlaceInput } from './session/place-runtime.ts';
export { type Launch, type SessionInput } from './session/place-session.ts';
export type { ServedProgram } from './program/served-program.ts';
export { SpareProgram } from './program/spare-program.ts';
export { makeEntries, type NewEntries, SESSION_ENTRIES } from './session/session-entries.ts';
export { type BaseCopyInput, ensureBaseCopy } from './directory/base-copy.ts';
export { type BaseOver, ensureBaseOver } from './directory/base-over.ts';
export { closeQuietly } from './loopback/close-quietly.ts';
export { ProgramLoopback, type ProgramLoopbackInput } from './loopback/program-loopback.ts';
export { within } from './loopback/within.ts';
