export { createLitterbox, type Litterbox } from './create-litterbox.ts';
export type { Performer } from './create-performer.ts';
export { openForPeople as createPerformer } from './open-for-people.ts';
export type { LitterboxOptions, LitterboxParts, ProviderFactory } from './litterbox-options.ts';
export { defaultStateDirectory } from './load-parts.ts';
export { type CommandResult, type RunOptions, Sandbox } from './sandbox.ts';
