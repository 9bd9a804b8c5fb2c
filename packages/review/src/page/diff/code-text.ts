import type { Part } from './changed-part.ts';
import { element } from '../element.ts';
import type { Token } from '../token-emitter.ts';

/** The middle of a line that is too long, and its end. */
export interface Gap {
  readonly more: number;
  readonly tail: string;
}

/** A line of code with its colours, and with the part that changed marked. */
export function codeText(
  text: string,
  tokens: readonly Token[] | undefined,
  part: Part | undefined,
  gap: Gap | undefined,
): HTMLElement {
  const code = element('code');
  let at = 0;
  for (const [length, kind] of tokens ?? ([[text.length, '']] as const)) {
    const end = Math.min(text.length, at + length);
    for (const [from, to, isChanged] of cut(at, end, part)) {
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
  part: Part | undefined,
): Generator<readonly [from: number, to: number, isChanged: boolean]> {
  if (!part || to <= part[0] || from >= part[1]) return yield [from, to, false];
  if (from < part[0]) yield [from, part[0], false];
  yield [Math.max(from, part[0]), Math.min(to, part[1]), true];
  if (to > part[1]) yield [part[1], to, false];
}
