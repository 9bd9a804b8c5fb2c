/** Stands before a character of a pattern that means itself. */
export const LITERAL = '\u0001';

/** Whether a pattern has something to fill in. */
export function hasWildcards(pattern: string): boolean {
  return /(?:^|[^\u0001])[*?[]/.test(pattern);
}

export const withoutMarks = (pattern: string) => pattern.replaceAll(LITERAL, '');

/** A pattern of the shell as an expression for whole texts. */
export function globExpression(pattern: string, isPath = false): RegExp {
  let source = '';
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at] ?? '';
    if (character === LITERAL) {
      at += 1;
      source += escaped(pattern[at] ?? '');
    } else if (character === '*') source += isPath ? '[^/]*' : '[^]*';
    else if (character === '?') source += isPath ? '[^/]' : '[^]';
    else if (character === '[' && pattern.indexOf(']', at + 2) !== -1) {
      const end = pattern.indexOf(']', at + 2);
      const inside = withoutMarks(pattern.slice(at + 1, end));
      source += `[${inside.startsWith('!') ? '^' : ''}${inside.replace(/^!/, '').replace(/[\\\]^]/g, '\\$&')}]`;
      at = end;
    } else source += escaped(character);
  }
  return new RegExp(`^${source}$`);
}

const escaped = (character: string) => character.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
