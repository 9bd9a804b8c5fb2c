import { diffWordsWithSpace } from 'diff';
import type { PatchHunk } from '../answers.ts';
import { signOf, textOf } from './diff-rows.ts';

/** Characters of a line, from one to before another. */
export type Part = readonly [from: number, to: number];

/** Words that may differ before two lines count as different ones: it bounds the time for a long line. */
const MAX_EDITS = 200;

const known = new WeakMap<PatchHunk, ReadonlyMap<number, number>>();

/** The words of a line in which it differs from the line that it replaces, or that replaces it. Nothing where it is all of it. */
export function changedParts(hunk: PatchHunk, index: number): readonly Part[] {
  const partner = partnersOf(hunk).get(index);
  if (partner === undefined) return [];
  const own = textOf(hunk.lines[index]);
  const words = diffWordsWithSpace(own, textOf(hunk.lines[partner]), { maxEditLength: MAX_EDITS }) ?? [];
  const parts: Part[] = [];
  let [at, same] = [0, 0];
  for (const { value, added, removed } of words) {
    if (added) continue;
    if (removed) parts.push([at, at + value.length]);
    else same += lengthOf(value);
    at += value.length;
  }
  return same < lengthOf(own) * 0.3 ? [] : parts; // another line, and no change of this one
}

/** Characters without the spaces, which all lines have in common. */
const lengthOf = (text: string): number => text.replaceAll(/\s/g, '').length;

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
