import * as z from 'zod';
import type { CommandShell } from '../channel/command-shell.ts';
import { parseProviderKey } from '../domain/sandbox/provider-key.ts';
import type { ResourceUsage } from '../ports/sandbox/sandbox-runtime.ts';
import type { SandboxRecord } from '../ports/state/state-store.ts';
import { ChooseProvider, type ProviderReport } from '../use-cases/decide/choose-provider.ts';
import { FindSandbox } from '../use-cases/common/find-sandbox.ts';
import { InspectSandbox } from '../use-cases/work/inspect-sandbox.ts';
import { type ShownState } from '../use-cases/review/list-sandboxes.ts';
import { fields } from './declare/fields.ts';
import { operation, type OperationOptions, type UseCases } from './declare/operation.ts';
import { stateAndShell } from './state-and-shell.ts';

/**
 * What every provider finds on this machine, in order of preference; or the sandbox that was named, what runs its texts of commands, and what
 * it uses where it runs. The controls are those of now where it runs, else those of its making.
 */
export type Explanation =
  | {
      readonly record: SandboxRecord;
      readonly state: ShownState;
      readonly shell?: CommandShell;
      readonly usage?: ResourceUsage;
    }
  | { readonly providers: readonly ProviderReport[] };

async function explained(useCases: UseCases, sandbox: string, options?: OperationOptions): Promise<Explanation> {
  const record = await useCases.get(FindSandbox).find(sandbox, options);
  const { state, shell } = await stateAndShell(useCases, record, options);
  if (state !== 'ready') return { record, state, ...(shell && { shell }) };
  const look = { sandbox, operation: 'sandbox-explain', input: {} };
  const { usage, assurance } = await useCases.get(InspectSandbox).inspect(
    {
      ...look,
      // A control of its making may have been taken away from outside.
      look: async ({ runtime }) => ({
        assurance: await runtime.assurance(options),
        usage: await runtime.usage(options),
      }),
    },
    options,
  );
  return { record: { ...record, assurance }, state, usage, ...(shell && { shell }) };
}

/** `sandbox-explain`, `litterbox explain`: say what isolation is in force, and what is not. */
export const explain = operation({
  name: 'sandbox-explain',
  summary: 'Say what isolation is in force, and what is not',
  effect: 'read',
  command: { verb: 'explain', positional: ['sandbox'], examples: ['explain', 'explain fix-login'] },
  input: z.strictObject({ sandbox: fields.sandbox().optional() }),
  document: (explanation: Explanation) =>
    'providers' in explanation
      ? explanation.providers
      : {
          name: explanation.record.slug,
          state: explanation.state,
          provider: explanation.record.provider,
          host: parseProviderKey(explanation.record.provider).host,
          ...(explanation.record.placement && { placement: explanation.record.placement }),
          workdir: explanation.record.workdir,
          ...(explanation.shell && { shell: explanation.shell }),
          ...(explanation.usage && { usage: explanation.usage }),
          ...(explanation.record.forkedFrom !== undefined && { forkedFrom: explanation.record.forkedFrom }),
          policy: explanation.record.policy,
          assurance: explanation.record.assurance,
        },
  execute: async (useCases, { sandbox }, options): Promise<Explanation> =>
    sandbox === undefined
      ? { providers: await useCases.get(ChooseProvider).listReports(options) }
      : await explained(useCases, sandbox, options),
});

/** `machine-check`, `litterbox doctor`: look for what is missing on this machine, with the command that mends it. */
export const checkMachine = operation({
  name: 'machine-check',
  summary: 'Check this machine, and show the command that fixes what is missing',
  effect: 'read',
  command: {
    verb: 'doctor',
    positional: [],
    examples: ['doctor', 'doctor --host build-box', 'doctor --provider kubernetes'],
  },
  input: z.strictObject({
    host: fields.text('host').optional().describe('The machine to look at: one of your hosts. Default: this one'),
    provider: fields.text('name').optional().describe('The provider to look at. Default: all that are taken unasked'),
  }),
  document: (reports: readonly ProviderReport[]) => ({
    isUsable: reports.some(({ report }) => report.usable),
    providers: reports,
  }),
  execute: async (useCases, { host, provider }, options) =>
    await useCases.get(ChooseProvider).listReports(options, host, provider),
});
