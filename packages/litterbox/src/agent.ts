// For programs that agents talk to: nothing here leads to what deletes, applies, merges, trusts or writes configuration.
export type { Performer, Wired, WiredPerformer } from './create-performer.ts';
export type { ProviderFactory, ProviderLoader, ProviderMachine } from '@litterbox/core/agent';
export { LineSplitter } from '@litterbox/core/agent';
export type { LitterboxOptions } from './litterbox-options.ts';
export type { ProviderSource } from './open-providers.ts';
export { defaultStateDirectory } from './load-parts.ts';
export { openForAgents } from './open-for-agents.ts';
