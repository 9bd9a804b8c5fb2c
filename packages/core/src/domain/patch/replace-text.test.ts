import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { byteCharacters } from '../text/byte-characters.ts';
import { isLitterboxError } from '../errors/errors.ts';
import { decodeRaw, encodeRaw } from '../text/raw-text.ts';
import { replaceText } from './replace-text.ts';

const runs = (count: number) => Math.ceil(count * Number(process.env['LITTERBOX_FUZZ_RUNS'] ?? 1));
const MAX_BYTES = 1000;
const replace = (current: string, old: string, fresh: string, isEverywhere = false) =>
  replaceText({ path: 'x', old, new: fresh, isEverywhere, maxBytes: MAX_BYTES }, encodeRaw(current));
const replaced = (...given: Parameters<typeof replace>) => decodeRaw(replace(...given).content);

/** What a call was refused with: its code and its message. */
function refusal(...given: Parameters<typeof replace>): [code: string, message: string] {
  try {
    replace(...given);
  } catch (error) {
    if (!isLitterboxError(error)) throw error;
    expect(error.details.hint).toEqual(expect.stringMatching(/./));
    return [error.code, error.message];
  }
  return ['none', ''];
}

describe('a text is replaced', () => {
  test.each<[title: string, current: string, old: string, fresh: string, after: string]>([
    ['in the middle of a line', 'one two three\n', 'two', 'TWO', 'one TWO three\n'],
    ['over several lines', 'a\nb\nc\n', 'a\nb\n', '', 'c\n'],
    ['at the end, which has no newline', 'a\nb', 'b', 'c', 'a\nc'],
    ['the whole of it', 'a', 'a', '', ''],
    ['what looks like a pattern', 'a.b a+b', 'a+b', '$& $1', 'a.b $& $1'],
    ['behind a byte order mark', '\ufeffa\n', 'a', 'b', '\ufeffb\n'],
    ['beside bytes that are not UTF-8', 'caf\udce9 a\udcff', 'a\udcff', 'b', 'caf\udce9 b'],
    ['with line ends of Windows', 'a\r\nb\r\n', 'a\nb\n', 'A\nB\nC\n', 'A\r\nB\r\nC\r\n'],
    ['with line ends of Unix', 'a\nb\n', 'a\r\nb\r\n', 'A\r\n', 'A\n'],
    ['where line ends are mixed, exactly as it stands there', 'a\r\nb\nc\n', 'b\nc\n', 'B\n', 'a\r\nB\n'],
  ])('%s', (_title, current, old, fresh, after) => {
    expect(replaced(current, old, fresh)).toBe(after);
  });

  test('wherever it stands, and says in which lines', () => {
    expect(replace('a\nb\na a\n', 'a', 'c', true)).toEqual({
      content: encodeRaw('c\nb\nc c\n'),
      places: 3,
      lines: [1, 3, 3],
    });
    expect(replaced('aaaaa', 'aa', 'b', true)).toBe('bba');
  });

  test('and says when it took the line ends of the file', () => {
    expect(replace('a\r\nb\r\n', 'a\nb', 'c\nd')).toMatchObject({ lineEnds: 'CRLF' });
    expect(replace('a\r\nb\r\n', 'a', 'c')).not.toHaveProperty('lineEnds');
  });
});

describe('a text is not replaced', () => {
  test.each<[title: string, given: Parameters<typeof replace>, code: string, words: string]>([
    ['nothing', ['a', '', 'b'], 'EDIT_EMPTY', 'the old text is empty'],
    ['by itself', ['a', 'a', 'a'], 'EDIT_EMPTY', 'are the same'],
    ['that is not there', ['a', 'b', 'c'], 'EDIT_NOT_FOUND', 'the old text does not stand there.'],
    ['in an empty file', ['', 'b', 'c'], 'EDIT_NOT_FOUND', 'does not stand there'],
    ['that was replaced before', ['x\nc\n', 'b', 'c'], 'EDIT_NOT_FOUND', 'the new one does, at line 2'],
    [
      'that is indented otherwise',
      ['x\n\tif (a) {\n\t\tb();\n', 'if (a) {\n  b();\n', 'c'],
      'EDIT_NOT_FOUND',
      'at line 2 does one that differs in white space alone',
    ],
    [
      'where line ends are mixed otherwise',
      ['a\r\nb\nc\r\n', 'a\nb\nc\n', 'd'],
      'EDIT_NOT_FOUND',
      'at line 1 does one that differs in white space alone',
    ],
    ['that stands there twice', ['a\nb\na\n', 'a', 'c'], 'EDIT_AMBIGUOUS', '2 times, at lines 1 and 3'],
    ['that overlaps with itself', ['aaa', 'aa', 'c'], 'EDIT_AMBIGUOUS', '2 times, at lines 1 and 1'],
    [
      'that stands there often',
      ['a\n'.repeat(50), 'a', 'c'],
      'EDIT_AMBIGUOUS',
      '50 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 40 more',
    ],
    ['by far more', ['a'.repeat(100), 'a', 'b'.repeat(100), true], 'FILE_TOO_LARGE', '1000 bytes'],
  ])('%s', (_title, given, code, words) => {
    expect(refusal(...given)).toEqual([code, expect.stringContaining(words)]);
  });

  test('and no word of what the file holds is told', () => {
    expect(refusal('key = SECRET', 'key = other', 'x')[1]).not.toContain('SECRET');
  });
});

test('time grows with the sizes alone, and memory with what comes out', () => {
  const before = process.cpuUsage();
  const file = new Uint8Array(8 << 20).fill(97);
  const given = { path: 'x', old: `b${'a'.repeat(100_000)}`, new: 'c', isEverywhere: true, maxBytes: 64 << 20 };
  expect(() => replaceText(given, file)).toThrow(/does not stand there/);
  expect(() => replaceText({ ...given, old: 'a', new: 'c'.repeat(1000) }, file)).toThrow(/would be larger/);
  expect(replaceText({ ...given, old: 'a' }, file).places).toBe(8 << 20);
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(5000);
});

test('it is what JavaScript replaces, whatever the bytes', () => {
  const piece = fc.constantFrom('a', 'b', 'ab', '\n', '\r\n', ' ', 'é', '\udcff', '\ufeff');
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
  const few = fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(text, few, text, fc.boolean(), (current, old, fresh, isEverywhere) => {
      const [before, wanted, after] = [current, old, fresh].map((one) => byteCharacters(encodeRaw(one)));
      if (before === undefined || wanted === undefined || after === undefined || wanted === after) return;
      const parts = before.split(wanted);
      let outcome: ReturnType<typeof replaceText> | undefined;
      try {
        outcome = replace(current, old, fresh, isEverywhere);
      } catch (error) {
        expect(isLitterboxError(error) && error.code).toMatch(/^(?:EDIT_|FILE_TOO_LARGE)/);
      }
      if (outcome?.lineEnds === undefined) {
        const isOne = before.indexOf(wanted) === before.lastIndexOf(wanted);
        const isDone = parts.length > 1 && (isEverywhere || isOne);
        expect(outcome === undefined ? undefined : byteCharacters(outcome.content)).toBe(
          isDone ? parts.join(after) : undefined,
        );
      } else {
        expect(parts).toHaveLength(1); // otherwise nothing was to be taken in another way
      }
    }),
    { numRuns: runs(3000) },
  );
});
