import * as z from 'zod';
import { byteCharacters } from '../../domain/text/byte-characters.ts';
import { fileKind } from '../../domain/text/file-kind.ts';
import { readableText } from '../../domain/text/readable-text.ts';
import { type LineSlice, ReadLines } from '../../use-cases/work/read-lines.ts';
import { tool } from './tool.ts';
import { toolFields } from './tool-fields.ts';

const DEFAULT_LINES = 2_000;
/** As much as the answer to a command may hold, and as long lines. */
const MAX_CHARACTERS = 24_000;
const MAX_LINE_CHARACTERS = 2_000;
const CUT = '[… cut]';
/** First bytes that are told of a file that is no text. */
const TOLD_BYTES = 32;

export const read = tool({
  name: 'read',
  title: 'Read a file',
  summary: 'Read a file of a sandbox',
  effect: 'read',
  isIdempotent: true,
  profiles: ['standard', 'roadmap'],
  roadmap: { name: 'sandbox-read', needsMessage: false },
  describe: ({ nameOf }) =>
    `Read a file in the sandbox, up to ${DEFAULT_LINES} lines or ${MAX_CHARACTERS} characters at a time; the answer says how to go on. It shows images. Hidden files (.gitignore, .env) are not read: use ${nameOf('bash')} with cat.`,
  input: z.strictObject({
    sandbox: toolFields.sandbox(),
    path: toolFields.path(),
    offset: z.int().min(0).optional().describe('Lines to skip'),
    limit: z.int().min(1).optional().describe('How many lines'),
    encoding: z.enum(['base64']).optional(),
  }),
  async execute(useCases, { sandbox, path, offset = 0, limit = DEFAULT_LINES, encoding }, options) {
    const slice = await useCases.get(ReadLines).read({ sandbox, path, offset, limit }, options);
    const { lines, text, image } = encoding === undefined ? shown(slice, offset) : asBase64(slice, offset);
    return {
      type: 'text',
      text,
      ...(image && { image }),
      meta: {
        path: slice.path,
        encoding: encoding ?? 'utf-8',
        offset,
        lines,
        fileBytes: slice.fileBytes,
        ...(slice.fileLines !== undefined && { fileLines: slice.fileLines }),
        truncated: slice.hasMore || slice.isLineCut || lines < slice.lines,
        eof: !slice.hasMore && lines === slice.lines,
      },
    };
  },
});

interface Shown {
  readonly lines: number;
  readonly text: readonly [string, ...string[]];
  readonly image?: { readonly mimeType: string; readonly bytes: Uint8Array };
}

function shown(slice: LineSlice, offset: number): Shown {
  const readable = readableText(slice.bytes);
  if (slice.image) {
    const { mimeType, bytes } = slice.image;
    return { lines: slice.lines, text: [`[${mimeType}, ${bytes.length} bytes]`], image: slice.image };
  }
  if (readable === undefined) return { lines: slice.lines, text: [binaryNote(slice)] };
  const { text, lines, cut } = bounded(readable.text);
  const notes = [
    ...placeNote({ ...slice, lines, hasMore: slice.hasMore || lines < slice.lines }, offset),
    ...cutNote(cut.map((line) => offset + line)),
    ...(readable.unreadable > 0
      ? [`[${readable.unreadable} times � stands for what is not UTF-8 text; edit keeps those bytes]`]
      : []),
  ];
  return { lines, text: notes.length === 0 ? [text] : [text, notes.join('\n')] };
}

/** Whole lines as far as they fit, the first one by all means; those that are too long without their end. */
function bounded(text: string): { readonly text: string; readonly lines: number; readonly cut: readonly number[] } {
  const all = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const kept: string[] = [];
  const cut: number[] = [];
  let characters = 0;
  for (const line of all) {
    const isLong = line.length > MAX_LINE_CHARACTERS;
    const row = isLong ? `${line.slice(0, MAX_LINE_CHARACTERS).toWellFormed()}${CUT}\n` : line;
    characters += row.length;
    if (characters > MAX_CHARACTERS) break;
    kept.push(row);
    if (isLong) cut.push(kept.length);
  }
  return { text: kept.join(''), lines: kept.length, cut };
}

/** Lines count from 1, as with grep and patch. */
function cutNote([first, ...others]: readonly number[]): readonly string[] {
  if (first === undefined) return [];
  const which = others.length === 0 ? `line ${first} is` : `${1 + others.length} lines are`;
  return [`[${which} cut at ${MAX_LINE_CHARACTERS} characters; for the rest use bash with cut or head -c]`];
}

function placeNote({ lines, fileLines, fileBytes, hasMore, isLineCut }: LineSlice, offset: number): readonly string[] {
  const all = `${fileLines === undefined ? '' : `${fileLines} lines, `}${fileBytes} bytes`;
  if (fileBytes === 0) return ['[the file is empty]'];
  if (lines === 0) return [`[no line ${offset + 1}: the file has ${all}]`];
  const next = offset + lines;
  if (!hasMore || (isLineCut && fileLines !== undefined && next >= fileLines)) return [];
  return [`[lines ${offset + 1} to ${next}; the file has ${all}; go on with offset ${next}]`];
}

function binaryNote({ start, fileBytes, bytes }: LineSlice): string {
  const told = Array.from(bytes.subarray(0, TOLD_BYTES), (byte) => byte.toString(16).padStart(2, '0')).join('');
  const kind = fileKind(start);
  const name = kind?.name ?? 'not text';
  const way = kind === undefined || kind.isText ? 'iconv in bash converts text; ' : '';
  return `[${name}, ${fileBytes} bytes; begins with ${told} (hexadecimal); ${way}for the bytes give encoding "base64"]`;
}

function asBase64(slice: LineSlice, offset: number): Shown {
  const notes = [...placeNote(slice, offset), ...(slice.isLineCut ? [`[line ${offset + 1} is cut]`] : [])];
  const base64 = btoa(byteCharacters(slice.bytes));
  return { lines: slice.lines, text: notes.length === 0 ? [base64] : [base64, notes.join('\n')] };
}
