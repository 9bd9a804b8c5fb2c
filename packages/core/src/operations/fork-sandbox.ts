import * as z from 'zod';
import { ForkSandbox, type ForkResult, type ForksResult } from '../use-cases/create/fork-sandbox.ts';
import { fields } from './declare/fields.ts';
import { forkDocument } from './fork-document.ts';
import { wordings } from './declare/wording.ts';
import { operation } from './declare/operation.ts';

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
    examples: [
      'fork fix-login',
      'fork fix-login --name fix-login-otherwise',
      'fork fix-login -n 3',
      'fork fix-login --snapshot s1',
    ],
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
    snapshot: fields.text('label').optional().describe('Begin with what a snapshot of the sandbox holds, by its label'),
    labels: fields.labels().optional().describe('A label to find it by; again for more'),
    ephemeral: fields
      .flag()
      .register(wordings, { about: 'Delete it, with all its work, when its object or the Litterbox is disposed of' })
      .optional(),
    waitMs: fields.waitMs(),
  }),
  document: (result: ForkResult | ForksResult) =>
    'forks' in result ? result.forks.map((fork) => forkDocument(fork)) : forkDocument(result),
  async execute(
    useCases,
    { sandbox, name, count, snapshot, labels, ephemeral: isEphemeral, waitMs: patienceMs },
    given,
  ): Promise<ForkResult | ForksResult> {
    const fork = useCases.get(ForkSandbox);
    const options = { ...given, patienceMs };
    const traits = { labels, isEphemeral, snapshot };
    if (count === undefined) return await fork.fork(sandbox, name, options, traits);
    return await fork.forkSeveral(sandbox, { ...traits, wanted: name, count }, options);
  },
});
