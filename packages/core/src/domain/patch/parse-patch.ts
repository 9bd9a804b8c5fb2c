import { parsePatch as parseUnifiedDiff, type StructuredPatch } from 'diff';
import { LitterboxError } from '../errors/errors.ts';
import type { FilePatch, RefusePatch } from './file-patch.ts';
import { BEGIN_PATCH, parseBeginPatch } from './parse-begin-patch.ts';
import { encodeRaw } from '../text/raw-text.ts';
import { readHunks, severalFiles } from './read-hunks.ts';
import { shown } from '../text/shown.ts';

/** Longest diff that is read, in bytes of UTF-8. */
const MAX_PATCH_BYTES = 16 * 1024 * 1024;
/** Every hunk and every line costs memory that the size alone does not bound. */
const MAX_HUNKS = 100_000;
const MAX_LINES = 1_000_000;
/** The lines in which text stands, in ``` alone or with a word behind it. */
const FENCE = /^\s*```\s*[\w-]*\s*$/;

/**
 * The change that a patch makes to the one file that the caller names: workspace-relative, or absolute outside.
 *
 * A unified diff: its headers may be git's, or `---` and `+++` with or without `a/` and `b/`; a diff of hunks alone changes a file
 * that is there. `/dev/null` stands for a file that is not there. An entirely empty line is an empty line of context, as for GNU
 * patch. Or a patch between `*** Begin Patch` and `*** End Patch`, as Codex writes them.
 *
 * Of what models often get wrong it forgives what leaves no doubt: a fence around the patch, counts of hunks, hunks without
 * numbers. Where such a hunk goes is for {@link applyPatch} to say, which does not guess.
 *
 * @throws LitterboxError `PATCH_CORRUPT`, `PATCH_MULTI_FILE`, `PATCH_PATH_MISMATCH`, `PATCH_UNSUPPORTED`, `PATCH_BINARY`,
 * `PATCH_MODE_FORBIDDEN`, `PATCH_TOO_LARGE`.
 */
export function parsePatch(diff: string, path: string): FilePatch {
  const refuse: RefusePatch = (code, what, hint = 'Give one unified diff of this file, as git diff prints it.') =>
    new LitterboxError(code, `The patch for ${shown(path)} is refused: ${what}.`, { operation: 'sandbox.patch', hint });
  checkSize(diff, refuse);
  const lines = diff.split('\n');
  const isFenced = unfence(lines);
  if (lines.at(-1) === '') lines.pop();
  if (lines.every((line) => line.trim() === '')) throw refuse('PATCH_CORRUPT', 'it is empty');
  const notes = isFenced ? ['the fence around the patch was left out'] : [];
  if (lines.find((line) => line.trim() !== '')?.trimEnd() === BEGIN_PATCH)
    return withNotes(parseBeginPatch(lines, path, refuse), notes);
  return withNotes(parseUnified(lines, path, refuse), notes);
}

const withNotes = (patch: FilePatch, notes: readonly string[]): FilePatch =>
  notes.length === 0 ? patch : { ...patch, notes: [...notes, ...patch.notes] };

/** Empties the lines of a fence around everything: numbers of lines in messages stay those of the text. */
function unfence(lines: string[]): boolean {
  const first = lines.findIndex((line) => line.trim() !== '');
  const last = lines.findLastIndex((line) => line.trim() !== '');
  if (first === last || !FENCE.test(lines[first] ?? '') || lines[last]?.trim() !== '```') return false;
  lines[first] = '';
  lines.length = last;
  return true;
}

function parseUnified(lines: readonly string[], path: string, refuse: RefusePatch): FilePatch {
  // The library takes any text before, between and after hunks, and does not say where counts are wrong.
  const { headers, mode } = checkHeaders(lines, refuse);
  const parsed = readHeaders(headers, refuse);
  checkNames(headers, parsed, path, refuse);
  const hasFileNames = headers.some((line) => line.startsWith('--- '));
  const isCreate = parsed.oldFileName === '/dev/null' || parsed.isCreate === true;
  const isDelete = parsed.newFileName === '/dev/null' || parsed.isDelete === true;
  const { hunks, notes } = readHunks(lines, { start: headers.length, end: lines.length, isCreate }, refuse);
  if (isCreate && isDelete) throw refuse('PATCH_CORRUPT', 'it creates and deletes the file');
  if (hasFileNames && isCreate !== (parsed.oldFileName === '/dev/null'))
    throw refuse('PATCH_CORRUPT', 'it has a new file mode, but its old file is not /dev/null');
  if (hasFileNames && isDelete !== (parsed.newFileName === '/dev/null'))
    throw refuse('PATCH_CORRUPT', 'it has a deleted file mode, but its new file is not /dev/null');
  // git says with the mode alone that a file is made or goes empty, or that only its mode changes.
  if (hunks.length === 0 && mode === undefined) throw refuse('PATCH_CORRUPT', 'it has no hunks');
  if (isCreate && (hunks.length > 1 || hunks.some((hunk) => hunk.lines.some((line) => !/^[+\\]/.test(line)))))
    throw refuse('PATCH_CORRUPT', 'it creates the file, but has lines of an old one');
  return {
    path,
    type: isCreate ? 'create' : isDelete ? 'delete' : 'modify',
    ...(mode !== undefined && !isDelete && { executable: mode === '100755' }),
    hunks,
    notes,
  };
}

/** Before anything else looks at the text: what follows takes time and memory in proportion. */
function checkSize(diff: string, refuse: RefusePatch): void {
  const tooLarge = (what: string) =>
    refuse('PATCH_TOO_LARGE', what, 'Give several smaller patches, or write the file.');
  if (diff.length > MAX_PATCH_BYTES || (diff.length > MAX_PATCH_BYTES / 3 && bytesOf(diff) > MAX_PATCH_BYTES))
    throw tooLarge(`it is larger than ${MAX_PATCH_BYTES} bytes`);
  let lines = 0;
  let hunks = 0;
  for (let start = 0; start < diff.length; lines += 1) {
    if (diff.startsWith('@@', start)) hunks += 1;
    const end = diff.indexOf('\n', start);
    start = end === -1 ? diff.length : end + 1;
  }
  if (hunks > MAX_HUNKS) throw tooLarge(`it has more than ${MAX_HUNKS} hunks`);
  if (lines > MAX_LINES) throw tooLarge(`it has more than ${MAX_LINES} lines`);
}

const bytesOf = (text: string) => encodeRaw(text).length;

const MODE_LINE = /^(old mode|new mode|new file mode|deleted file mode) (\d+)$/;
const INDEX_LINE = /^index [^\s.]+\.\.[^\s.]+(?: (\d+))?$/;

/** The lines before the first hunk, without a carriage return at their ends, and the mode that they set. */
function checkHeaders(lines: readonly string[], refuse: RefusePatch): { headers: string[]; mode: string | undefined } {
  const headers: string[] = [];
  const once = new Set<string>();
  const modes = new Map<string, string>();
  for (const [index, raw] of lines.entries()) {
    const line = raw.replace(/\r$/, '');
    if (line.startsWith('@@')) break;
    headers.push(line);
    const [, kind, mode] = MODE_LINE.exec(line) ?? [];
    const given = mode ?? INDEX_LINE.exec(line)?.[1];
    if (given !== undefined && given !== '100644' && given !== '100755')
      throw refuse('PATCH_MODE_FORBIDDEN', `it has the mode ${shown(given)}`, 'Modes are 100644 and 100755.');
    if (kind !== undefined && mode !== undefined) {
      if (modes.has(kind)) throw refuse('PATCH_CORRUPT', `line ${index + 1}: a second ${kind}`);
      modes.set(kind, mode);
    }
    if (/^(?:rename|copy) (?:from|to) /.test(line)) {
      const what = line.startsWith('copy') ? 'copy' : 'rename';
      throw refuse('PATCH_UNSUPPORTED', `it is a ${what}`, 'Delete the old file and create the new one.');
    }
    if (line === 'GIT binary patch' || /^(?:Binary f|F)iles .* differ$/.test(line))
      throw refuse('PATCH_BINARY', 'it is of a binary file', 'Write the whole file instead.');
    const first = /^(?:--- |\+\+\+ |diff |Index: )/.exec(line)?.[0];
    if (first !== undefined) {
      if (once.has(first)) throw severalFiles(index, refuse);
      if (first === '+++ ' && !once.has('--- ')) throw refuse('PATCH_CORRUPT', `line ${index + 1}: +++ without ---`);
      if (first === '--- ' && !lines[index + 1]?.startsWith('+++ '))
        throw refuse('PATCH_CORRUPT', `line ${index + 1}: --- without +++ after it`);
      once.add(first);
    } else if (mode === undefined && !INDEX_LINE.test(line) && !/^(?:(?:dis)?similarity index .*|=*|\s*)$/.test(line)) {
      throw refuse('PATCH_CORRUPT', `line ${index + 1}: ${shown(line)} does not belong into a unified diff`);
    }
  }
  if (modes.has('old mode') !== modes.has('new mode')) throw refuse('PATCH_CORRUPT', 'it has one mode of two');
  return { headers, mode: modes.get('new file mode') ?? modes.get('new mode') ?? modes.get('deleted file mode') };
}

/** The names in the headers, and whether they make a file or take one away. */
function readHeaders(headers: readonly string[], refuse: RefusePatch): StructuredPatch {
  let files: StructuredPatch[];
  try {
    files = parseUnifiedDiff(`${headers.join('\n')}\n`);
  } catch (cause) {
    throw refuse('PATCH_CORRUPT', shown(cause instanceof Error ? cause.message : cause));
  }
  const [file, second] = files;
  if (file === undefined) throw refuse('PATCH_CORRUPT', 'it has no hunks');
  if (second !== undefined) throw severalFiles(headers.length, refuse);
  return file;
}

/** Every name in the headers has to be the path that the caller gave, or the absence of the file. */
function checkNames(headers: readonly string[], parsed: StructuredPatch, path: string, refuse: RefusePatch): void {
  const git = headers.find((line) => line.startsWith('diff --git '));
  const [ofGit] = git === undefined ? [] : parseUnifiedDiff(git);
  const names = [ofGit?.oldFileName, ofGit?.newFileName, parsed.oldFileName, parsed.newFileName, parsed.index];
  if (git !== undefined && ofGit?.newFileName === undefined)
    throw refuse('PATCH_CORRUPT', `${shown(git)} has no names`);
  // The library reads quoted bytes that are not UTF-8 as the replacement character.
  const asRead = new TextDecoder('utf-8', { ignoreBOM: true }).decode(encodeRaw(path));
  for (const name of names) {
    if (name === undefined || name === '/dev/null') continue;
    const bare = name.replace(/^\.\//, '');
    const stripped = bare.replace(/^[abciow]\//, ''); // git's prefixes, the mnemonic ones too
    if ([name, bare, stripped, `/${stripped}`].some((one) => one === path || one === asRead)) continue;
    throw refuse(
      'PATCH_PATH_MISMATCH',
      `its header names ${shown(name)}`,
      `Leave the headers out, or write ${shown(path)} in them.`,
    );
  }
}
