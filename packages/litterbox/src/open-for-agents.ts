import { AuditRead } from '@litterbox/core/agent';
import { createPerformer, type Entrypoint, type WiredPerformer } from './create-performer.ts';
import type { LitterboxOptions } from './litterbox-options.ts';

const DOORS: Entrypoint = {
  asker: 'agent',
  useCases: async () => (await import('./agent-use-cases.ts')).AGENT_USE_CASES,
  sourceControl: async (options) => (await import('@litterbox/source-control-git/agent')).git(options),
};

/**
 * A performer of what agents may ask for. What deletes, applies, merges, trusts or writes configuration is not refused here: it
 * is not there. Every call stands in the audit log, those that are refused too.
 */
export function openForAgents(options: Omit<LitterboxOptions, 'approver'>): WiredPerformer {
  const performer = createPerformer(options, DOORS);
  return {
    ...performer,
    async perform(operation, input, call) {
      try {
        return await performer.perform(operation, input, call);
      } catch (error) {
        const { useCases } = await performer.wired();
        await useCases.get(AuditRead).recordRefusal(operation.name, error);
        throw error;
      }
    },
  };
}
