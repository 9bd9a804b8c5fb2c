import * as z from 'zod';
import { LitterboxError } from '../domain/errors/errors.ts';
import { advice, step } from '../domain/errors/next-step.ts';
import { ChangeRunState, type RunState, type RunStateResult } from '../use-cases/session/change-run-state.ts';
import { ListSandboxes } from '../use-cases/review/list-sandboxes.ts';
import { fields } from './declare/fields.ts';
import { operation, type OperationOptions, type UseCases } from './declare/operation.ts';

const whose = {
  sandbox: fields.sandbox().optional(),
  allEnvs: fields.flag().optional().describe('Every sandbox of this repository'),
  allRepos: fields.flag().optional().describe('Every sandbox of every repository'),
};

const document = (results: readonly RunStateResult[]) =>
  results.map(({ record, isChanged }) => ({ name: record.slug, state: record.state, isChanged }));

interface Whose {
  readonly sandbox?: string | undefined;
  readonly allEnvs?: boolean | undefined;
  readonly allRepos?: boolean | undefined;
}

async function change(
  useCases: UseCases,
  { sandbox, allEnvs, allRepos }: Whose,
  wanted: RunState,
  options?: OperationOptions,
): Promise<readonly RunStateResult[]> {
  if ((sandbox === undefined) !== (allEnvs === true || allRepos === true)) {
    throw new LitterboxError('ARG_MISSING', 'Give either the name of one sandbox, or all of them.', {
      operation: 'sandbox.pause',
      hint: advice`Such as: ${step('sandbox-pause')}, or ${step('sandbox-pause')} --all-envs, or --all-repos.`,
    });
  }
  const states = useCases.get(ChangeRunState);
  if (sandbox !== undefined) return [await states.change(sandbox, wanted, options)];
  const records = await useCases.get(ListSandboxes).records(allRepos ? 'all' : 'repository', options);
  return await states.changeAll(records, wanted, options);
}

/** `sandbox-pause`, `litterbox pause`: freeze a sandbox, or stop it to free its memory. */
export const pauseSandbox = operation({
  name: 'sandbox-pause',
  summary: 'Freeze a sandbox, or stop it to free its memory',
  effect: 'host',
  command: {
    verb: 'pause',
    positional: ['sandbox'],
    examples: ['pause fix-login', 'pause --all-envs', 'pause fix-login --stop'],
  },
  input: z.strictObject({ ...whose, stop: fields.flag().optional().describe('End its processes and free its memory') }),
  document,
  execute: async (useCases, { stop, ...of }, options) =>
    await change(useCases, of, stop ? 'stopped' : 'paused', options),
});

/** `sandbox-resume`, `litterbox resume`: let a paused or stopped sandbox go on. */
export const resumeSandbox = operation({
  name: 'sandbox-resume',
  summary: 'Let a paused or stopped sandbox go on',
  effect: 'host',
  command: { verb: 'resume', positional: ['sandbox'], examples: ['resume fix-login', 'resume --all-envs'] },
  input: z.strictObject(whose),
  document,
  execute: async (useCases, of, options) => await change(useCases, of, 'ready', options),
});

/** Both in one, for programs. */
export const setRunState = operation({
  name: 'sandbox-state',
  summary: 'Pause, stop or resume a sandbox',
  effect: 'host',
  input: z.strictObject({ ...whose, state: z.enum(['paused', 'stopped', 'ready']) }),
  document,
  execute: async (useCases, { state, ...of }, options) => await change(useCases, of, state, options),
});
