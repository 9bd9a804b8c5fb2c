import { LitterboxError, type LitterboxErrorCode } from '../errors/errors.ts';
import { encodeRaw } from '../text/raw-text.ts';
import { shown } from '../text/shown.ts';

const MAX_PATTERN_BYTES = 4096;
const MAX_ALTERNATIVES = 256;
/** All alternatives together, in characters: what a path is compared with, at worst each with each of its own. */
const MAX_EXPANDED = 16_384;

type Part =
  | { readonly type: 'character'; readonly value: string }
  | { readonly type: 'any' | 'star' | 'slash' }
  | { readonly type: 'class'; readonly isNegated: boolean; readonly ranges: readonly (readonly [number, number])[] }
  | { readonly type: 'braces'; readonly alternatives: readonly (readonly Part[])[] };

/** What one segment of a path has to be: any number of segments, this text, or what these parts match. */
type Segment = { readonly type: 'segments' } | string | readonly Part[];

type Refuse = (code: LitterboxErrorCode, what: string, hint: string) => LitterboxError;

/**
 * Says of a path whether a glob pattern matches all of it. Paths are relative, without empty segments, `.` and `..`.
 *
 * `*` and `?` match within a segment, `**` alone between slashes any number of segments, none too unless it is the end;
 * `[a-z]`, `[!a-z]`, `{a,b}` and `\` as in a shell. Names that start with a dot are like any other. The time is bounded by the product of both lengths:
 * nothing is tried again that was tried before (decision 20).
 *
 * @throws LitterboxError `PATTERN_EMPTY`, `PATTERN_TOO_LONG`, `PATTERN_TOO_COMPLEX`, `GLOB_INVALID`.
 */
export function globMatcher(pattern: string): (path: string) => boolean {
  const refuse: Refuse = (code, what, hint) =>
    new LitterboxError(code, `The pattern ${shown(pattern)} ${what}.`, { operation: 'glob.pattern', hint });
  if (pattern === '') throw refuse('PATTERN_EMPTY', 'is empty', 'Give one such as src/**/*.ts.');
  if (pattern.length > MAX_PATTERN_BYTES || encodeRaw(pattern).length > MAX_PATTERN_BYTES)
    throw refuse('PATTERN_TOO_LONG', `is longer than ${MAX_PATTERN_BYTES} bytes`, 'Use a shorter one.');
  const parts = new Parser(pattern, refuse).parse();
  const { count, length } = expandedSize(parts);
  if (count > MAX_ALTERNATIVES || length > MAX_EXPANDED)
    throw refuse(
      'PATTERN_TOO_COMPLEX',
      `stands for more than ${MAX_ALTERNATIVES} patterns or ${MAX_EXPANDED} characters`,
      'Use fewer braces, or several patterns.',
    );
  const alternatives = expanded(parts).map(segmentsOf);
  return (path) => {
    const segments = path.split('/');
    return alternatives.some((alternative) => matches(alternative, segments, segmentMatches));
  };
}

class Parser {
  readonly #pattern: string;
  readonly #refuse: Refuse;
  #at = 0;

  constructor(pattern: string, refuse: Refuse) {
    this.#pattern = pattern;
    this.#refuse = refuse;
  }

  parse(): Part[] {
    const nul = this.#pattern.indexOf('\0');
    if (nul !== -1) throw this.#invalid(nul, 'a NUL character', 'Remove it.');
    if (this.#pattern.startsWith('!'))
      throw this.#invalid(0, 'negation is unsupported', 'Say what is wanted; \\! is the character.');
    while (this.#pattern.startsWith('./', this.#at)) this.#at += 2;
    const slash = /^\/|\/(?=\/|$)/.exec(this.#pattern.slice(this.#at));
    if (slash)
      throw this.#invalid(this.#at + slash.index, 'an empty segment', 'Patterns are relative and match whole paths.');
    return this.#sequence(false);
  }

  #invalid(at: number, what: string, hint: string): LitterboxError {
    return this.#refuse('GLOB_INVALID', `is invalid at ${at}: ${what}`, hint);
  }

  /** The character at the place, a code point, which is stepped over. */
  #next(): string {
    const character = String.fromCodePoint(this.#pattern.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    return character;
  }

  #escaped(): string {
    if (this.#at >= this.#pattern.length)
      throw this.#invalid(this.#at - 1, 'nothing after \\', 'Write \\\\ for a backslash.');
    return this.#next();
  }

  #sequence(isInBraces: boolean): Part[] {
    const parts: Part[] = [];
    while (this.#at < this.#pattern.length) {
      if (isInBraces && (this.#pattern[this.#at] === ',' || this.#pattern[this.#at] === '}')) break;
      const start = this.#at;
      if (/^[?*+@!]\(/.test(this.#pattern.slice(start, start + 2)))
        throw this.#invalid(
          start,
          `${this.#pattern.slice(start, start + 2)} is unsupported`,
          'Use braces, such as {a,b}.',
        );
      const character = this.#next();
      if (character === '*') parts.push({ type: 'star' });
      else if (character === '?') parts.push({ type: 'any' });
      else if (character === '/') parts.push({ type: 'slash' });
      else if (character === '[') parts.push(this.#class(start));
      else if (character === '{') parts.push(...this.#braces(start));
      else parts.push({ type: 'character', value: character === '\\' ? this.#escaped() : character });
    }
    return parts;
  }

  #braces(start: number): Part[] {
    const alternatives = [this.#sequence(true)];
    while (this.#pattern[this.#at] === ',') {
      this.#at += 1;
      alternatives.push(this.#sequence(true));
    }
    if (this.#at >= this.#pattern.length) throw this.#invalid(start, 'unclosed {', 'Close it, or write \\{.');
    this.#at += 1;
    if (alternatives.length > 1) return [{ type: 'braces', alternatives }];
    if (this.#pattern.slice(start, this.#at).includes('..'))
      throw this.#invalid(start, 'a range in braces is unsupported', 'List what is wanted, such as {1,2,3}.');
    // As in a shell: braces without a comma are what they look like.
    const character = (value: string): Part => ({ type: 'character', value });
    return [character('{'), ...(alternatives[0] ?? []), character('}')];
  }

  #class(start: number): Part {
    const isNegated = /[!^]/.test(this.#pattern[this.#at] ?? '');
    if (isNegated) this.#at += 1;
    const ranges: [number, number][] = [];
    for (let isFirst = true; isFirst || this.#pattern[this.#at] !== ']'; isFirst = false) {
      if (this.#at >= this.#pattern.length) throw this.#invalid(start, 'unclosed [', 'Close it, or write \\[.');
      if (/^\[[:.=]/.test(this.#pattern.slice(this.#at, this.#at + 2)))
        throw this.#invalid(this.#at, 'a named class is unsupported', 'Write the characters, such as [a-zA-Z].');
      const from = this.#member(start);
      const isRange = this.#pattern[this.#at] === '-' && !/^(?:\])?$/.test(this.#pattern[this.#at + 1] ?? '');
      if (isRange) this.#at += 1;
      const to = isRange ? this.#member(start) : from;
      if (from > to) throw this.#invalid(start, 'a range that ends before it starts', 'Swap its ends.');
      ranges.push([from, to]);
    }
    this.#at += 1;
    return { type: 'class', isNegated, ranges };
  }

  #member(start: number): number {
    const character = this.#next();
    const member = character === '\\' ? this.#escaped() : character;
    if (member === '/') throw this.#invalid(start, 'a slash in a class', 'A class matches within a segment.');
    return member.codePointAt(0) ?? 0;
  }
}

/** How many patterns without braces it stands for, and their length together; both stop being exact once too large. */
function expandedSize(parts: readonly Part[]): { count: number; length: number } {
  let [count, length] = [1, 0];
  for (const part of parts) {
    let inner = { count: 1, length: 1 };
    if (part.type === 'braces') {
      inner = { count: 0, length: 0 };
      for (const alternative of part.alternatives) {
        const size = expandedSize(alternative);
        inner = { count: inner.count + size.count, length: inner.length + size.length };
      }
    }
    length = Math.min(length * inner.count + inner.length * count, 2 ** 40);
    count = Math.min(count * inner.count, 2 ** 20);
  }
  return { count, length };
}

function expanded(parts: readonly Part[]): Part[][] {
  let all: Part[][] = [[]];
  for (const part of parts) {
    if (part.type === 'braces') {
      const inner = part.alternatives.flatMap(expanded);
      all = all.flatMap((start) => inner.map((end) => [...start, ...end]));
    } else for (const one of all) one.push(part);
  }
  return all;
}

function segmentsOf(parts: readonly Part[]): Segment[] {
  const segments: Part[][] = [[]];
  for (const part of parts) {
    if (part.type === 'slash') segments.push([]);
    else segments.at(-1)?.push(part);
  }
  const isGlobstar = (segment: readonly Part[]) => segment.length === 2 && segment.every(({ type }) => type === 'star');
  // `src/**` is what is in src, not a file of that name.
  if (segments.length > 1 && segments.slice(-1).every(isGlobstar)) segments.push([{ type: 'star' }]);
  return segments.map((segment) => {
    if (isGlobstar(segment)) return { type: 'segments' };
    if (segment.every((part) => part.type === 'character')) return segment.map((part) => part.value).join('');
    return segment;
  });
}

/**
 * Whether a list with stars matches all of another one. Only the last star met can have to take more: whatever an earlier one
 * could take instead, the later one can take too. So there is one place to go back to, and the time is the product of the lengths.
 */
function matches<Pattern, Item>(
  pattern: readonly Pattern[],
  items: readonly Item[],
  test: (pattern: Pattern, item: Item) => boolean | 'star',
): boolean {
  let [at, item, star, taken] = [0, 0, -1, 0];
  while (item < items.length) {
    const result = at < pattern.length && test(pattern[at] as Pattern, items[item] as Item);
    if (result === 'star') {
      star = at;
      taken = item;
      at += 1;
    } else if (result) {
      at += 1;
      item += 1;
    } else if (star !== -1) {
      at = star + 1;
      taken += 1;
      item = taken;
    } else return false;
  }
  // What is left of the pattern has to match nothing.
  while (at < pattern.length && test(pattern[at] as Pattern, undefined as Item) === 'star') at += 1;
  return at === pattern.length;
}

function segmentMatches(segment: Segment, text: string | undefined): boolean | 'star' {
  if (typeof segment === 'string') return segment === text;
  if ('type' in segment) return 'star';
  return text !== undefined && matches(segment, Array.from(text), partMatches);
}

function partMatches(part: Part, character: string | undefined): boolean | 'star' {
  if (part.type === 'star') return 'star';
  if (character === undefined) return false;
  if (part.type === 'character') return part.value === character;
  if (part.type !== 'class') return true;
  const code = character.codePointAt(0) ?? 0;
  return part.ranges.some(([from, to]) => code >= from && code <= to) !== part.isNegated;
}
