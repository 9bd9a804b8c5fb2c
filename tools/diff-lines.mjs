import { diffLines as compare } from 'diff';

/** Lines that differ, `-` before and `+` after, at most 60 of them. */
export function diffLines(before, after) {
  const lines = compare(before, after).flatMap(({ added, removed, value }) =>
    added || removed
      ? value
          .replace(/\n$/, '')
          .split('\n')
          .map((line) => `${added ? '+' : '-'} ${line}`)
      : [],
  );
  return [...lines.slice(0, 60), ...(lines.length > 60 ? [`… and ${lines.length - 60} more`] : [])].join('\n');
}
