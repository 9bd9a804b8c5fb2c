import * as z from 'zod';
import { AttachProcess } from '../../use-cases/work/attach-process.ts';
import { CALL_ID } from '../../domain/sandbox/revision-message.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';
import { wordings } from '../declare/wording.ts';

/** `sandbox-shell`, `litterbox shell`: open an interactive shell in a sandbox. */
export const openShell = operation({
  name: 'sandbox-shell',
  summary: 'Open an interactive shell in a sandbox',
  effect: 'write',
  command: { verb: 'shell', positional: ['sandbox'], examples: ['shell fix-login', "shell fix-login -m 'By hand'"] },
  input: z.strictObject({
    sandbox: fields.sandbox(),
    message: fields.message().optional().describe('The subject of the revision'),
    command: fields
      .command()
      .register(wordings, {
        placeholder: 'command',
        about: 'A text for the shell, or a program and its arguments. Default: an interactive shell',
      })
      .optional(),
    terminal: z
      .strictObject({ columns: z.int().min(1).max(65_535), rows: z.int().min(1).max(65_535) })
      .register(wordings, { about: 'It has a terminal of this size, in characters, 1 to 65535. Default: pipes' })
      .optional(),
    env: fields.variables().optional().describe('For this process'),
    cwd: fields.text('directory').optional().describe('Absolute inside, or relative to the workspace'),
    mergeOutput: fields.flag().register(wordings, { about: 'Errors go where output goes, in order' }).optional(),
    noInput: fields.flag().register(wordings, { about: 'It reads end of file at once, and starts faster' }).optional(),
    endsAll: fields
      .flag()
      .register(wordings, { about: 'Processes that it leaves in the background end with it' })
      .optional(),
    recordsMeanwhile: fields
      .flag()
      .register(wordings, {
        about: 'Its changes are recorded while it works too, whenever nothing changed for a second',
      })
      .optional(),
    subject: z
      .string()
      .min(1)
      .register(wordings, { about: 'The part of the command that a person recognises, where a program wrapped it' })
      .optional(),
    callId: z
      .string()
      .regex(CALL_ID, 'letters, digits and . : _ -, at most 128')
      .register(wordings, { about: "The agent's own id of the call: letters, digits and . : _ -, at most 128" })
      .optional(),
    tool: z
      .string()
      .regex(/^[a-z][a-z-]{0,31}$/, 'a word of a-z and dashes')
      .register(wordings, {
        about: 'The tool that calls, a word of a-z and dashes: the subject of the revision begins with it',
      })
      .optional(),
  }),
  execute: async (useCases, { mergeOutput: isMerged, ...input }, options) =>
    await useCases.get(AttachProcess).attach({ ...input, isMerged }, options),
});
