import { createPerformer, type Entrypoint, type WiredPerformer } from './create-performer.ts';
import type { LitterboxOptions } from './litterbox-options.ts';

const DOORS: Entrypoint = {
  asker: 'person',
  useCases: async () => (await import('./person-use-cases.ts')).PERSON_USE_CASES,
  sourceControl: async (options) => (await import('@litterbox/source-control-git')).git(options),
};

/** A performer of everything that can be asked for. */
export function openForPeople(options: LitterboxOptions): WiredPerformer {
  return createPerformer(options, DOORS);
}
