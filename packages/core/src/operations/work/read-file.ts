import * as z from 'zod';
import { AccessFiles } from '../../use-cases/work/access-files.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** `file-read`: read a file of a sandbox. */
export const readFile = operation({
  name: 'file-read',
  summary: 'Read a file of a sandbox',
  effect: 'read',
  input: z.strictObject({
    sandbox: fields.sandbox(),
    path: fields.text('path').describe('Absolute inside, or relative to the workspace'),
  }),
  execute: async (useCases, { sandbox, path }, options) => await useCases.get(AccessFiles).read(sandbox, path, options),
});
