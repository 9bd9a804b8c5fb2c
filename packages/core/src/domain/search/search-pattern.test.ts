import { spawnSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { isLitterboxError, type LitterboxErrorCode } from '../errors/errors.ts';
import { type SearchExpression, searchPattern } from './search-pattern.ts';

const runs = (count: number) => Math.ceil(count * Number(process.env['LITTERBOX_FUZZ_RUNS'] ?? 1));

const GREPS: [name: string, command: string[]][] = [
  ['grep', ['grep']],
  ...(spawnSync('busybox', ['true']).status === 0 ? [['busybox grep', ['busybox', 'grep']] as [string, string[]]] : []),
];

/** Debian's busybox knows bytes only, those of musl know UTF-8. */
const isKnown = (name: string, text: string) => name === 'grep' || /^[\0-\x7f]*$/.test(text);

/** The lines that grep finds; a line holds no newline. */
function found(
  [program = '', ...args]: string[],
  { expression, ignoreCase }: SearchExpression,
  lines: string[],
): string[] {
  const flags = ignoreCase ? ['-aniE'] : ['-anE'];
  const grep = program === 'busybox' ? flags.map((flag) => flag.replace('a', '')) : flags;
  const result = spawnSync(program, [...args, ...grep, '-e', expression], {
    input: lines.map((line) => `${line}\n`).join(''),
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
    encoding: 'utf8',
    timeout: 5_000,
  });
  if (result.status !== 0 && result.status !== 1) throw new Error(`${program} ${expression}: ${result.stderr}`);
  if (result.stderr !== '') throw new Error(`${program} ${expression}: ${result.stderr}`);
  const numbers = result.stdout.split('\n').slice(0, -1);
  return numbers.map((line) => lines[Number(line.split(':')[0]) - 1] ?? '?');
}

/** The lines that the pattern matches as JavaScript reads it. */
function expected(pattern: string, lines: string[]): string[] {
  const ignoreCase = pattern.startsWith('(?i)');
  const source = ignoreCase ? pattern.slice(4) : pattern;
  const compile = (flags: string) => new RegExp(source, ignoreCase ? `${flags}i` : flags);
  let regexp: RegExp;
  try {
    regexp = compile('su');
  } catch {
    regexp = compile('s');
  }
  return lines.filter((line) => regexp.test(line));
}

describe('a pattern matches the same lines as grep -E', () => {
  test.each<[pattern: string, expression: string, lines: string[]]>([
    ['a.c', 'a.c', ['abc', 'a\tc', 'aéc', 'a😀c', 'ac']],
    ['^.$', '^.$', ['a', 'é', '😀', 'aa', '']],
    ['\\d+\\.\\d{2,}', '[0-9]+\\.[0-9]{2,}', ['1.25', '1.2', '1x25', '٣.٣٣']],
    ['\\w+\\W\\D', '[0-9A-Z_a-z]+[^0-9A-Z_a-z][^0-9]', ['a b', 'ab', 'a-1', 'é-é']],
    ['^\\s\\S', '^[[:space:]][^[:space:]]', [' a', '\ta', '\u3000a', 'aa', '  ']],
    ['[\\w-]+@[\\d.]+', '[0-9A-Z_a-z-]+@[.0-9]+', ['a-b@1.2', 'é@1', '@1']],
    ['[^\\s\\d]', '[^[:space:]0-9]', ['a', ' ', '1', ' 1 ']],
    ['[\\s\\S]', '.', ['a', ' ', '']],
    ['[^\\S\\n]x', '[[:space:]]x', [' x', '\tx', 'ax']],
    ['[\\Da]1', '[^0-9]1', ['a1', 'b1', '11']],
    ['^[\\W_]$', '^[^0-9A-Za-z]$', ['_', '-', 'a', 'é']],
    [
      '^[\\S ]$',
      '^[^\t\v-\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]$',
      ['a', ' ', '\t', '\u3000'],
    ],
    ['[^\\x00-\\x7F]', '[^\u0001-\t\v-\u007f]', ['a', 'é', '\u0001', '😀']],
    ['[\\u0080-\\uffff]', '[^\u0001-\t\v-\u007f]', ['a', 'é', '世']],
    ['[\\u{1F600}-\\u{1F603}а-в]', '[абв😀😁😂😃]', ['😀', 'é', '😁', '🚀', 'б']],
    ['[~-\\x82]', '[\x82\x81\x80~\x7f]', ['~', '\x80', '\x83']],
    ['😀+$', '😀+$', ['😀😀', '😀', '😁']],
    ['[\\]\\[\\^-]', '[][^-]', ['^', ']', '[', '-', 'a']],
    ['[\\^]', '\\^', ['^', 'a']],
    ['[\\^-]', '[-^]', ['^', '-', 'a']],
    ['[+--]', '[+,-]', ['+', ',', '-', '.']],
    ['[\\\\n]', '[\\n]', ['\\', 'n', 'm']],
    ['[[.a]', '[.a[]', ['[', '.', 'a', ']']],
    ['[a:]', '[:a]', [':', 'a', 'b']],
    ['[,\\n]', '[,]', [',', 'n', '']],
    ['(?:a|b)c', '(a|b)c', ['ac', 'bc', 'cc']],
    ['(?<year>\\d{4})', '([0-9]{4})', ['2026', '202']],
    ['a|', 'a|', ['a', 'b', '']],
    ['(|a)b', '(|a)b', ['b', 'ab', 'a']],
    ['^(?:)$', '^()$', ['', 'a']],
    ['a+?b*?c??$', 'a+b*c?$', ['ab', 'aac', 'b', 'abcc']],
    ['^a{2}$|^b{0,2}$|^c{0}$', '^a{2}$|^b{0,2}$|^()$', ['aa', 'bb', '', 'a', 'bbb', 'c']],
    [
      '^(?:ab){256,300}$',
      '^(ab){255}(ab){1,45}$',
      ['ab'.repeat(255), 'ab'.repeat(256), 'ab'.repeat(300), 'ab'.repeat(301)],
    ],
    ['^a{0,600}$', '^a{0,255}a{0,255}a{0,90}$', ['', 'a'.repeat(600), 'a'.repeat(601)]],
    ['^a{300,}$', '^a{255}a{45,}$', ['a'.repeat(299), 'a'.repeat(300), 'a'.repeat(900)]],
    ['\\bfoo\\b', '\\bfoo\\b', ['foo', 'a foo b', 'foobar', '_foo', 'foo-bar']],
    ['\\Boo', '\\Boo', ['foo', 'oo']],
    ['\\$\\{a\\}\\/\\"b\\"', '\\$\\{a}/"b"', ['${a}/"b"', '$a/b']],
    ['interface{}', 'interface\\{}', ['interface{}', 'interface']],
    ['a{,3}', 'a\\{,3}', ['a{,3}', 'aaa']],
    ['map\\[string\\]', 'map\\[string]', ['map[string]int', 'maps']],
    ['a]', 'a]', ['a]', 'a']],
    ['x\\ty\\x41\\u00e9\\u{2}'.replace('\\u{2}', ''), 'x\tyAé', ['x\tyAé', 'xtyAé']],
    [';\\r$', ';\r$', [';\r', ';']],
    ['\\cI', '\t', ['\t', 'I']],
    ['-e', '-e', ['-e', 'e']],
    ['\\<div\\>', '<div>', ['<div>', 'div']],
    ['(?i)tODO', 'tODO', ['todo', 'TODO', 'tod']],
    ['(?s:.)(?m:^b|a)', '(.)(^b|a)', ['xa', 'b', 'xb']],
    ['(^a|b)c$', '(^a|b)c$', ['ac', 'xac', 'xbc']],
  ])('%s becomes %s', (pattern, expression, lines) => {
    const search = searchPattern(pattern);
    expect(search.expression).toBe(expression);
    for (const [name, command] of GREPS.filter(([one]) => isKnown(one, expression))) {
      const known = lines.filter((line) => isKnown(name, line));
      expect({ name, found: found(command, search, known) }).toEqual({ name, found: expected(pattern, known) });
    }
  });

  test.each([
    ['(?i)a', { expression: 'a', ignoreCase: true }],
    ['(?s)a', { expression: 'a', ignoreCase: false }],
    ['(?ims)a', { expression: 'a', ignoreCase: true }],
  ])('%s keeps its flags', (pattern, search) => {
    expect(searchPattern(pattern)).toEqual(search);
  });
});

describe('bad search patterns', () => {
  test.each<[title: string, pattern: string, code: LitterboxErrorCode, words: string]>([
    ['B46: nothing', '', 'PATTERN_EMPTY', 'is empty'],
    ['B46: flags alone', '(?i)', 'PATTERN_EMPTY', 'is empty'],
    ['B46: an unclosed class', '[', 'PATTERN_INVALID', 'at 0: unclosed class'],
    ['B46: an unclosed class further on', 'a(b)[c', 'PATTERN_INVALID', 'at 4: unclosed class'],
    ['B46: an unclosed class after flags', '(?i)[', 'PATTERN_INVALID', 'at 4: unclosed class'],
    ['B46: an unclosed group', 'a(b(c)', 'PATTERN_INVALID', 'at 1: unclosed group'],
    ['B46: a group that was not opened', 'a)', 'PATTERN_INVALID', "at 1: unmatched ')'"],
    ['B46: nothing to repeat', '*.ts', 'PATTERN_INVALID', 'at 0: nothing to repeat'],
    ['B46: a backslash at the end', 'a\\', 'PATTERN_INVALID', 'at 1: \\ at end of pattern'],
    ['B46: a range turned round', 'x[b-a]', 'PATTERN_INVALID', 'at 1: a range that ends'],
    ['B46: counts turned round', 'a{2,1}', 'PATTERN_INVALID', 'numbers out of order'],
    ['B46: an escape that is none', '😀\\"', 'PATTERN_INVALID', 'invalid escape'],
    ['B46: NUL', 'a\0', 'PATTERN_INVALID', 'at 1: a NUL character'],
    ['B46: NUL as an escape', 'a\\x00', 'PATTERN_INVALID', 'at 1: a NUL character'],
    ['B46: half a character', 'a\ud800', 'PATTERN_INVALID', 'is not valid Unicode'],
    ['B46: lookbehind', '(?<=x)', 'PATTERN_UNSUPPORTED', 'lookbehind at 0'],
    ['B46: negative lookbehind', 'a(?<!x)b', 'PATTERN_UNSUPPORTED', 'lookbehind at 1'],
    ['B46: lookahead', 'a(?=b)', 'PATTERN_UNSUPPORTED', 'lookahead at 1'],
    ['B46: lookahead that repeats', '(?!b)*"\\"', 'PATTERN_UNSUPPORTED', 'lookahead at 0'],
    ['B46: a backreference', '(a)\\1', 'PATTERN_UNSUPPORTED', 'backreference at 3'],
    ['B46: a named backreference', '(?<n>a)\\k<n>', 'PATTERN_UNSUPPORTED', 'backreference at 7'],
    ['B46: a backreference to nothing', 'a\\1', 'PATTERN_UNSUPPORTED', 'backreference at 1'],
    ['B46: an octal escape', '\\07', 'PATTERN_UNSUPPORTED', 'backreference at 0'],
    ['B46: a property', '\\p{L}', 'PATTERN_UNSUPPORTED', '\\p{…} at 0'],
    ['B46: a property in a class', '[\\p{L}]', 'PATTERN_UNSUPPORTED', 'class at 1'],
    ['B46: a property beside what only the web takes', '\\p{L}\\"', 'PATTERN_UNSUPPORTED', '\\p at 0'],
    ['B46: a property of another notation', '\\pL', 'PATTERN_UNSUPPORTED', '\\p at 0'],
    ['B46: an atomic group', 'a(?>b)', 'PATTERN_UNSUPPORTED', 'atomic group at 1'],
    ['B46: a possessive quantifier', 'ab++', 'PATTERN_UNSUPPORTED', 'possessive quantifier at 2'],
    ['B46: a group named as in Python', '(?P<n>a)', 'PATTERN_UNSUPPORTED', 'group named with (?P< at 0'],
    ['B46: a comment', '(?#a)b', 'PATTERN_UNSUPPORTED', 'comment at 0'],
    ['B46: flags in the middle', 'a(?i)b', 'PATTERN_UNSUPPORTED', 'flags at 1'],
    ['B46: flags of a group', 'a(?i:b)', 'PATTERN_UNSUPPORTED', 'flag of a group at 1'],
    ['B46: flags of another kind', '(?x)a', 'PATTERN_UNSUPPORTED', 'flags at 0'],
    ['B46: the start of the text', '\\Aa', 'PATTERN_UNSUPPORTED', '\\A at 0'],
    ['B46: quoting', '\\Qa.b\\E', 'PATTERN_UNSUPPORTED', '\\Q at 0'],
    ['B46: an escape in a class', '[\\h]', 'PATTERN_UNSUPPORTED', '\\h at 1'],
    ['B46: a line break', 'a\\nb', 'PATTERN_UNSUPPORTED', 'line break at 1'],
    ['B46: a line break of Windows', 'a\\r\\nb', 'PATTERN_UNSUPPORTED', 'line break at 3'],
    ['B46: a line break as it is', 'a\nb', 'PATTERN_UNSUPPORTED', 'line break at 1'],
    ['B46: a class of line breaks', 'a[\\n]', 'PATTERN_UNSUPPORTED', 'empty class at 1'],
    ['B46: an empty class', '[]a]', 'PATTERN_UNSUPPORTED', 'empty class at 0'],
    ['B46: the complement of an empty class', '[^]a]', 'PATTERN_UNSUPPORTED', 'empty class at 0'],
    ['B46: a class of nothing', '[^\\s\\S]', 'PATTERN_UNSUPPORTED', 'empty class at 0'],
    ['B46: a named class', '[[:alpha:]_]', 'PATTERN_UNSUPPORTED', 'named class at 0'],
    ['B46: half of a surrogate pair', '\\ud83d', 'PATTERN_UNSUPPORTED', 'surrogate at 0'],
    ['B46: 2001 characters', 'a'.repeat(2001), 'PATTERN_TOO_LONG', '2000 characters'],
    ['B46: 1 MiB', '('.repeat(1 << 20), 'PATTERN_TOO_LONG', '2000 characters'],
    ['A31: repetitions in repetitions', '((a{20}){20}){20}', 'PATTERN_TOO_COMPLEX', '1000 times'],
    ['A31: a count of its own', 'a{1001}', 'PATTERN_TOO_COMPLEX', '1000 times'],
    ['A31: a count without end', 'a{99999999999999999999,}', 'PATTERN_TOO_COMPLEX', '1000 times'],
    ['A31: plus in plus', `${'('.repeat(30)}a${'+)'.repeat(30)}`, 'PATTERN_TOO_COMPLEX', '1000 times'],
    ['A31: many repetitions side by side', 'a{1000}'.repeat(200), 'PATTERN_TOO_COMPLEX', 'too much'],
    ['A31: groups nested deeper than may be', '('.repeat(1999), 'PATTERN_TOO_COMPLEX', '250 groups'],
    ['A31: groups nested as deep as may be', '('.repeat(250), 'PATTERN_INVALID', 'unclosed group'],
    ['B46: more characters than can be listed', '[\\u4e00-\\u9fff]', 'PATTERN_UNSUPPORTED', 'large class at 0'],
    ['A31: references to many names', '(?<n>a)|'.repeat(200), 'PATTERN_EMPTY', ''],
  ])('%s', (_title, pattern, code, words) => {
    const before = process.cpuUsage();
    try {
      searchPattern(pattern);
      // The last row is one that may be accepted: it is about the time.
      expect(code).toBe('PATTERN_EMPTY');
    } catch (error) {
      if (!isLitterboxError(error)) throw error;
      expect({ code: error.code, message: error.message }).toEqual({ code, message: expect.stringContaining(words) });
      expect(error.details.hint).toMatch(/./);
    }
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(200);
  });

  test.each([
    ['A31: (a+)+$', '(a+)+$', 1],
    ['A31: nested stars', `${'('.repeat(250)}a${')*'.repeat(250)}Z`, 0],
    ['A31: as many copies as may be', `${'(.\\w{999})'.repeat(4)}Z`, 0],
    ['A31: a group of alternatives, many times', '(?:a|ab|abc|\\w|\\s|[^a]){240}Z', 0],
  ])('%s takes grep no long time', (_title, pattern, count) => {
    const search = searchPattern(pattern);
    for (const [, command] of GREPS) {
      const before = process.cpuUsage();
      expect(found(command, search, ['a'.repeat(2000), `${'ab '.repeat(700)}c`])).toHaveLength(count);
      expect({ command, isProcessorTimeBelow: process.cpuUsage(before).user / 1000 < 5000 }).toEqual({
        command,
        isProcessorTimeBelow: true,
      });
    }
  });
});

describe('search patterns of any kind', () => {
  // The regular expressions of glibc loop on some repeated groups that can be empty, which GNU grep avoids: (^|((a))|)+
  const isTried = (name: string, text: string) => name === 'grep' || (isKnown(name, text) && !/\)[*+?{]/.test(text));

  const atom = fc.constantFrom(
    'a',
    'b',
    '_',
    '1',
    '\\.',
    '.',
    '\\d',
    '\\D',
    '\\w',
    '\\W',
    '\\s',
    '\\S',
    '\\$',
    '\\^',
    '\\*',
    'é',
    '😀',
    ' ',
    '-',
    '\\]',
    '\\[',
    '\\\\',
    '\\{',
    '\\(',
    '\\|',
    '\\/',
    '\\x61',
    '\\u00e9',
  );
  const member = fc.constantFrom(
    'a',
    'b',
    '1',
    '_',
    '.',
    '\\]',
    '[',
    '\\^',
    '\\-',
    '\\\\',
    ':',
    '=',
    '\\d',
    '\\w',
    '\\s',
    '\\D',
    '\\W',
    '\\S',
    'é',
    'a-c',
    '\\--1',
    '!-\\-',
    '\\[-a',
    'A-\\]',
    '\\^-b',
    '\\n',
    '*-/',
    '\\x00-\\x1f',
    '\\u00e0-\\u00ff',
  );
  const set = fc
    .tuple(fc.constantFrom('[', '[^'), fc.array(member, { minLength: 1, maxLength: 4 }))
    .map(([open, members]) => `${open}${members.join('')}]`);
  const quantifier = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{0,2}', '{1,}', '*?', '{0}', '+?');
  const nonEmpty = fc.constantFrom('', '', '+', '{2}', '{1,}', '+?');
  // glibc, and grep with it, errs on anchors in a group that repeats: (^[a]?){0,2}|\B does not match a. And it can take for
  // ever for groups that repeat and may be empty: ((()|[^b]{0,2}){0,2}|)*. Neither is a difference of the translation.
  const { pattern } = fc.letrec<Record<'pattern' | 'item' | 'inner' | 'innerItem', string>>((tie) => {
    const either = (item: fc.Arbitrary<string>, minLength: number) =>
      fc
        .array(
          fc.array(item, { minLength, maxLength: 3 }).map((items) => items.join('')),
          { minLength: 1, maxLength: 2 },
        )
        .map((parts) => parts.join('|'));
    const suffixed = (text: fc.Arbitrary<string>, suffix: fc.Arbitrary<string>) =>
      fc.tuple(text, suffix).map((parts) => parts.join(''));
    const group = (text: fc.Arbitrary<string>) =>
      fc.tuple(fc.constantFrom('(', '(?:', '(?<n>'), text).map(([open, inside]) => `${open}${inside})`);
    const limit = { maxDepth: 2, depthSize: 'small' } as const;
    const leaf = fc.oneof(atom, set);
    return {
      pattern: either(tie('item'), 0),
      item: fc.oneof(
        limit,
        suffixed(leaf, quantifier),
        fc.constantFrom('^', '$', '\\b', '\\B'),
        group(tie('pattern')),
        suffixed(group(tie('inner')), quantifier),
      ),
      inner: either(tie('innerItem'), 1),
      innerItem: fc.oneof(limit, suffixed(leaf, nonEmpty), suffixed(group(tie('inner')), nonEmpty)),
    };
  });
  const character = fc.constantFrom(...Array.from('aab1_ .-$^*][\\(|{/:=,'), '\t', 'é', '😀', 'c');
  const line = fc.array(character, { maxLength: 5 }).map((characters) => characters.join(''));

  test('match the lines that they match in JavaScript', () => {
    fc.assert(
      fc.property(pattern, fc.array(line, { minLength: 60, maxLength: 60 }), (text, all) => {
        fc.pre(text.length < 100); // engines are slow at more, and nothing new comes up
        let search: SearchExpression;
        try {
          search = searchPattern(text);
        } catch (error) {
          // Two groups of one name, or a class of nothing.
          expect(isLitterboxError(error) && error.code).toMatch(/^PATTERN_(?:INVALID|EMPTY|UNSUPPORTED)$/);
          return;
        }
        // Which letters make a word, JavaScript and grep say differently outside of ASCII.
        const lines = /\\[bB]/.test(text) ? all.filter((one) => /^[\0-\x7f]*$/.test(one)) : all;
        for (const [name, command] of GREPS.filter(([one]) => isTried(one, search.expression))) {
          const known = lines.filter((line) => isKnown(name, line));
          expect({ name, expression: search.expression, found: found(command, search, known) }).toEqual({
            name,
            expression: search.expression,
            found: expected(text, known),
          });
        }
      }),
      { numRuns: runs(250) },
    );
  });

  test('are taken, or refused by name', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '[',
        ']',
        '(',
        ')',
        '(?',
        '?',
        '*',
        '+',
        '{',
        '}',
        ',',
        '|',
        '\\',
        '^',
        '$',
        '-',
        ':',
        '<',
        '=',
        '!',
        '\\u{',
        '\\x',
        '\\p{',
        '\\k<',
        '9',
        '\0',
        '\n',
        '😀',
        '\ud800',
        'a',
        '(?i)',
      ),
      fc.string({ unit: 'binary', maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
        try {
          const { expression } = searchPattern(pieces.join(''));
          expect(expression).not.toMatch(/[\n\0]/);
          expect(expression.isWellFormed()).toBe(true);
        } catch (error) {
          if (!isLitterboxError(error)) throw error;
          expect(error.code).toMatch(/^PATTERN_/);
        }
      }),
      { numRuns: runs(5000) },
    );
  });
});
