import * as z from 'zod';
import { ReadUsage, type ShownUsage } from '../../use-cases/review/read-usage.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** `sandbox-usage`, `litterbox cost`: requests and tokens of a sandbox. */
export const readUsage = operation({
  name: 'sandbox-usage',
  summary:
    'Show what a sandbox has spent: requests and tokens at its endpoints, time of its calls and of processors, memory and disk',
  effect: 'read',
  command: { verb: 'cost', positional: ['sandbox'], examples: ['cost fix-login'] },
  input: z.strictObject({ sandbox: fields.sandbox() }),
  document: (usage: readonly ShownUsage[]) => usage,
  execute: async (useCases, { sandbox }, options) => await useCases.get(ReadUsage).read(sandbox, options),
});
