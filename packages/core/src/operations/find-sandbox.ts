import * as z from 'zod';
import { FindSandbox } from '../use-cases/common/find-sandbox.ts';
import { fields } from './declare/fields.ts';
import { operation } from './declare/operation.ts';

/** `sandbox-find`: look up a sandbox by its name. */
export const findSandbox = operation({
  name: 'sandbox-find',
  summary: 'Look up a sandbox by its name',
  effect: 'read',
  input: z.strictObject({ sandbox: fields.sandbox() }),
  execute: async (useCases, { sandbox }, options) => await useCases.get(FindSandbox).find(sandbox, options),
});
