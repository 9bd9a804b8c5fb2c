import * as z from 'zod';
import type { CommandShell } from '../channel/command-shell.ts';
import type { ProbeReport } from '../ports/sandbox-provider.ts';
import type { SandboxRecord } from '../ports/state-store.ts';
import { ChooseProvider } from '../use-cases/choose-provider.ts';
import { FindSandbox } from '../use-cases/find-sandbox.ts';
import { FindShell } from '../inside/find-shell.ts';
import { fields } from './fields.ts';
import { operation, type OperationOptions, type UseCases } from './operation.ts';

/** What one provider found on this machine. */
export interface ProviderReport {
  readonly provider: string;
  readonly report: ProbeReport;
}

/** What every provider finds on this machine, in order of preference; or the sandbox that was named, and what runs its texts of commands. */
export type Explanation =
  | { readonly record: SandboxRecord; readonly shell?: CommandShell }
  | { readonly providers: readonly ProviderReport[] };

async function probe(useCases: UseCases, options?: OperationOptions): Promise<readonly ProviderReport[]> {
  const { all } = useCases.get(ChooseProvider);
  return await Promise.all(
    all.map(async (provider) => ({ provider: provider.name, report: await provider.probe(options) })),
  );
}

async function explained(useCases: UseCases, sandbox: string, options?: OperationOptions): Promise<Explanation> {
  const record = await useCases.get(FindSandbox).execute(sandbox, options);
  const shell = await useCases.get(FindShell).execute(record, options);
  return { record, ...(shell && { shell }) };
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
          provider: explanation.record.provider,
          workdir: explanation.record.workdir,
          ...(explanation.shell && { shell: explanation.shell }),
          ...(explanation.record.forkedFrom !== undefined && { forkedFrom: explanation.record.forkedFrom }),
          policy: explanation.record.policy,
          assurance: explanation.record.assurance,
        },
  execute: async (useCases, { sandbox }, options): Promise<Explanation> =>
    sandbox === undefined ? { providers: await probe(useCases, options) } : await explained(useCases, sandbox, options),
});

/** `machine-check`, `litterbox doctor`: look for what is missing on this machine, with the command that mends it. */
export const checkMachine = operation({
  name: 'machine-check',
  summary: 'Look for what is missing on this machine, with the command that mends it',
  effect: 'read',
  command: { verb: 'doctor', positional: [], examples: ['doctor', 'doctor --json'] },
  input: z.strictObject({}),
  document: (reports: readonly ProviderReport[]) => ({
    isUsable: reports.some(({ report }) => report.usable),
    providers: reports,
  }),
  execute: async (useCases, _input, options) => await probe(useCases, options),
});
