// For programs that carry out operations by their declarations, as the command line does: a method for each is not loaded.
export type { Performer } from './create-performer.ts';
export type { ProviderFactory, ProviderLoader, ProviderMachine } from '@litterbox/core/agent';
export type { LitterboxOptions, LitterboxParts } from './litterbox-options.ts';
export type { ProviderSource } from './open-providers.ts';
export { defaultStateDirectory } from './load-parts.ts';
export { openForPeople as createPerformer } from './open-for-people.ts';
