import * as z from 'zod';
import { shown } from '../../domain/text/shown.ts';
import { PatchFile, type PatchResult } from '../../use-cases/work/patch-file.ts';
import { recordedMeta, recordedText, warningLines } from './text/recorded-text.ts';
import { tool } from './tool.ts';
import { QUEUE_WAIT_MS, toolFields } from './tool-fields.ts';

export const patch = tool({
  name: 'patch',
  title: 'Change a file',
  summary: 'Apply a patch to one file of a sandbox',
  effect: 'write',
  isIdempotent: true,
  describe: () =>
    'Apply a unified diff, or what stands between *** Begin Patch and *** End Patch, to one file in the sandbox. Context lines must be exactly those of the file; hunks without line numbers must fit in one place alone. From /dev/null makes a file, to /dev/null deletes one. What does not fit changes nothing and tells where.',
  input: z.strictObject({
    sandbox: toolFields.sandbox(),
    path: toolFields.path(),
    diff: z.string().describe('The patch, for this file alone'),
    message: toolFields.message(),
  }),
  async execute(useCases, { sandbox, path, diff, message }, options) {
    const result = await useCases
      .get(PatchFile)
      .patch({ sandbox, path, diff, message, waitMs: QUEUE_WAIT_MS }, options);
    const { outcome, addedLines, removedLines, notes, recorded } = result;
    return {
      type: 'text',
      text: [
        [`[${sentence(result)}]`, ...notes.map((note) => `[note: ${note}]`), ...warningLines(recorded)].join('\n'),
      ],
      meta: { outcome, addedLines, removedLines, ...recordedMeta(recorded) },
    };
  },
});

function sentence({ path, outcome, movedTo, addedLines, removedLines, shiftedBy, recorded }: PatchResult): string {
  if (outcome === 'already-applied') return `already applied: ${shown(path)} is as the diff makes it; nothing changed`;
  const shift =
    shiftedBy === undefined || shiftedBy === 0
      ? ''
      : `, ${Math.abs(shiftedBy)} lines ${shiftedBy > 0 ? 'below' : 'above'} where the diff says`;
  const to = movedTo === undefined ? '' : ` to ${shown(movedTo)}`;
  return `${outcome} ${shown(path)}${to}: +${addedLines} -${removedLines} lines${shift}, ${recordedText(recorded)}`;
}
