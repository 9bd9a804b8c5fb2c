export { ensureBaseTree, type BaseTreesInput } from './directory/base-trees.ts';
export { pooledMark, takeMark } from './directory/claim-pooled.ts';
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
export { TAKE_LAYERS_BACK, keepLayers, keepSetupScript, type KeepSetupInput } from './directory/keep-setup.ts';
export { LayerSnapshots, type LayerSnapshotsInput, type LayeredDescription } from './directory/layer-snapshots.ts';
export { ensureNewerFiles, type NewerFiles } from './directory/newer-files.ts';
export { readDescription } from './directory/read-description.ts';
export { runAsking, runScript, runScriptOrFail, scriptError, type ScriptResult } from './directory/run-script.ts';
export { REMOVE_TREE, UNFINISHED, makeUnfinished, sweepUnfinished } from './directory/unfinished.ts';
export {
  CAN_MAKE_DISKS,
  DISK_REMEDY,
  RESERVE_DISK,
  copyDisk,
  makeDisk,
  mountDisk,
  type DiskImage,
} from './disk/disk-image.ts';
export { judgeFacts, type ExpectedPlace } from './kernel/judge-facts.ts';
export { HOST_NAMESPACES_SCRIPT, factFilesScript, uidMapScript, type KernelFacts } from './kernel/kernel-facts.ts';
export { MASKED_PROC_DIRECTORIES, MASKED_PROC_FILES, READ_ONLY_PROC } from './kernel/kernel-paths.ts';
export { allowedProcessors, chooseProcessors, parseProcessors } from './kernel/processors.ts';
export { CORE_LIMIT_BYTES, REFUSED_COMMANDS, RLIMIT_CORE } from './kernel/refused-arguments.ts';
export { seccompProfile } from './kernel/seccomp-profile.ts';
export { AF_UNIX, REFUSED_REQUESTS, SOCKET_PROTOCOLS } from './kernel/socket-protocols.ts';
export { endSessionScript, type SessionLeavings } from './session/end-session.ts';
export { NOTE_FACTS } from './session/note-facts.ts';
export { etcDirectoryScript } from './session/etc-directory.ts';
export { PROCESS_ONE } from './session/first-process.ts';
export { type Isolation, type Place, type PlaceLimits } from './session/isolation.ts';
export { placeFilesOf, type PlaceFiles } from './session/place-files.ts';
export { placeProvider, type PlaceProviderOptions } from './session/place-provider.ts';
export { PlaceRuntime, type PlaceInput } from './session/place-runtime.ts';
export { type Launch, type SessionInput } from './session/place-session.ts';
