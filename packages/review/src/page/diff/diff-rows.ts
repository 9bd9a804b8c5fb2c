import type { PatchFile, PatchHunk, PatchLine } from '../answers.ts';

/** One row of the list: the heading of a file, that of a hunk, a line, two lines side by side, a sentence, or a binary file. */
export type Row =
  | { readonly type: 'file'; readonly file: number }
  | { readonly type: 'hunk'; readonly file: number; readonly hunk: PatchHunk }
  | { readonly type: 'note'; readonly file: number; readonly text: string }
  | { readonly type: 'binary'; readonly file: number }
  | { readonly type: 'lines'; readonly file: number; readonly left?: Side; readonly right?: Side };

/** A line of one side. In a unified diff a row has one, or the same text on both. */
export interface Side {
  readonly hunk: PatchHunk;
  /** Its place in the hunk. */
  readonly index: number;
  readonly number: number;
}

export const textOf = (line: PatchLine | undefined): string =>
  (typeof line === 'string' ? line : (line?.[0] ?? '')).slice(1);
export const signOf = (line: PatchLine | undefined): string =>
  (typeof line === 'string' ? line : (line?.[0] ?? ''))[0] ?? ' ';

/** All of a line that is here. */
export const wholeText = (line: PatchLine): string =>
  (typeof line === 'string' ? line : `${line[0]}\n${line[2]}`).slice(1);

const MODES: Readonly<Record<string, string>> = {
  '100644': 'an ordinary file',
  '100755': 'an executable file',
  '120000': 'a symbolic link',
  '160000': 'a submodule',
};
const modeOf = (mode: string) => MODES[mode] ?? `mode ${mode}`;

function modeText([before, after]: readonly [before: string, after: string]): string {
  if (after === '') return `was ${modeOf(before)}`;
  return before === '' || before === after ? `is ${modeOf(after)}` : `was ${modeOf(before)}, is ${modeOf(after)}`;
}

/** The lines of a row. */
export const sidesOf = ({ left, right }: Pair): readonly (PatchLine | undefined)[] =>
  [left, right].map((side) => side?.hunk.lines[side.index]);

/** Files with more lines are folded until somebody opens them. */
export const FOLDED_LINES = 3_000;

export const linesOf = ({ hunks }: PatchFile): number => hunks.reduce((sum, { lines }) => sum + lines.length, 0);

/** Rows of a file, in the order of the list. */
export function rowsOf(file: PatchFile, at: number, isSplit: boolean, isFolded: boolean): Row[] {
  const rows: Row[] = [{ type: 'file', file: at }];
  const note = (text: string) => rows.push({ type: 'note', file: at, text });
  const lines = linesOf(file);
  if (isFolded && lines > FOLDED_LINES) note(`${lines.toLocaleString('en')} lines are folded. x shows them.`);
  if (isFolded) return rows;
  if (file.modes) note(modeText(file.modes));
  if (file.isBinary) rows.push({ type: 'binary', file: at });
  else if (file.hunks.length === 0 && !file.modes) note(file.change === 'renamed' ? 'Renamed as it was.' : 'Empty.');
  for (const hunk of file.hunks) {
    rows.push({ type: 'hunk', file: at, hunk });
    for (const row of isSplit ? splitRows(hunk) : unifiedRows(hunk))
      rows.push(typeof row === 'string' ? { type: 'note', file: at, text: row } : { type: 'lines', file: at, ...row });
  }
  if (file.leftOut > 0)
    note(
      `${file.leftOut.toLocaleString('en')} more lines are not shown here: read them in the terminal before you decide.`,
    );
  return rows;
}

type Pair = { readonly left?: Side; readonly right?: Side };

const NO_END = 'No newline at the end of the file.';
/** Side by side, the sentence stands below both sides. */
const endText = (sign: string) =>
  sign === '-' ? 'Before: no newline at the end.' : sign === '+' ? 'Now: no newline at the end.' : NO_END;

function* unifiedRows(hunk: PatchHunk): Generator<Pair | string> {
  let [before, after] = [hunk.oldStart, hunk.newStart];
  for (let index = 0; index < hunk.lines.length; index++) {
    const sign = signOf(hunk.lines[index]);
    if (sign === '\\') yield NO_END;
    else if (sign === '-') yield { left: { hunk, index, number: before++ } };
    else if (sign === '+') yield { right: { hunk, index, number: after++ } };
    else yield { left: { hunk, index, number: before++ }, right: { hunk, index, number: after++ } };
  }
}

function* splitRows(hunk: PatchHunk): Generator<Pair | string> {
  let [before, after] = [hunk.oldStart, hunk.newStart];
  let removed: Side[] = [];
  let added: Side[] = [];
  let ends: string[] = [];
  function* flush(): Generator<Pair | string> {
    for (let index = 0; index < Math.max(removed.length, added.length); index++) {
      const [left, right] = [removed[index], added[index]];
      yield { ...(left && { left }), ...(right && { right }) };
    }
    yield* ends;
    removed = [];
    added = [];
    ends = [];
  }
  for (let index = 0; index < hunk.lines.length; index++) {
    const sign = signOf(hunk.lines[index]);
    if (sign === '-') removed.push({ hunk, index, number: before++ });
    else if (sign === '+') added.push({ hunk, index, number: after++ });
    else if (sign === '\\') ends.push(endText(signOf(hunk.lines[index - 1])));
    else if (sign === ' ' || sign === '') {
      yield* flush();
      yield { left: { hunk, index, number: before++ }, right: { hunk, index, number: after++ } };
    }
  }
  yield* flush();
}
