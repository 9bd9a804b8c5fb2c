import type { LitterboxError } from '../errors/errors.ts';
import type { PatchHunk, RefusePatch } from './file-patch.ts';
import { numbersText } from '../text/numbers-text.ts';
import { shown } from '../text/shown.ts';

/** What git and GNU patch count lines with. */
const MAX_LINE_NUMBER = 2 ** 31;
const HUNK_HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
/** Words for "somewhere" in a header without numbers. */
const ANYWHERE = ['', '...', '\u2026'];

/** Which lines are read, and how. */
export interface HunkLines {
  readonly start: number;
  readonly end: number;
  /** The file is not there: a hunk needs no line of it to have a place. */
  readonly isCreate?: boolean;
  /** In the form of Codex: the first hunk needs no header, one hunk may have several, and `*** End of File` ends one. */
  readonly isOfLines?: boolean;
}

const END_OF_FILE = '*** End of File';

export const severalFiles = (index: number, refuse: RefusePatch): LitterboxError =>
  refuse('PATCH_MULTI_FILE', `line ${index + 1}: another file starts`, 'Give one patch for each file.');

interface Counts {
  readonly old: number;
  readonly new: number;
}

interface Header {
  /** Absent without numbers. */
  readonly at?: { readonly old: number; readonly new: number; readonly counts: Counts };
  readonly below: readonly string[];
  /** The line after it. */
  readonly next: number;
}

interface Body extends Counts {
  readonly lines: readonly string[];
  readonly hasChange: boolean;
  readonly end: number;
  readonly ended: Ended;
}

/** What ends without a newline is the end of its text: nothing can follow it. */
interface Ended {
  readonly old: boolean;
  readonly new: boolean;
}

type Corrupt = (what: string, at?: number) => LitterboxError;

const isBlank = (line: string | undefined) => /^\r?$/.test(line ?? '');

/**
 * Every hunk by its own counts. Where these are wrong, or where there are none, a hunk reaches to the next header.
 *
 * @throws LitterboxError `PATCH_CORRUPT`, `PATCH_MULTI_FILE`, `PATCH_UNSUPPORTED`.
 */
export function readHunks(
  lines: readonly string[],
  range: HunkLines,
  refuse: RefusePatch,
): { readonly hunks: readonly PatchHunk[]; readonly notes: readonly string[] } {
  const hunks: PatchHunk[] = [];
  let ended: Ended = { old: false, new: false };
  for (let index = range.start; index < range.end; ) {
    const line = lines[index] ?? '';
    if (isBlank(line)) {
      index += 1;
      continue;
    }
    const isFirstOfLines = range.isOfLines === true && hunks.length === 0 && /^[-+ ]/.test(line);
    const number = hunks.length + (line.startsWith('@@') || isFirstOfLines ? 1 : 0);
    const corrupt: Corrupt = (what, at = index) => refuse('PATCH_CORRUPT', `hunk ${number}, line ${at + 1}: ${what}`);
    if (!range.isOfLines && startsFile(lines, index)) throw severalFiles(index, refuse);
    if (line.startsWith('@@@')) throw refuse('PATCH_UNSUPPORTED', 'it is the combined diff of a merge');
    if (!line.startsWith('@@') && !isFirstOfLines) throw corrupt(`after it, ${shown(line)} belongs to no hunk`);
    const header = isFirstOfLines ? { below: [], next: index } : readHeader(lines, index, range, corrupt);
    const { body, isRecounted } = readBody(lines, header, range, ended, corrupt);
    ended = body.ended;
    index = body.end;
    const isLast = range.isOfLines === true && lines[index]?.trimEnd() === END_OF_FILE;
    if (isLast) index += 1;
    if (!header.at && body.old === 0 && range.isCreate !== true && !isLast && header.below.length === 0)
      throw corrupt('it has neither numbers nor a line of context, so it could go anywhere', header.next);
    hunks.push({
      ...(header.at && {
        // A hunk without lines on one side names the line before it.
        oldIndex: header.at.old - (header.at.counts.old === 0 && !isRecounted ? 0 : 1),
        newIndex: header.at.new - (header.at.counts.new === 0 && !isRecounted ? 0 : 1),
      }),
      ...(isRecounted && { isRecounted }),
      ...(header.below.length > 0 && { below: header.below }),
      ...(isLast && { isLast }),
      lines: body.lines,
    });
  }
  const recounted = hunks.flatMap(({ isRecounted }, index) => (isRecounted === true ? [index + 1] : []));
  return {
    hunks,
    notes:
      recounted.length === 0
        ? []
        : [`the counts in the header of ${numbersText('hunk', recounted)} were wrong; the lines were counted instead`],
  };
}

function readHeader(lines: readonly string[], index: number, { isOfLines, end }: HunkLines, corrupt: Corrupt): Header {
  const line = lines[index] ?? '';
  const [, oldStart, oldCount = '1', newStart, newCount = '1'] = HUNK_HEADER.exec(line) ?? [];
  if (oldStart === undefined) {
    const below: string[] = [];
    // Several in a row: a class, and a method of it.
    const most = isOfLines === true ? end : index + 1;
    let next = index;
    for (; next < most && (next === index || lines[next]?.startsWith('@@') === true); next += 1) {
      const text = anchorOf(lines[next] ?? '');
      if (text === undefined) throw corrupt(`${shown(lines[next])} is not @@ -START,COUNT +START,COUNT @@`, next);
      if (!ANYWHERE.includes(text)) below.push(text);
    }
    return { below, next };
  }
  const numbers = [oldStart, oldCount, newStart, newCount].map(Number);
  const [oldFrom = 0, oldLines = 0, newFrom = 0, newLines = 0] = numbers;
  if (numbers.some((number) => number > MAX_LINE_NUMBER)) throw corrupt('a number is larger than 2^31');
  if ((oldFrom === 0 && oldLines > 0) || (newFrom === 0 && newLines > 0)) throw corrupt('lines are counted from 1');
  if (oldLines + newLines === 0) throw corrupt('it has no lines');
  return { at: { old: oldFrom, new: newFrom, counts: { old: oldLines, new: newLines } }, below: [], next: index + 1 };
}

/** The text of a header without numbers: a line above the hunk. `undefined` for what is no such header. */
function anchorOf(line: string): string | undefined {
  if (!/^@@(?:\s|$)/.test(line)) return undefined;
  const rest = line.slice(2).trim();
  const text = rest.endsWith('@@') ? rest.slice(0, -2).trimEnd() : rest;
  return /^[-+]/.test(text) ? undefined : text;
}

function readBody(
  lines: readonly string[],
  { at, next }: Header,
  range: HunkLines,
  ended: Ended,
  corrupt: Corrupt,
): { readonly body: Body; readonly isRecounted: boolean } {
  const read = (counts?: Counts) => walkBody(lines, next, range, ended, corrupt, counts);
  if (!at) {
    const body = read();
    if (!body.hasChange) throw corrupt('it changes no line', next - 1);
    return { body, isRecounted: false };
  }
  const wrong = (error: LitterboxError) => {
    const body = read();
    // Without a line of the file nothing tells where it goes but numbers of which some are wrong.
    if (!body.hasChange || (body.old === 0 && range.isCreate !== true)) throw error;
    return { body, isRecounted: true };
  };
  const { counts } = at;
  const body = read(counts);
  const end = Math.min(body.end, lines.length - 1);
  if (body.old !== counts.old)
    return wrong(corrupt(`expected ${counts.old} lines, got ${body.old} (of context and removed ones)`, end));
  if (body.new !== counts.new)
    return wrong(corrupt(`expected ${counts.new} lines, got ${body.new} (of context and added ones)`, end));
  let after = body.end;
  while (after < range.end && isBlank(lines[after])) after += 1;
  const isOver = after >= range.end || !/^[-+ \\]/.test(lines[after] ?? '') || isBoundary(lines, after, range);
  return isOver
    ? { body, isRecounted: false }
    : wrong(corrupt(`after it, ${shown(lines[after])} belongs to no hunk`, after));
}

/** The lines of a hunk: as many as its counts say, and more only where more follow; without counts up to the next header. */
function walkBody(
  lines: readonly string[],
  start: number,
  range: HunkLines,
  before: Ended,
  corrupt: Corrupt,
  counts?: Counts,
): Body {
  const body: string[] = [];
  let ended = before;
  let old = 0;
  let fresh = 0;
  let hasChange = false;
  let previous = '';
  let index = start;
  for (; index < range.end; index += 1) {
    const line = lines[index] ?? '';
    const isComplete = counts !== undefined && old >= counts.old && fresh >= counts.new;
    const prefix = isBlank(line) ? ' ' : (line[0] ?? '');
    if (prefix === '\\') {
      if (!/^[-+ ]$/.test(previous)) throw corrupt('no line stands before this one', index);
      ended = { old: ended.old || previous !== '+', new: ended.new || previous !== '-' };
      previous = prefix;
      body.push(line);
      continue;
    }
    // An empty line after the last one is no context any more.
    if (isComplete && (isBoundary(lines, index, range) || isBlank(line))) break;
    if (counts === undefined && isBoundary(lines, index, range)) break;
    if (!/^[-+ ]$/.test(prefix)) {
      if (isComplete || prefix === '@' || isBoundary(lines, index, range)) break;
      throw corrupt(`${shown(line)} starts with none of space, + and -`, index);
    }
    if ((prefix !== '+' && ended.old) || (prefix !== '-' && ended.new)) {
      if (counts === undefined && isBlank(line)) break;
      throw corrupt('a line follows one that has no newline at its end', index);
    }
    if (prefix !== '+') old += 1;
    if (prefix !== '-') fresh += 1;
    hasChange ||= prefix !== ' ';
    previous = prefix;
    body.push(isBlank(line) ? ` ${line}` : line);
  }
  if (counts === undefined)
    for (let last = index - 1; last >= start && isBlank(lines[last]); last -= 1) {
      // Empty lines before the next header may be context, or nothing: without them the change is the same.
      body.pop();
      old -= 1;
      fresh -= 1;
    }
  return { lines: body, old, new: fresh, hasChange, end: index, ended };
}

function isBoundary(lines: readonly string[], index: number, { isOfLines }: HunkLines): boolean {
  return isOfLines === true ? lines[index]?.startsWith('*** ') === true : startsFile(lines, index);
}

/** A removed line may look like the first of these; two of them together do not stand inside a hunk that is complete. */
function startsFile(lines: readonly string[], index: number): boolean {
  return (
    /^(?:diff -|Index: )/.test(lines[index] ?? '') ||
    (lines[index]?.startsWith('--- ') === true && lines[index + 1]?.startsWith('+++ ') === true)
  );
}
