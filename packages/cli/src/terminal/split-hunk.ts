import type { OfferedHunk } from '@litterbox/core';

const HEADING = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/s;
const [PLUS, MINUS, BACKSLASH] = [43, 45, 92];

/** Lines of a hunk that belong to one change. */
interface Range {
  readonly from: number;
  to: number;
}

/** The changes of a hunk: runs of lines with a sign. */
export function changesIn({ lines }: Pick<OfferedHunk, 'lines'>): readonly Range[] {
  const ranges: Range[] = [];
  let isInside = false;
  lines.forEach(([sign], at) => {
    const isSign = sign === PLUS || sign === MINUS || (sign === BACKSLASH && isInside);
    if (isSign && !isInside) ranges.push({ from: at, to: at });
    isInside = isSign;
    const last = ranges.at(-1);
    if (isInside && last) last.to = at + 1;
  });
  return ranges;
}

/** A hunk for each of its changes, with the lines around it. */
export function splitHunk(hunk: OfferedHunk): readonly OfferedHunk[] {
  const { heading, lines, firstChange } = hunk;
  const [, oldStart = '0', newStart = '0', title = ''] = HEADING.exec(Buffer.from(heading).toString('latin1')) ?? [];
  const ranges = changesIn(hunk);
  const count = (from: number, to: number, other: number) =>
    lines.slice(from, to).filter(([sign]) => sign !== other && sign !== BACKSLASH).length;
  return ranges.map((_, number) => {
    const from = ranges[number - 1]?.to ?? 0;
    const to = ranges[number + 1]?.from ?? lines.length;
    const side = (start: string, other: number) => `${Number(start) + count(0, from, other)},${count(from, to, other)}`;
    const numbers = `@@ -${side(oldStart, PLUS)} +${side(newStart, MINUS)} @@${title}`;
    return { heading: Buffer.from(numbers, 'latin1'), lines: lines.slice(from, to), firstChange: firstChange + number };
  });
}
