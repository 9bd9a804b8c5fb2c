import type { Part } from './changed-parts.ts';
import { element } from '../element.ts';
import type { Token } from '../token-emitter.ts';

/** The middle of a line that is too long, and its end. */
export interface Gap {
  readonly more: number;
  readonly tail: string;
}

/** A line of code with its colours, and with the parts that changed marked. */
export function codeText(
  text: string,
  tokens: readonly Token[] | undefined,
  parts: readonly Part[],
  gap: Gap | undefined,
): HTMLElement {
  const code = element('code');
  let at = 0;
  for (const [length, kind] of tokens ?? ([[text.length, '']] as const)) {
    const end = Math.min(text.length, at + length);
    for (const [from, to, isChanged] of cut(at, end, parts)) {
      const piece = text.slice(from, to);
      const classes = [kind === '' ? '' : `c-${kind}`, isChanged ? 'changed' : ''].filter((name) => name !== '');
      code.append(classes.length === 0 ? piece : element('span', { class: classes.join(' ') }, piece));
    }
    at = end;
  }
  if (at < text.length) code.append(text.slice(at));
  if (gap) {
    const words = `… ${gap.more.toLocaleString('en')} characters are not shown …`;
    code.append(element('em', { class: 'more' }, words), gap.tail);
  }
  return code;
}

function* cut(
  from: number,
  to: number,
  parts: readonly Part[],
): Generator<readonly [from: number, to: number, isChanged: boolean]> {
  let at = from;
  for (const [start, end] of parts) {
    if (end <= at || start >= to) continue;
    if (start > at) yield [at, start, false];
    yield [Math.max(at, start), Math.min(to, end), true];
    at = Math.min(to, end);
  }
  if (at < to) yield [at, to, false];
}
