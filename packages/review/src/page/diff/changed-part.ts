import type { PatchHunk } from '../answers.ts';
import { signOf, textOf } from './diff-rows.ts';

/** Characters of a line, from one to before another. */
export type Part = readonly [from: number, to: number];

const known = new WeakMap<PatchHunk, ReadonlyMap<number, number>>();

/** The characters of a line in which it differs from the line that it replaces, or that replaces it. Undefined where it is all of it. */
export function changedPart(hunk: PatchHunk, index: number): Part | undefined {
  const partner = partnersOf(hunk).get(index);
  if (partner === undefined) return undefined;
  const [own, other] = [textOf(hunk.lines[index]), textOf(hunk.lines[partner])];
  const most = Math.min(own.length, other.length);
  let from = 0;
  while (from < most && own[from] === other[from]) from++;
  let same = 0;
  while (same < most - from && own.at(-1 - same) === other.at(-1 - same)) same++;
  if (from + same < own.length * 0.3) return undefined; // another line, and no change of this one
  return [from, own.length - same];
}

/** Removed lines and as many added ones behind them belong together, one by one. */
function partnersOf(hunk: PatchHunk): ReadonlyMap<number, number> {
  const found = known.get(hunk);
  if (found) return found;
  const partners = new Map<number, number>();
  for (let index = 0; index < hunk.lines.length; ) {
    const removed = runOf(hunk, index, '-');
    const added = runOf(hunk, index + removed, '+');
    if (removed > 0 && removed === added)
      for (let place = index; place < index + removed; place++) {
        partners.set(place, place + removed);
        partners.set(place + removed, place);
      }
    index += removed + added || 1;
  }
  known.set(hunk, partners);
  return partners;
}

function runOf({ lines }: PatchHunk, start: number, sign: string): number {
  let end = start;
  while (end < lines.length && signOf(lines[end]) === sign) end++;
  return end - start;
}
