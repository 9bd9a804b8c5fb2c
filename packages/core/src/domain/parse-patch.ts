import { parsePatch as parseUnifiedDiff, type StructuredPatch } from 'diff';
import { LitterboxError, type LitterboxErrorCode } from './errors.ts';
import { encodeRaw } from './raw-text.ts';
import { shown } from './shown.ts';

/** Longest diff that is read, in bytes of UTF-8. */
const MAX_PATCH_BYTES = 16 * 1024 * 1024;
/** Every hunk and every line costs memory that the size alone does not bound. */
const MAX_HUNKS = 100_000;
const MAX_LINES = 1_000_000;
/** What git and GNU patch count lines with. */
const MAX_LINE_NUMBER = 2 ** 31;

export interface PatchHunk {
  /** Where it starts in the old text, as an index of lines from 0. */
  readonly oldIndex: number;
  /** Where it starts in the new text. */
  readonly newIndex: number;
  /** As in the diff, prefix first; one that starts with `\` says that the line before it has no newline at its end. */
  readonly lines: readonly string[];
}

/** What one unified diff says about one file. */
export interface FilePatch {
  readonly path: string;
  readonly type: 'create' | 'modify' | 'delete';
  /** Present when the diff sets the mode: it is to be set even where the text turns out to be there already. */
  readonly executable?: boolean;
  readonly hunks: readonly PatchHunk[];
}

type Refuse = (code: LitterboxErrorCode, what: string, hint?: string) => LitterboxError;

/**
 * The change that a unified diff makes to the one file that the caller names: workspace-relative, or absolute outside.
 *
 * The headers may be git's, or `---` and `+++` with or without `a/` and `b/`; a diff of hunks alone changes a file that is
 * there. `/dev/null` stands for a file that is not there. An entirely empty line is an empty line of context, as for GNU patch.
 *
 * @throws LitterboxError `PATCH_CORRUPT`, `PATCH_MULTI_FILE`, `PATCH_PATH_MISMATCH`, `PATCH_UNSUPPORTED`, `PATCH_BINARY`,
 * `PATCH_MODE_FORBIDDEN`, `PATCH_TOO_LARGE`.
 */
export function parsePatch(diff: string, path: string): FilePatch {
  const refuse: Refuse = (code, what, hint = 'Give one unified diff of this file, as git diff prints it.') =>
    new LitterboxError(code, `The patch for ${shown(path)} is refused: ${what}.`, { operation: 'sandbox.patch', hint });
  checkSize(diff, refuse);
  const lines = diff.split('\n');
  if (lines.at(-1) === '') lines.pop();
  if (lines.every((line) => line.trim() === '')) throw refuse('PATCH_CORRUPT', 'it is empty');

  // The library takes any text before, between and after hunks, and does not say where counts are wrong.
  const { headers, mode } = checkHeaders(lines, refuse);
  const hunkCount = checkHunks(lines, headers.length, refuse);
  const parsed = readWithLibrary([...headers, ...lines.slice(headers.length)], refuse);
  checkNames(headers, parsed, path, refuse);

  const hasFileNames = headers.some((line) => line.startsWith('--- '));
  const isCreate = parsed.oldFileName === '/dev/null' || parsed.isCreate === true;
  const isDelete = parsed.newFileName === '/dev/null' || parsed.isDelete === true;
  if (isCreate && isDelete) throw refuse('PATCH_CORRUPT', 'it creates and deletes the file');
  if (hasFileNames && isCreate !== (parsed.oldFileName === '/dev/null'))
    throw refuse('PATCH_CORRUPT', 'it has a new file mode, but its old file is not /dev/null');
  if (hasFileNames && isDelete !== (parsed.newFileName === '/dev/null'))
    throw refuse('PATCH_CORRUPT', 'it has a deleted file mode, but its new file is not /dev/null');
  // git says with the mode alone that a file is made or goes empty, or that only its mode changes.
  if (hunkCount === 0 && mode === undefined) throw refuse('PATCH_CORRUPT', 'it has no hunks');
  if (isCreate && (hunkCount > 1 || parsed.hunks.some((hunk) => hunk.lines.some((line) => !/^[+\\]/.test(line)))))
    throw refuse('PATCH_CORRUPT', 'it creates the file, but has lines of an old one');
  return {
    path,
    type: isCreate ? 'create' : isDelete ? 'delete' : 'modify',
    ...(mode !== undefined && !isDelete && { executable: mode === '100755' }),
    hunks: parsed.hunks.map(({ oldStart, newStart, lines }) => ({
      oldIndex: oldStart - 1,
      newIndex: newStart - 1,
      lines,
    })),
  };
}

/** Before anything else looks at the text: what follows takes time and memory in proportion. */
function checkSize(diff: string, refuse: Refuse): void {
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
function checkHeaders(lines: readonly string[], refuse: Refuse): { headers: string[]; mode: string | undefined } {
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

const severalFiles = (index: number, refuse: Refuse) =>
  refuse('PATCH_MULTI_FILE', `line ${index + 1}: another file starts`, 'Give one patch for each file.');

const HUNK_HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Walks over every hunk by its own counts. Gives how many there are. */
function checkHunks(lines: readonly string[], start: number, refuse: Refuse): number {
  let hunk = 0;
  // What ends without a newline is the end of its text: nothing can follow it.
  const ended = { old: false, new: false };
  for (let index = start; index < lines.length; ) {
    const line = lines[index] ?? '';
    const corrupt = (what: string, at = index) => refuse('PATCH_CORRUPT', `hunk ${hunk}, line ${at + 1}: ${what}`);
    if (/^\r?$/.test(line)) {
      index += 1;
      continue;
    }
    if (startsFile(lines, index)) throw severalFiles(index, refuse);
    if (line.startsWith('@@@')) throw refuse('PATCH_UNSUPPORTED', 'it is the combined diff of a merge');
    if (!line.startsWith('@@')) throw corrupt(`after it, ${shown(line)} belongs to no hunk`);
    hunk += 1;
    const [, oldStart, oldCount = '1', newStart, newCount = '1'] = HUNK_HEADER.exec(line) ?? [];
    const numbers = [oldStart, oldCount, newStart, newCount].map(Number);
    const [oldFrom = 0, oldLines = 0, newFrom = 0, newLines = 0] = numbers;
    if (oldStart === undefined) throw corrupt(`${shown(line)} is not @@ -START,COUNT +START,COUNT @@`);
    if (numbers.some((number) => number > MAX_LINE_NUMBER)) throw corrupt('a number is larger than 2^31');
    if ((oldFrom === 0 && oldLines > 0) || (newFrom === 0 && newLines > 0)) throw corrupt('lines are counted from 1');
    if (oldLines + newLines === 0) throw corrupt('it has no lines');
    let got = { old: 0, new: 0 };
    let before = '';
    for (index += 1; index < lines.length; index += 1) {
      const isComplete = got.old >= oldLines && got.new >= newLines;
      const prefix = /^\r?$/.test(lines[index] ?? '') ? ' ' : (lines[index]?.[0] ?? '');
      if (prefix === '\\') {
        if (!/^[-+ ]$/.test(before)) throw corrupt('no line stands before this one');
        if (before !== '+') ended.old = true;
        if (before !== '-') ended.new = true;
        before = prefix;
        continue;
      }
      // An empty line after the last one is no context any more.
      if (isComplete && (startsFile(lines, index) || /^\r?$/.test(lines[index] ?? ''))) break;
      if (!/^[-+ ]$/.test(prefix)) {
        if (isComplete || prefix === '@' || startsFile(lines, index)) break;
        throw corrupt(`${shown(lines[index])} starts with none of space, + and -`);
      }
      if ((prefix !== '+' && ended.old) || (prefix !== '-' && ended.new))
        throw corrupt('a line follows one that has no newline at its end');
      got = { old: got.old + (prefix === '+' ? 0 : 1), new: got.new + (prefix === '-' ? 0 : 1) };
      before = prefix;
    }
    const at = Math.min(index, lines.length - 1);
    if (got.old !== oldLines)
      throw corrupt(`expected ${oldLines} lines, got ${got.old} (of context and removed ones)`, at);
    if (got.new !== newLines)
      throw corrupt(`expected ${newLines} lines, got ${got.new} (of context and added ones)`, at);
  }
  return hunk;
}

/** A removed line may look like the first of these; two of them together do not stand inside a hunk that is complete. */
const startsFile = (lines: readonly string[], index: number) =>
  /^(?:diff -|Index: )/.test(lines[index] ?? '') ||
  (lines[index]?.startsWith('--- ') === true && lines[index + 1]?.startsWith('+++ ') === true);

function readWithLibrary(lines: readonly string[], refuse: Refuse): StructuredPatch {
  // It knows an empty line of context, but not one that ends as those of Windows do.
  const text = lines.map((line) => (line === '\r' ? ' \r' : line)).join('\n');
  let files: StructuredPatch[];
  try {
    files = parseUnifiedDiff(`${text}\n`);
  } catch (cause) {
    throw refuse('PATCH_CORRUPT', shown(cause instanceof Error ? cause.message : cause));
  }
  const [file, second] = files;
  if (file === undefined) throw refuse('PATCH_CORRUPT', 'it has no hunks');
  if (second !== undefined) throw refuse('PATCH_MULTI_FILE', 'it is of several files', 'Give one patch for each file.');
  return file;
}

/** Every name in the headers has to be the path that the caller gave, or the absence of the file. */
function checkNames(headers: readonly string[], parsed: StructuredPatch, path: string, refuse: Refuse): void {
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
    throw refuse('PATCH_PATH_MISMATCH', `its header names ${shown(name)}`, `Name the file that the patch is for.`);
  }
}
