import { type FilePart, type ObjectId, type OfferedHunk, SeenChanges } from '@litterbox/core/provider';
import { type ByteString, fromByteString, toByteString } from '../git/byte-text.ts';
import { BOUNDED, PLAIN } from '../store/read-diff.ts';
import type { Store } from '../store/store.ts';

/** Bytes of a file's diff above which nobody is shown it by parts. */
const MAX_DIFF_BYTES = 8 * 2 ** 20;
/** And lines: each takes a hundred bytes of memory, however short it is. */
const MAX_DIFF_LINES = 100_000;
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const [NEWLINE, PLUS, MINUS, BACKSLASH] = [10, 43, 45, 92];

/** A run of lines that one side has and the other has not, counted from 0. */
interface Run {
  readonly old: Range;
  readonly new: Range;
}
type Range = { from: number; to: number };

/** All changes of one file between two trees. */
export interface FileChanges {
  readonly hunks: readonly OfferedHunk[];
  readonly runs: readonly Run[];
  readonly digest: string;
}

/** Reads them as `git diff` shows them; undefined when there are no lines to show, or too many. */
export async function readFileChanges(
  store: Store,
  [from, to]: readonly [from: ObjectId, to: ObjectId],
  path: ByteString,
  signal: AbortSignal | undefined,
): Promise<FileChanges | undefined> {
  const name = Buffer.from(toByteString(fromByteString(path)), 'latin1').toString('utf8');
  const args = [...BOUNDED, 'diff-tree', '-r', '-p', '-U3', '--no-renames', ...PLAIN, from, to, '--', name];
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of store.stream(args, { signal })) {
    bytes += piece.length;
    if (bytes > MAX_DIFF_BYTES) return undefined;
    pieces.push(piece);
  }
  return await parse(Buffer.concat(pieces));
}

async function parse(diff: Buffer): Promise<FileChanges | undefined> {
  const seen = new SeenChanges();
  const hunks: OfferedHunk[] = [];
  const runs: Run[] = [];
  let lines: Uint8Array[] = [];
  let [old, now, oldEnd, nowEnd] = [0, 0, 0, 0];
  let count = 0;
  for (const line of linesOf(diff)) {
    if (++count > MAX_DIFF_LINES) return undefined;
    const [sign] = line;
    if (old >= oldEnd && now >= nowEnd && sign !== BACKSLASH) {
      const [found, oldStart, oldCount = '1', nowStart, nowCount = '1'] = HUNK.exec(line.toString('latin1')) ?? [];
      if (found === undefined) continue;
      seen.end();
      // Git names the line before an empty range.
      old = Number(oldStart) - (oldCount === '0' ? 0 : 1);
      now = Number(nowStart) - (nowCount === '0' ? 0 : 1);
      [oldEnd, nowEnd] = [old + Number(oldCount), now + Number(nowCount)];
      lines = [];
      hunks.push({ heading: line, lines, firstChange: seen.count });
      continue;
    }
    if (hunks.length === 0) continue;
    lines.push(line);
    if (seen.add(line) && seen.count > runs.length)
      runs.push({ old: { from: old, to: old }, new: { from: now, to: now } });
    if (sign !== PLUS && sign !== BACKSLASH) old++;
    if (sign !== MINUS && sign !== BACKSLASH) now++;
    const run = runs.at(-1);
    if (run && sign === MINUS) run.old.to = old;
    if (run && sign === PLUS) run.new.to = now;
  }
  return hunks.length === 0 ? undefined : { hunks, runs, digest: await seen.digest() };
}

/** The old content with some of the runs as the new one has them. */
export function withRuns(
  [old, next]: readonly [old: Buffer, next: Buffer],
  runs: readonly Run[],
  { changes }: Pick<FilePart, 'changes'>,
): Buffer {
  const [before, after] = [linesIn(old), linesIn(next)];
  const taken = new Set(changes);
  const kept: Buffer[] = [];
  let at = 0;
  runs.forEach((run, number) => {
    kept.push(
      before(at, run.old.from),
      taken.has(number) ? after(run.new.from, run.new.to) : before(run.old.from, run.old.to),
    );
    at = run.old.to;
  });
  return Buffer.concat([...kept, before(at, Infinity)]);
}

/** Ways to read a content that are followed at once. */
const MAX_READINGS = 256;

/** Which of the runs a content has; undefined where it is not the old one with some of them, or could be so in too many ways. */
export function runsIn(
  [old, next]: readonly [old: Buffer, next: Buffer],
  runs: readonly Run[],
  content: Buffer,
): readonly number[] | undefined {
  const [before, after] = [linesIn(old), linesIn(next)];
  const isAt = (place: number, piece: Buffer) => content.subarray(place, place + piece.length).equals(piece);
  let readings: ReadonlyMap<number, Chosen | undefined> = new Map([[0, undefined]]);
  let at = 0;
  for (const [number, run] of runs.entries()) {
    const kept = before(at, run.old.from);
    const sides = [before(run.old.from, run.old.to), after(run.new.from, run.new.to)] as const;
    const found = new Map<number, Chosen | undefined>();
    for (const [place, chosen] of readings) {
      if (!isAt(place, kept)) continue;
      const begin = place + kept.length;
      for (const [side, piece] of sides.entries())
        if (isAt(begin, piece) && !found.has(begin + piece.length))
          found.set(begin + piece.length, side === 0 ? chosen : { number, others: chosen });
    }
    if (found.size === 0 || found.size > MAX_READINGS) return undefined;
    readings = found;
    at = run.old.to;
  }
  const rest = before(at, Infinity);
  const end = content.length - rest.length;
  return readings.has(end) && isAt(end, rest) ? numbersOf(readings.get(end)) : undefined;
}

interface Chosen {
  readonly number: number;
  readonly others: Chosen | undefined;
}

function numbersOf(chosen: Chosen | undefined): readonly number[] {
  const numbers: number[] = [];
  for (let one = chosen; one; one = one.others) numbers.push(one.number);
  return numbers;
}

/** Lines of a content by their numbers, with their newlines. */
function linesIn(bytes: Buffer): (from: number, to: number) => Buffer {
  const starts = [0];
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, end + 1)) starts.push(end + 1);
  return (from, to) => bytes.subarray(starts[from] ?? bytes.length, starts[to] ?? bytes.length);
}

function* linesOf(bytes: Buffer): Generator<Buffer, void, undefined> {
  let from = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
    yield bytes.subarray(from, end);
    from = end + 1;
  }
  if (from < bytes.length) yield bytes.subarray(from);
}
