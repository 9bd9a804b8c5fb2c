// For tests of programs that use the library: everything in memory, nothing of this machine.
export type { CommandScript, ScriptedAnswer, ScriptedCommand, ScriptedFiles } from '@litterbox/memory';
export { type MemoryLitterbox, memoryLitterbox, type MemoryLitterboxOptions } from './testing/memory-litterbox.ts';
export type { MemoryRepository } from './testing/memory-repository.ts';
