import * as z from 'zod';
import { AttachProcess } from '../../use-cases/work/attach-process.ts';
import { CALL_ID } from '../../domain/sandbox/revision-message.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** `sandbox-shell`, `litterbox shell`: open an interactive shell in a sandbox. */
export const openShell = operation({
  name: 'sandbox-shell',
  summary: 'Open an interactive shell in a sandbox',
  effect: 'write',
  command: { verb: 'shell', positional: ['sandbox'], examples: ['shell fix-login', "shell fix-login -m 'By hand'"] },
  input: z.strictObject({
    sandbox: fields.sandbox(),
    message: fields.message().optional().describe('The subject of the revision'),
    command: fields.command().optional(),
    terminal: z.strictObject({ columns: z.int().min(1).max(65_535), rows: z.int().min(1).max(65_535) }).optional(),
    env: fields.variables().optional().describe('For this process'),
    cwd: fields.text('directory').optional().describe('Absolute inside, or relative to the workspace'),
    mergeOutput: fields.flag().optional(),
    noInput: fields.flag().optional(),
    subject: z.string().min(1).optional(),
    callId: z.string().regex(CALL_ID, 'letters, digits and . : _ -, at most 128').optional(),
    tool: z
      .string()
      .regex(/^[a-z][a-z-]{0,31}$/, 'a word of a-z and dashes')
      .optional(),
  }),
  execute: async (useCases, { mergeOutput: isMerged, ...input }, options) =>
    await useCases.get(AttachProcess).attach({ ...input, isMerged }, options),
});
