import * as z from 'zod';
import { bytesOfCharacters } from '../../domain/text/byte-characters.ts';
import { LitterboxError } from '../../domain/errors/errors.ts';
import { sha256 } from '../../domain/text/sha256.ts';
import { shown } from '../../domain/text/shown.ts';
import { AccessFiles } from '../../use-cases/work/access-files.ts';
import { recordedMeta, recordedText, warningLines } from './text/recorded-text.ts';
import { tool } from './tool.ts';
import { QUEUE_WAIT_MS, toolFields } from './tool-fields.ts';

export const write = tool({
  name: 'write',
  title: 'Write a file',
  summary: 'Replace a file of a sandbox as a whole',
  effect: 'write',
  isIdempotent: true,
  profiles: ['standard', 'roadmap'],
  roadmap: { name: 'sandbox-write', needsMessage: false },
  describe: ({ nameOf }) =>
    `Replace a file in the sandbox as a whole, or make a new one with the directories above it. To change part of a file use ${nameOf('edit')}.`,
  input: z.strictObject({
    sandbox: toolFields.sandbox(),
    path: toolFields.path(),
    content: z.string().describe('All of the new content'),
    encoding: z.enum(['utf-8', 'base64']).optional().describe('Of content; default utf-8'),
    message: toolFields.message(),
  }),
  async execute(useCases, { sandbox, path, content, encoding, message }, options) {
    const bytes = encoding === 'base64' ? decoded(content) : encoded(content);
    const { recorded, isHiddenReplaced, isOutside } = await useCases
      .get(AccessFiles)
      .write({ sandbox, path, content: bytes, message, waitMs: QUEUE_WAIT_MS }, options);
    const lines = bytes.reduce(
      (count, byte) => count + (byte === 10 ? 1 : 0),
      bytes.at(-1) === 10 || bytes.length === 0 ? 0 : 1,
    );
    return {
      type: 'text',
      text: [
        [
          `[wrote ${shown(path)}: ${lines} ${lines === 1 ? 'line' : 'lines'}, ${bytes.length} bytes, ${recordedText(recorded)}]`,
          ...(isHiddenReplaced ? [HIDDEN_REPLACED] : []),
          ...(isOutside ? ['[note: it lies outside of the workspace, so no diff and no merge has it]'] : []),
          ...warningLines(recorded),
        ].join('\n'),
      ],
      meta: { bytes: bytes.length, lines, sha256: await sha256(bytes), ...recordedMeta(recorded) },
    };
  },
});

const HIDDEN_REPLACED =
  '[note: a hidden file was there, and its old content was replaced; if you have not seen it, look at the diff of the sandbox]';

function encoded(content: string): Uint8Array<ArrayBuffer> {
  if (content.isWellFormed()) return new TextEncoder().encode(content);
  throw new LitterboxError('ARG_TYPE', 'content holds half of a character, which no file can hold as UTF-8.', {
    operation: 'file.write',
    hint: 'Give bytes that are not text as base64, with encoding "base64".',
  });
}

function decoded(content: string): Uint8Array<ArrayBuffer> {
  try {
    return bytesOfCharacters(atob(content));
  } catch {
    throw new LitterboxError('ARG_TYPE', 'content is not base64.', {
      operation: 'file.write',
      hint: 'Leave encoding out for text.',
    });
  }
}
