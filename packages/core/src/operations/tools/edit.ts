import * as z from 'zod';
import { numbersText } from '../../domain/text/numbers-text.ts';
import { shown } from '../../domain/text/shown.ts';
import { EditFile, type EditResult } from '../../use-cases/work/edit-file.ts';
import { recordedMeta, recordedText, warningLines } from './text/recorded-text.ts';
import { tool } from './tool.ts';
import { QUEUE_WAIT_MS, toolFields } from './tool-fields.ts';

export const edit = tool({
  name: 'edit',
  title: 'Replace text in a file',
  summary: 'Replace a text in one file of a sandbox',
  effect: 'write',
  isIdempotent: false,
  profiles: ['standard', 'roadmap'],
  roadmap: { name: 'sandbox-edit', needsMessage: false },
  describe: () =>
    'Replace a text in a file in the sandbox. old must stand there exactly, and once unless all is true; otherwise nothing changes, and the answer tells where it stands.',
  input: z.strictObject({
    sandbox: toolFields.sandbox(),
    path: toolFields.path(),
    old: z.string().describe('The text to replace, without line numbers'),
    new: z.string().describe('What it becomes'),
    all: z.boolean().optional().describe('Replace it everywhere'),
    message: toolFields.message(),
  }),
  async execute(useCases, { sandbox, path, old, new: fresh, all = false, message }, options) {
    const result = await useCases
      .get(EditFile)
      .edit({ sandbox, path, old, new: fresh, isEverywhere: all, message, waitMs: QUEUE_WAIT_MS }, options);
    const { places, lines, recorded } = result;
    return {
      type: 'text',
      text: [[`[${sentence(result)}]`, ...warningLines(recorded)].join('\n')],
      meta: { places, lines: [...lines], ...recordedMeta(recorded) },
    };
  },
});

function sentence({ path, places, lines, lineEnds, recorded }: EditResult): string {
  const where = `${places === 1 ? '' : `${places} places, `}${numbersText('line', lines, places)}`;
  const ends = lineEnds === undefined ? '' : `, with the file's line ends (${lineEnds})`;
  return `edited ${shown(path)}: ${where}${ends}, ${recordedText(recorded)}`;
}
