import type { Talk } from './talk.ts';

/** A line of a diff in its colour. */
export function diffLine(talk: Talk, line: string): string {
  if (/^(diff |index |--- |\+\+\+ |new file|deleted file|old mode|new mode|similarity|rename)/.test(line))
    return talk.paint('bold', line);
  if (line.startsWith('@@')) return talk.paint('cyan', line);
  if (line.startsWith('+')) return talk.paint('green', line);
  return line.startsWith('-') ? talk.paint('red', line) : line;
}
