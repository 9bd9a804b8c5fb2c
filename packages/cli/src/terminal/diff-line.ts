import type { Talk } from './talk.ts';

/** A line of a diff in its colour. */
export function diffLine(talk: Talk, line: string, stream: NodeJS.WriteStream = process.stdout): string {
  if (/^(diff |index |--- |\+\+\+ |new file|deleted file|old mode|new mode|similarity|rename)/.test(line))
    return talk.paint('bold', line, stream);
  if (line.startsWith('@@')) return talk.paint('cyan', line, stream);
  if (line.startsWith('+')) return talk.paint('green', line, stream);
  return line.startsWith('-') ? talk.paint('red', line, stream) : line;
}
