import type { PatchHunk } from '../answers.ts';
import { signOf } from './diff-rows.ts';

/** Whether a line belongs to a change. A sentence about a missing newline is of the line before it. */
const isChanged = (sign: string, isInside: boolean) => sign === '+' || sign === '-' || (sign === '\\' && isInside);

/** Numbers of the changes of a hunk: runs of added and removed lines. */
export function changesOf({ firstChange, lines }: PatchHunk): readonly number[] {
  let count = 0;
  let isInside = false;
  for (const line of lines) {
    const isPart = isChanged(signOf(line), isInside);
    if (isPart && !isInside) count++;
    isInside = isPart;
  }
  return Array.from({ length: count }, (_, at) => firstChange + at);
}

/** A hunk for each of its changes. Lines between two changes stand before the later one. */
export function splitHunk(hunk: PatchHunk): readonly PatchHunk[] {
  const pieces: { lines: PatchHunk['lines'][number][]; oldStart: number; newStart: number }[] = [];
  let { oldStart, newStart } = hunk;
  let piece = { lines: [] as PatchHunk['lines'][number][], oldStart, newStart };
  let isInside = false;
  let hasChange = false;
  for (const line of hunk.lines) {
    const sign = signOf(line);
    const isPart = isChanged(sign, isInside);
    if (isInside && !isPart && hasChange) {
      pieces.push(piece);
      piece = { lines: [], oldStart, newStart };
      hasChange = false;
    }
    if (isPart) hasChange = true;
    isInside = isPart;
    piece.lines.push(line);
    if (sign !== '+' && sign !== '\\') oldStart++;
    if (sign !== '-' && sign !== '\\') newStart++;
  }
  if (hasChange || pieces.length === 0) pieces.push(piece);
  else pieces.at(-1)?.lines.push(...piece.lines);
  return pieces.map((one, at) => ({ ...one, title: hunk.title, firstChange: hunk.firstChange + at }));
}
