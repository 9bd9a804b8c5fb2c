import { type AST, RegExpParser, RegExpSyntaxError, RegExpValidator } from '@eslint-community/regexpp';
import {
  bracketExpression,
  type CodePoints,
  intersected,
  SPACE,
  subtracted,
  united,
  WORD,
} from './bracket-expression.ts';
import { LitterboxError, type LitterboxErrorCode } from '../errors/errors.ts';
import { shown } from '../text/shown.ts';

const MAX_PATTERN_CHARACTERS = 2000;
/** More of them than anyone nests; readers of patterns, ours and grep's, call themselves for each. */
const MAX_GROUPS = 250;
/** Engines make copies of what is repeated: how many of one thing, and how many of all. */
const MAX_REPETITION = 1000;
const MAX_COPIES = 5000;
/** The largest count that every engine takes (`RE_DUP_MAX` of musl, and the least that POSIX allows). */
const MAX_COUNT = 255;
const ECMASCRIPT = { ecmaVersion: 2025 } as const;

export interface SearchExpression {
  /** A POSIX extended regular expression, for `grep -E` with `LC_ALL=C.UTF-8`. */
  readonly expression: string;
  /** The pattern started with `(?i)`: for `grep -i`. */
  readonly ignoreCase: boolean;
}

type Refuse = (code: LitterboxErrorCode, what: string, hint?: string) => LitterboxError;

/**
 * The regular expression that models write, as JavaScript, PCRE and RE2 have it, as one for `grep -E` that matches the same
 * lines. `.` is any character, and characters are code points.
 *
 * `\d` and `\w` are of ASCII. What `\s` is outside of ASCII, and which letters make the word that `\b` is an end of, the
 * machine that searches knows better.
 *
 * @throws LitterboxError `PATTERN_EMPTY`, `PATTERN_TOO_LONG`, `PATTERN_TOO_COMPLEX`, `PATTERN_INVALID`, `PATTERN_UNSUPPORTED`.
 */
export function searchPattern(pattern: string): SearchExpression {
  const refuse: Refuse = (code, what, hint = 'Write it without, or search in two steps.') =>
    new LitterboxError(code, `The pattern ${shown(pattern)} ${what}.`, { operation: 'search.pattern', hint });
  if (pattern.length > MAX_PATTERN_CHARACTERS) {
    const what = `has more than ${MAX_PATTERN_CHARACTERS} characters`;
    throw refuse('PATTERN_TOO_LONG', what, 'Search for less.');
  }
  const nul = pattern.indexOf('\0');
  if (nul !== -1) throw refuse('PATTERN_INVALID', `is invalid at ${nul}: a NUL character`, 'Text has none.');
  if (!pattern.isWellFormed()) throw refuse('PATTERN_INVALID', 'is not valid Unicode', 'Give it as UTF-8.');
  if (pattern.split('(').length - 1 > MAX_GROUPS)
    throw refuse('PATTERN_TOO_COMPLEX', `has more than ${MAX_GROUPS} groups`, 'Search for less.');
  // Line by line, `m` and `s` change nothing.
  const [prefix = '', flags = ''] = /^\(\?([ims]+)\)/.exec(pattern) ?? [];
  if (pattern === prefix) throw refuse('PATTERN_EMPTY', 'is empty', 'Say what to search for.');
  const translator = new Translator(refuse);
  return {
    expression: translator.alternatives(parse(pattern, prefix.length, refuse).alternatives, 1),
    ignoreCase: flags.includes('i'),
  };
}

/** Strictly where that is possible, so that characters outside the BMP are one; else as tolerantly as the web does. */
function parse(pattern: string, start: number, refuse: Refuse): AST.Pattern {
  const read = (unicode: boolean) =>
    new RegExpParser(ECMASCRIPT).parsePattern(pattern, start, pattern.length, { unicode });
  try {
    return read(true);
  } catch (strict) {
    if (/[\u{10000}-\u{10ffff}]/u.test(pattern)) throw syntaxError(strict, pattern, start, true, refuse);
    try {
      return read(false);
    } catch (error) {
      throw syntaxError(error, pattern, start, false, refuse);
    }
  }
}

const UNSUPPORTED_GROUPS = [
  ['(?>', 'atomic group'],
  ['(?P<', 'group named with (?P<'],
  ['(?P', 'reference to a named group'],
  ['(?#', 'comment'],
  ['(?|', 'branch reset'],
  ['(?R', 'recursion'],
  ['(?', 'flags'],
] as const;

function syntaxError(error: unknown, pattern: string, start: number, unicode: boolean, refuse: Refuse): unknown {
  if (!(error instanceof RegExpSyntaxError)) return error;
  const message = error.message.slice(error.message.lastIndexOf(': ') + 2);
  const unsupported = (name: string, at: number) =>
    refuse('PATTERN_UNSUPPORTED', `has an unsupported ${name} at ${at}`);
  const invalid = (what: string, at: number) =>
    refuse(
      'PATTERN_INVALID',
      `is invalid at ${at}: ${what}`,
      'Correct it; a backslash makes a character stand for itself.',
    );
  const before = error.index - 1; // the parser has stepped over what it does not take
  if (message === 'Unterminated character class') return invalid('unclosed class', openedAt(pattern, start, unicode));
  if (message === 'Unterminated group') return invalid('unclosed group', openedAt(pattern, start, unicode));
  if (message.startsWith('Range out of order'))
    return invalid('a range that ends before it starts', openedAt(pattern, start, unicode));
  if (message === 'Invalid group') {
    const name = UNSUPPORTED_GROUPS.find(([opening]) => pattern.startsWith(opening, before))?.[1];
    if (name !== undefined) return unsupported(name, before);
  }
  if (message === 'Nothing to repeat') {
    if (pattern[before] === '+' && /[*+?}]/.test(pattern[before - 1] ?? ''))
      return unsupported('possessive quantifier', before - 1);
    return invalid('nothing to repeat', before);
  }
  return invalid(message.charAt(0).toLowerCase() + message.slice(1), Math.min(error.index, pattern.length));
}

/** Where the innermost class or group starts that is open where the parser stopped. */
function openedAt(pattern: string, start: number, unicode: boolean): number {
  const open: number[] = [];
  const enter = (at: number) => void open.push(at);
  const leave = () => void open.pop();
  const validator = new RegExpValidator({
    ...ECMASCRIPT,
    onCharacterClassEnter: enter,
    onCharacterClassLeave: leave,
    onGroupEnter: enter,
    onGroupLeave: leave,
    onCapturingGroupEnter: enter,
    onCapturingGroupLeave: leave,
    onLookaroundAssertionEnter: enter,
    onLookaroundAssertionLeave: leave,
  });
  try {
    validator.validatePattern(pattern, start, pattern.length, { unicode });
  } catch {
    // What is wrong is known already.
  }
  return open.at(-1) ?? start;
}

class Translator {
  readonly #refuse: Refuse;
  #copies = 0;

  constructor(refuse: Refuse) {
    this.#refuse = refuse;
  }

  /** `times` is how many copies of it an engine makes, for all repetitions around it. */
  alternatives(alternatives: readonly AST.Alternative[], times: number): string {
    return alternatives
      .map((alternative) => alternative.elements.map((element) => this.#element(element, times)).join(''))
      .join('|');
  }

  #unsupported(name: string, { start }: AST.Node, hint?: string): LitterboxError {
    return this.#refuse('PATTERN_UNSUPPORTED', `has an unsupported ${name} at ${start}`, hint);
  }

  #tooComplex(): LitterboxError {
    return this.#refuse(
      'PATTERN_TOO_COMPLEX',
      `repeats more than ${MAX_REPETITION} times, or too much`,
      'Use smaller counts.',
    );
  }

  #element(element: AST.Element, times: number): string {
    this.#copies += times;
    if (this.#copies > MAX_COPIES) throw this.#tooComplex();
    switch (element.type) {
      case 'Character':
        return this.#character(element);
      case 'CharacterSet':
        if (element.kind === 'any') return '.';
        if (element.kind === 'property') throw this.#unsupported('\\p{…}', element);
        return this.#bracket(SETS[element.kind], element.negate, element);
      case 'CharacterClass':
        return this.#class(element);
      case 'Group':
        if (element.modifiers?.add.ignoreCase || element.modifiers?.remove?.ignoreCase)
          throw this.#unsupported('flag of a group', element, 'Write (?i) at the very start, for the whole pattern.');
        return `(${this.alternatives(element.alternatives, times)})`;
      case 'CapturingGroup':
        return `(${this.alternatives(element.alternatives, times)})`;
      case 'Quantifier':
        return this.#quantifier(element, times);
      case 'Assertion':
        if (element.kind === 'lookahead' || element.kind === 'lookbehind')
          throw this.#unsupported(element.kind, element);
        if (element.kind === 'word') return element.negate ? '\\B' : '\\b';
        return element.kind === 'start' ? '^' : '$';
      case 'Backreference':
        throw this.#unsupported('backreference', element);
      case 'ExpressionCharacterClass':
        throw this.#unsupported('class', element);
    }
  }

  #quantifier({ element, min, max }: AST.Quantifier, times: number): string {
    // Engines take `*` as it is, and `+` for `xx*`.
    const copies = max === Infinity ? min + 1 : Math.max(max, 1);
    if (times * copies > MAX_REPETITION) throw this.#tooComplex();
    const text = this.#element(element, times * copies);
    if (max === 0) return '()';
    if (min === 0 && max === Infinity) return `${text}*`;
    if (min === 1 && max === Infinity) return `${text}+`;
    if (min === 0 && max === 1) return `${text}?`;
    // Counts that are too large for one pair of braces go into several.
    let [least, most, repeated] = [min, max, ''];
    for (; least > MAX_COUNT; least -= MAX_COUNT, most -= MAX_COUNT) repeated += `${text}{${MAX_COUNT}}`;
    if (most === Infinity) return `${repeated}${text}{${least},}`;
    while (most > MAX_COUNT) {
      const part = Math.min(MAX_COUNT, most - least);
      repeated += `${text}{0,${part}}`;
      most -= part;
    }
    return `${repeated}${text}${least === most ? `{${least}}` : `{${least},${most}}`}`;
  }

  #character(node: AST.Character): string {
    const code = this.#codePoint(node);
    if (code === 0)
      throw this.#refuse('PATTERN_INVALID', `is invalid at ${node.start}: a NUL character`, 'Text has none.');
    if (code === 10)
      throw this.#unsupported('line break', node, 'The search is line by line: search for one of the lines.');
    if (isSurrogate(code)) throw this.#unsupported('surrogate', node);
    return String.fromCodePoint(code).replace(/[.[\\()*+?{|^$]/, '\\$&');
  }

  /** Of a node that says what it means: the web takes `\A` for an A and `\1` for a control character, nobody else does. */
  #codePoint(node: AST.Character): number {
    const { raw, value } = node;
    if (/^\\[1-9]|^\\0\d/.test(raw)) throw this.#unsupported('backreference', node);
    if (/^\\[A-Za-z]$/.test(raw) && String.fromCodePoint(value) === raw[1]) throw this.#unsupported(raw, node);
    if (raw === '\\') throw this.#refuse('PATTERN_INVALID', `is invalid at ${node.start}: invalid escape`);
    return value;
  }

  #class(node: AST.CharacterClass): string {
    // The web takes [[:alpha:]] for other things.
    if (/\[:\^?\w+:\]$/.test(node.raw))
      throw this.#unsupported('named class', node, 'Write \\s, \\d, \\w or the characters, such as [a-zA-Z].');
    let listed: CodePoints = [];
    let missing: CodePoints | undefined; // by the likes of \S, which list all but these
    for (const element of node.elements) {
      if (element.type === 'Character') listed = united(listed, [[this.#codePoint(element), element.value]]);
      else if (element.type === 'CharacterClassRange')
        listed = united(listed, [[this.#codePoint(element.min), lastOf(this.#codePoint(element.max))]]);
      else if (element.type !== 'CharacterSet' || element.kind === 'property')
        throw this.#unsupported('class', element);
      else if (element.negate) missing = missing ? intersected(missing, SETS[element.kind]) : SETS[element.kind];
      else listed = united(listed, SETS[element.kind]);
    }
    const isNegated = node.negate !== (missing !== undefined);
    return this.#bracket(missing === undefined ? listed : subtracted(missing, listed), isNegated, node);
  }

  #bracket(set: CodePoints, isNegated: boolean, node: AST.CharacterClass | AST.EscapeCharacterSet): string {
    const expression = bracketExpression(set, isNegated);
    if ((node.type === 'CharacterClass' && node.elements.length === 0) || typeof expression !== 'string')
      throw typeof expression !== 'string' && expression.problem === 'large'
        ? this.#unsupported('large class', node, 'All characters outside of ASCII are [^\\x00-\\x7F].')
        : this.#unsupported('empty class', node, 'A bracket that is meant is \\]; any character is [\\s\\S].');
    return expression;
  }
}

const SETS = { digit: [[48, 57]], space: SPACE, word: WORD } as const;
/** Who writes \uffff means all that there is: two of these make a character beyond it, for what knows no others. */
const lastOf = (code: number) => (code === 0xffff ? 0x10ffff : code);
const isSurrogate = (code: number) => code >= 0xd800 && code <= 0xdfff;
