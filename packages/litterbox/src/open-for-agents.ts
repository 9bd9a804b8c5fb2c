import { createPerformer, type Doors, type WiredPerformer } from './create-performer.ts';
import type { LitterboxOptions } from './litterbox-options.ts';

const DOORS: Doors = {
  useCases: async () => (await import('./agent-use-cases.ts')).AGENT_USE_CASES,
  sourceControl: async (options) => (await import('@litterbox/source-control-git/agent')).git(options),
};

/**
 * A performer of what agents may ask for. What deletes, applies, merges, trusts or writes configuration is not refused here: it
 * is not there.
 */
export function openForAgents(options: Omit<LitterboxOptions, 'approver'>): WiredPerformer {
  return createPerformer(options, DOORS);
}
