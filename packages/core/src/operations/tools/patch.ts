import * as z from 'zod';
import { shown } from '../../domain/shown.ts';
import { PatchFile, type PatchResult } from '../../use-cases/patch-file.ts';
import { recordedMeta, recordedText, warningLines } from './recorded-text.ts';
import { tool } from './tool.ts';
import { QUEUE_WAIT_MS, toolFields } from './tool-fields.ts';

export const patch = tool({
  name: 'patch',
  title: 'Change a file',
  summary: 'Apply a unified diff to one file of a sandbox',
  effect: 'write',
  isIdempotent: true,
  describe: () =>
    'Apply a unified diff to one file in the sandbox: hunks that begin with @@ -start,count +start,count @@ and whose context lines are exactly those of the file. From /dev/null it makes a file, to /dev/null it deletes one. The change is recorded by itself. A diff that is in the file already is reported as such; one that does not fit changes nothing and tells where.',
  input: z.strictObject({
    sandbox: toolFields.sandbox(),
    path: toolFields.path('The file'),
    diff: z.string().describe('The unified diff, for this file alone'),
    message: toolFields.message(),
  }),
  async execute(useCases, { sandbox, path, diff, message }, options) {
    const result = await useCases
      .get(PatchFile)
      .execute({ sandbox, path, diff, message, waitMs: QUEUE_WAIT_MS }, options);
    const { outcome, addedLines, removedLines, recorded } = result;
    return {
      type: 'text',
      text: [[`[${sentence(result)}]`, ...warningLines(recorded)].join('\n')],
      meta: { outcome, addedLines, removedLines, ...recordedMeta(recorded) },
    };
  },
});

function sentence({ path, outcome, addedLines, removedLines, shiftedBy, recorded }: PatchResult): string {
  if (outcome === 'already-applied') return `already applied: ${shown(path)} is as the diff makes it; nothing changed`;
  const shift =
    shiftedBy === undefined || shiftedBy === 0
      ? ''
      : `, ${Math.abs(shiftedBy)} lines ${shiftedBy > 0 ? 'below' : 'above'} where the diff says`;
  return `${outcome} ${shown(path)}: +${addedLines} -${removedLines} lines${shift}, ${recordedText(recorded)}`;
}
