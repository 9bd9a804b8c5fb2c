export { ClientProcess, type ClientOptions, processState } from './faults/client-process.ts';
export { expectInvariants, violations } from './faults/invariants.ts';
export type { Failure, Job, Reply } from './faults/job.ts';
export { type Death, type Scene, scene, sharedScene, userFile } from './faults/scene.ts';
export { digestDifference, userDigest } from './faults/user-digest.ts';
export { type ScratchRepository, scratchRepository } from './scratch-repository.ts';
