import { decodeRaw } from '@litterbox/core/provider';

/** A line of two texts side by side: in both, or in one of them. */
export interface LineChange {
  readonly kind: ' ' | '-' | '+';
  /** Without its newline. */
  readonly text: string;
}

/** How the lines of one text become those of another, by the longest lines that they share. For small texts. */
export function lineChanges(before: Uint8Array, after: Uint8Array): readonly LineChange[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  const shared = Array.from({ length: old.length + 1 }, () => Array.from(now, () => 0).concat(0));
  const at = (row: number, column: number) => shared[row]?.[column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1)
    for (let column = now.length - 1; column >= 0; column -= 1) {
      const line = shared[row];
      if (!line) continue;
      line[column] =
        old[row] === now[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  const changes: LineChange[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < now.length) {
    const [left, right] = [old[row], now[column]];
    if (left !== undefined && left === right) {
      changes.push({ kind: ' ', text: left });
      row += 1;
      column += 1;
    } else if (left !== undefined && (right === undefined || at(row + 1, column) >= at(row, column + 1))) {
      changes.push({ kind: '-', text: left });
      row += 1;
    } else if (right !== undefined) {
      changes.push({ kind: '+', text: right });
      column += 1;
    }
  }
  return changes;
}

/** As git tells: a NUL near the start. */
export function isBinary(content: Uint8Array): boolean {
  return content.subarray(0, 8000).includes(0);
}

function linesOf(content: Uint8Array): readonly string[] {
  const text = decodeRaw(content);
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}
