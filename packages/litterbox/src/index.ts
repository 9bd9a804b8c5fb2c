export { createLitterbox, type Litterbox } from './create-litterbox.ts';
export { createPerformer, type Performer } from './create-performer.ts';
export type { LitterboxOptions, LitterboxParts, ProviderFactory } from './litterbox-options.ts';
export { defaultStateDirectory } from './load-parts.ts';
export { type CommandResult, type RunOptions, Sandbox } from './sandbox.ts';
