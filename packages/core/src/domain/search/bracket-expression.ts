/** A set of characters: ranges of code points with both ends, sorted, apart from each other. */
export type CodePoints = readonly (readonly [number, number])[];

/** `\w` and `\s` of JavaScript. */
export const WORD: CodePoints = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
];
export const SPACE: CodePoints = [
  [9, 13],
  [32, 32],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];

const MAX_CODE_POINT = 0x10ffff;

export function united(one: CodePoints, other: CodePoints): CodePoints {
  const all: [number, number][] = [];
  for (const [from, to] of [...one, ...other].sort((a, b) => a[0] - b[0])) {
    const last = all.at(-1);
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else all.push([from, to]);
  }
  return all;
}

export const subtracted = (from: CodePoints, other: CodePoints): CodePoints =>
  complement(united(complement(from), other));

export const intersected = (one: CodePoints, other: CodePoints): CodePoints =>
  complement(united(complement(one), complement(other)));

export function complement(set: CodePoints): CodePoints {
  const gaps: [number, number][] = [];
  let next = 0;
  for (const [from, to] of set) {
    if (from > next) gaps.push([next, from - 1]);
    next = to + 1;
  }
  return next > MAX_CODE_POINT ? gaps : [...gaps, [next, MAX_CODE_POINT]];
}

/** NUL, the line break, and what is no character in UTF-8. */
const NOT_IN_LINES: CodePoints = [
  [0, 0],
  [10, 10],
  [0xd800, 0xdfff],
];

/** How many characters outside of ASCII one expression may list. */
const MAX_LISTED = 1000;

/** What has a meaning of its own in brackets, and so is neither end of a range. A backslash has none. */
const SPECIAL = new Set(Array.from('][^-', (character) => character.charCodeAt(0)));

/**
 * The POSIX expression for one character of a line that is in a set, or is not. All of white space becomes `[:space:]`, which
 * reads better and still means white space where the locale is another one.
 *
 * @returns the problem instead, when no character of a line is meant or too many have to be listed.
 */
export function bracketExpression(
  set: CodePoints,
  isNegated: boolean,
): string | { readonly problem: 'empty' | 'large' } {
  const members = subtracted(set, NOT_IN_LINES);
  const others = subtracted(complement(set), NOT_IN_LINES);
  if (members.length === 0 || others.length === 0)
    return (members.length === 0) === isNegated ? '.' : { problem: 'empty' };
  // A range that ends outside of ASCII is an error in C.UTF-8 for the regular expressions of glibc (REG_ECOLLATE), which
  // Debian's grep uses: its members are listed, or those of the complement.
  if (listed(members) <= MAX_LISTED) return bracketed(members, isNegated);
  return listed(others) <= MAX_LISTED ? bracketed(others, !isNegated) : { problem: 'large' };
}

const listed = (set: CodePoints) =>
  set.reduce((sum, [from, to]) => sum + Math.max(0, to - Math.max(from, 0x80) + 1), 0);

function bracketed(set: CodePoints, isNegated: boolean): string {
  const hasSpace = subtracted(subtracted(SPACE, NOT_IN_LINES), set).length === 0;
  const specials = new Set<number>();
  let text = hasSpace ? '[:space:]' : '';
  for (let [from, to] of hasSpace ? subtracted(set, SPACE) : set) {
    if (from < 0x80) for (; to >= 0x80; to -= 1) text = appended(text, to);
    for (; from <= to && SPECIAL.has(from); from += 1) specials.add(from);
    for (; from <= to && SPECIAL.has(to); to -= 1) specials.add(to);
    if (to >= from + 2 && to < 0x80) text += `${String.fromCodePoint(from)}-${String.fromCodePoint(to)}`;
    else for (; from <= to; from += 1) text = appended(text, from);
  }
  const special = (character: string) => (specials.has(character.charCodeAt(0)) ? character : '');
  // A closing bracket is one when it is first, a caret when it is not, a dash at either end, and nothing comes after an
  // opening bracket that would make a name of it.
  const isFirst = text === '' && !isNegated && special(']') === '' && special('[') === '';
  const end = isFirst ? `${special('-')}${special('^')}` : `${special('[')}${special('^')}${special('-')}`;
  const members = `${special(']')}${text}${end}`;
  return members === '^' && !isNegated ? '\\^' : `[${isNegated ? '^' : ''}${members}]`;
}

const appended = (text: string, code: number) => text + String.fromCodePoint(code);
