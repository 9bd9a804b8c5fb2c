import * as z from 'zod';
import { byteCharacters } from '../../domain/byte-characters.ts';
import { type LineSlice, MAX_SLICE_BYTES, ReadLines } from '../../inside/read-lines.ts';
import { tool } from './tool.ts';
import { toolFields } from './tool-fields.ts';

const DEFAULT_LINES = 2_000;

export const read = tool({
  name: 'read',
  title: 'Read a file',
  summary: 'Read a file of a sandbox',
  effect: 'read',
  isIdempotent: true,
  profiles: ['standard', 'roadmap'],
  roadmap: { name: 'sandbox-read', needsMessage: false },
  describe: ({ nameOf }) =>
    `Read lines of a file in the sandbox, up to ${DEFAULT_LINES} lines or ${MAX_SLICE_BYTES / 1024} KiB at a time; when there is more, the answer says how to go on. What is not text comes as base64. Hidden files (.gitignore, .env) are not read: use ${nameOf('bash')} with cat.`,
  input: z.strictObject({
    sandbox: toolFields.sandbox(),
    path: toolFields.path(),
    offset: z.int().min(0).optional().describe('Lines to skip'),
    limit: z.int().min(1).optional().describe(`How many lines; default ${DEFAULT_LINES}`),
  }),
  async execute(useCases, { sandbox, path, offset = 0, limit = DEFAULT_LINES }, options) {
    const slice = await useCases.get(ReadLines).execute({ sandbox, path, offset, limit }, options);
    const text = textOf(slice.bytes);
    const note = noteOf(slice, offset, text === undefined);
    return {
      type: 'text',
      text:
        note === undefined
          ? [text ?? btoa(byteCharacters(slice.bytes))]
          : [text ?? btoa(byteCharacters(slice.bytes)), note],
      meta: {
        path: slice.path,
        encoding: text === undefined ? 'base64' : 'utf-8',
        offset,
        lines: slice.lines,
        fileBytes: slice.fileBytes,
        ...(slice.fileLines !== undefined && { fileLines: slice.fileLines }),
        truncated: slice.hasMore || slice.isLineCut,
        eof: !slice.hasMore,
      },
    };
  },
});

function noteOf(slice: LineSlice, offset: number, isBinary: boolean): string | undefined {
  const { lines, fileLines, fileBytes, hasMore, isLineCut } = slice;
  const all = `${fileLines === undefined ? '' : `${fileLines} lines, `}${fileBytes} bytes`;
  if (fileBytes === 0) return '[the file is empty]';
  // Lines are counted from 1, as grep and patch do.
  const first = offset + 1;
  if (lines === 0) return `[no line ${first}: the file has ${all}]`;
  if (isLineCut) return `[line ${first} is cut; the file has ${all}; for the rest use bash with cut or head -c]`;
  const binary = isBinary ? 'not text, as base64; ' : '';
  if (hasMore)
    return `[${binary}lines ${first} to ${offset + lines}; the file has ${all}; go on with offset ${offset + lines}]`;
  return isBinary ? `[not text, as base64; ${all}]` : undefined;
}

/** A NUL is valid UTF-8, and no text. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
