// For programs that agents talk to: nothing here leads to what deletes, applies, merges, trusts or writes configuration.
export type { Performer, Wired, WiredPerformer } from './create-performer.ts';
export type { LitterboxOptions, ProviderFactory } from './litterbox-options.ts';
export { defaultStateDirectory } from './load-parts.ts';
export { openForAgents } from './open-for-agents.ts';
