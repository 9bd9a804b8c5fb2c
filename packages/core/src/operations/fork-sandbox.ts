import * as z from 'zod';
import { ForkSandbox, type ForkResult } from '../use-cases/fork-sandbox.ts';
import { fields } from './fields.ts';
import { portUrl } from './list-ports.ts';
import { operation } from './operation.ts';

/** `sandbox-fork`, `litterbox fork`: copy a sandbox with its files and its history. */
export const forkSandbox = operation({
  name: 'sandbox-fork',
  summary: 'Copy a sandbox with its files and its history',
  effect: 'write',
  command: {
    verb: 'fork',
    positional: ['sandbox'],
    examples: ['fork fix-login', 'fork fix-login --name fix-login-otherwise'],
  },
  input: z.strictObject({
    sandbox: fields.sandbox(),
    name: fields
      .text('name')
      .optional()
      .describe("The copy's name. Default: the sandbox's with the first free number from 2 on"),
  }),
  document: ({ record, forkedFrom, warnings }: ForkResult) => ({
    name: record.slug,
    id: record.id,
    forkedFrom,
    provider: record.provider,
    workdir: record.workdir,
    warnings,
    ...(record.ports && { ports: record.ports.map((port) => ({ ...port, url: portUrl(port) })) }),
  }),
  execute: async (useCases, { sandbox, name }, options) =>
    await useCases.get(ForkSandbox).execute(sandbox, name, options),
});
