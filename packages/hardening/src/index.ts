export { type ScratchRepository, scratchRepository } from './scratch-repository.ts';
