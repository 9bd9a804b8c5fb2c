import type { Row, Side } from './diff-rows.ts';

const LINE_PX = 20;

/** The height of a row before it was drawn, in pixels. @param columns characters that a line of code has room for */
export function guessHeight(row: Row, columns: number): number {
  if (row.type === 'file') return 44;
  if (row.type === 'hunk') return 28;
  if (row.type === 'note') return 28;
  if (row.type === 'binary') return 40;
  const length = ({ hunk, index }: Side) => {
    const line = hunk.lines[index];
    return typeof line === 'object' ? line[0].length + line[2].length : (line?.length ?? 0);
  };
  const most = Math.max(row.left ? length(row.left) : 0, row.right ? length(row.right) : 0);
  return Math.max(1, Math.ceil(most / columns)) * LINE_PX;
}
