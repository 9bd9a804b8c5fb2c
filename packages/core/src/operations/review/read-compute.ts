import * as z from 'zod';
import { type ComputeUse, ReadCompute } from '../../use-cases/review/read-compute.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** `sandbox-compute`: time of the calls of a sandbox and of processors, memory and disk. */
export const readCompute = operation({
  name: 'sandbox-compute',
  summary:
    'Give the time that calls of a sandbox took and that processors worked over all sessions, and the memory and disk that it holds',
  effect: 'read',
  input: z.strictObject({
    sandbox: fields.sandbox(),
    sumsAlone: fields
      .flag()
      .optional()
      .describe('Without what a runtime is asked for: processor time, memory and disk'),
  }),
  document: (use: ComputeUse) => use,
  execute: async (useCases, { sandbox, sumsAlone = false }, options) =>
    await useCases.get(ReadCompute).read(sandbox, sumsAlone, options),
});
