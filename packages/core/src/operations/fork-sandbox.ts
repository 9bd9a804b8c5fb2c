import * as z from 'zod';
import { isLitterboxError } from '../domain/errors.ts';
import { type FailedFork, ForkSandbox, type ForkResult, type ForksResult } from '../use-cases/fork-sandbox.ts';
import { fields } from './fields.ts';
import { portUrl } from './list-ports.ts';
import { operation } from './operation.ts';

/** A person can look after so many; each is a copy of the sandbox. */
const MAX_FORKS = 16;

/** `sandbox-fork`, `litterbox fork`: copy a sandbox with its files and its history, once or several times. */
export const forkSandbox = operation({
  name: 'sandbox-fork',
  summary: 'Copy a sandbox with its files and its history',
  effect: 'write',
  command: {
    verb: 'fork',
    positional: ['sandbox'],
    examples: ['fork fix-login', 'fork fix-login --name fix-login-otherwise', 'fork fix-login -n 3'],
  },
  input: z.strictObject({
    sandbox: fields.sandbox(),
    name: fields
      .text('name')
      .optional()
      .describe("The copy's name. Default: the sandbox's with the first free number from 2 on"),
    count: fields
      .count(1, MAX_FORKS, { flag: 'number', short: 'n' })
      .optional()
      .describe('How many copies, names numbered'),
  }),
  document: (result: ForkResult | ForksResult) =>
    'forks' in result ? result.forks.map((fork) => documentOf(fork)) : documentOf(result),
  execute: async (useCases, { sandbox, name, count }, options): Promise<ForkResult | ForksResult> => {
    const fork = useCases.get(ForkSandbox);
    if (count === undefined) return await fork.execute(sandbox, name, options);
    return await fork.several(sandbox, { wanted: name, count }, options);
  },
});

function documentOf(fork: ForkResult | FailedFork): Readonly<Record<string, unknown>> {
  if ('error' in fork) {
    const { error } = fork;
    const { code, details } = isLitterboxError(error) ? error : { code: 'INTERNAL', details: undefined };
    return { error: { code, message: error.message, ...(details?.hint !== undefined && { hint: details.hint }) } };
  }
  const { record, forkedFrom, warnings } = fork;
  return {
    name: record.slug,
    id: record.id,
    forkedFrom,
    provider: record.provider,
    workdir: record.workdir,
    warnings,
    ...(record.ports && { ports: record.ports.map((port) => ({ ...port, url: portUrl(port) })) }),
  };
}
