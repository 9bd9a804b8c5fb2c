import { type FileChange, visibleName } from '@litterbox/core';
import type { Talk } from './talk.ts';

const MAX_BAR = 40;
const LETTERS = { added: 'A', modified: 'M', deleted: 'D', 'type-changed': 'T' } as const;

/** A line for each changed file: what became of it, how many lines came and went, and on a terminal a bar of them. */
export function statLines(
  talk: Pick<Talk, 'paint'>,
  changes: readonly FileChange[],
  stream: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>,
): readonly string[] {
  const paint = (format: 'green' | 'red', text: string) =>
    text === '' ? '' : talk.paint(format, text, stream as NodeJS.WriteStream);
  const rows = changes.map((change) => ({ change, path: visibleName(change.path), counts: countsOf(change) }));
  const width = (texts: readonly string[]) => Math.max(0, ...texts.map(({ length }) => length));
  const [added, removed] = [
    width(rows.map(({ counts }) => counts?.[0] ?? '')),
    width(rows.map(({ counts }) => counts?.[1] ?? '')),
  ];
  const columns = stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY;
  const rest = columns - '  M '.length - added - removed - '    '.length; // two of them before the counts, two in and after
  const pathWidth = Math.min(width(rows.map(({ path }) => path)), Math.max(20, rest - 10));
  const barWidth = stream.isTTY ? Math.max(0, Math.min(MAX_BAR, rest - pathWidth - 1)) : 0;
  const most = Math.max(barWidth, ...changes.map((change) => (change.addedLines ?? 0) + (change.removedLines ?? 0)));
  const bar = (count = 0) => Math.ceil((count * barWidth) / Math.max(1, most));
  return rows.map(({ change, path, counts }) => {
    const { status, wasExecutable, addedLines, removedLines, binary, largeFileBytes } = change;
    const mode = wasExecutable === undefined ? '' : wasExecutable ? 'mode 755 → 644' : 'mode 644 → 755';
    const isModeAlone = mode !== '' && addedLines === 0 && removedLines === 0;
    const large = largeFileBytes === undefined ? undefined : `${largeFileBytes} bytes of Git LFS`;
    const words = isModeAlone ? mode : (large ?? (binary ? 'binary' : counts ? '' : 'conflicts'));
    const lines = counts
      ? `${paint('green', counts[0].padStart(added))} ${paint('red', counts[1].padStart(removed))}  ${paint('green', '+'.repeat(bar(addedLines)))}${paint('red', '-'.repeat(bar(removedLines)))}`
      : '';
    const told = words === '' ? `${lines.trimEnd()}${mode === '' ? '' : `  ${mode}`}` : words;
    return `  ${LETTERS[status]} ${shortened(path, pathWidth).padEnd(pathWidth)}  ${told}`;
  });
}

function countsOf({ addedLines, removedLines, binary }: FileChange): readonly [string, string] | undefined {
  return binary || addedLines === undefined ? undefined : [`+${addedLines}`, `-${removedLines ?? 0}`];
}

/** The end of a path tells files apart. */
const shortened = (path: string, width: number): string =>
  path.length <= width ? path : `…${path.slice(path.length - width + 1)}`;
