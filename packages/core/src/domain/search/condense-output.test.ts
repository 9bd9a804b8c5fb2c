import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { condenseOutput, MAX_MARKER_CHARACTERS } from './condense-output.ts';

const runs = (count: number) => Math.ceil(count * Number(process.env['LITTERBOX_FUZZ_RUNS'] ?? 1));
const wide = { maxCharacters: 100_000, maxLineCharacters: 10_000 };
const lines = (count: number, text = 'line') =>
  Array.from({ length: count }, (_, index) => `${text} ${index + 1}`).join('\n');

describe('output becomes what a model reads', () => {
  test.each<[title: string, text: string, condensed: string]>([
    ['text stays', 'a\n\tb  \n\n', 'a\n\tb  \n\n'],
    ['nothing', '', ''],
    ['colours', '\u001b[1;31mred\u001b[0m \u001b[38;5;12mblue\u001b[m', 'red blue'],
    ['cursor movements', 'a\u001b[2A\u001b[10;20Hb\u001b[?25l', 'ab'],
    ['titles and links', '\u001b]0;title\u0007a\u001b]8;;https://x\u001b\\b\u001b]8;;\u001b\\', 'ab'],
    ['what writes to the clipboard', '\u001b]52;c;ZXZpbA==\u0007a', 'a'],
    ['other strings', '\u001bPq#0\u001b\\a\u001b_x\u009cb\u0090c\u009cd', 'abd'],
    ['an unfinished string', 'a\u001b]0;title\nb', 'a\nb'],
    ['an unfinished sequence', 'a\u001b[31', 'a'],
    ['short sequences', '\u001b(Ba\u001b=b\u001b7c\u001b', 'abc'],
    ['C1', '\u009b31ma\u0085b', 'ab'],
    ['controls', 'a\0b\u0007c\u007fd\u000be\u000cf\u000eg', 'abcdefg'],
    ['a progress line', '10%\r50%\r100%\ndone', '100%\ndone'],
    ['a shorter line over a longer one', 'abcdef\rxy', 'xycdef'],
    ['erased before', 'Downloading 50%\r\u001b[KDone', 'Done'],
    ['erased all', 'Downloading 50%\u001b[2K\rDone', 'Done'],
    ['erased at the end', '\u001b[31m\u001b[Kred\u001b[m\u001b[K', 'red'],
    ['erased in place', 'ab\u001b[2Kcd', 'cd'],
    ['backspaces', 'ab\b\bcd|\b/\b-', 'cd-'],
    ['line ends of Windows', 'a\r\nb\r\n', 'a\nb\n'],
    ['three equal lines', 'a\na\na\nb', 'a\na\na\nb'],
    ['four equal lines', 'a\na\na\na\nb', 'a\n[previous line repeated 3 more times]\nb'],
    [
      'lines that are equal without colours',
      '\u001b[31ma\na\n\u001b[32ma\na',
      'a\n[previous line repeated 3 more times]',
    ],
  ])('%s', (_title, text, condensed) => {
    expect(condenseOutput(text, wide)).toEqual({ text: condensed, isCut: false });
  });

  test('the middle of a long line is left out', () => {
    const text = `${'a'.repeat(100)}${'b'.repeat(100)}`;
    expect(condenseOutput(`x\n${text}\ny`, { maxCharacters: 1000, maxLineCharacters: 10 })).toEqual({
      text: 'x\naaaaa[… 190 characters left out …]bbbbb\ny',
      isCut: true,
    });
    const smiles = condenseOutput('😀'.repeat(100), { maxCharacters: 1000, maxLineCharacters: 11 }).text;
    expect(smiles).toBe(`😀😀😀[… 188 characters left out …]😀😀😀`);
  });

  test('a line that would not get shorter stays', () => {
    expect(condenseOutput('a'.repeat(20), { maxCharacters: 1000, maxLineCharacters: 10 })).toEqual({
      text: 'a'.repeat(20),
      isCut: false,
    });
  });

  test('of long text, a third from the start and two from the end stay, in whole lines', () => {
    const { text, isCut } = condenseOutput(lines(1000), { maxCharacters: 300, maxLineCharacters: 100 });
    expect(isCut).toBe(true);
    const left = text.split('\n');
    const marker = left.findIndex((line) => line.startsWith('[…'));
    expect(left.slice(0, marker)).toEqual(lines(marker).split('\n'));
    expect(left.at(-1)).toBe('line 1000');
    expect(left.slice(0, marker).join('\n').length).toBeGreaterThan(80);
    expect(left.slice(marker + 1).join('\n').length).toBeGreaterThan(180);
    expect(left[marker]).toBe(
      `[… ${1000 - (left.length - 1)} lines, ${lines(1000).length + 1 - (text.length - (left[marker]?.length ?? 0))} characters left out …]`,
    );
  });

  test('a line that takes all there is leaves its ends', () => {
    const { text } = condenseOutput(`${'a'.repeat(500)}\n`, { maxCharacters: 100, maxLineCharacters: 1000 });
    expect(text).toBe(`${'a'.repeat(50)}[… 401 characters left out …]${'a'.repeat(49)}\n`);
  });
});

describe('output of any kind', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '\u001b',
      '[',
      ']',
      '31m',
      'K',
      '\r',
      '\n',
      '\b',
      '\u0007',
      '\u009b',
      '\u001b\\',
      'a',
      '\n\n\n\n',
      '\t',
      '😀',
      '\udcff',
      '\v',
    ),
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.constant('long '.repeat(30)),
  );
  const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
  const limits = fc.record({ maxCharacters: fc.nat(400), maxLineCharacters: fc.nat(200) });

  test('is never longer than allowed, and moves no cursor', () => {
    fc.assert(
      fc.property(text, limits, (output, allowed) => {
        const condensed = condenseOutput(output, allowed);
        expect(condensed.text.length).toBeLessThanOrEqual(allowed.maxCharacters + MAX_MARKER_CHARACTERS);
        expect(condensed.text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      }),
      { numRuns: runs(3000) },
    );
  });

  test('is what it was when it is short, and stays what it became', () => {
    fc.assert(
      fc.property(text, (output) => {
        const condensed = condenseOutput(output, wide);
        expect(condensed.isCut).toBe(false);
        expect(condenseOutput(condensed.text, wide)).toEqual(condensed);
        if (/^[ -~\t\n]*$/.test(output) && !/(?:^|\n)(.*)(?:\n\1){3}(?:\n|$)/.test(output))
          expect(condensed.text).toBe(output);
      }),
      { numRuns: runs(3000) },
    );
  });

  test.each([
    ['escapes', '\u001b['],
    ['unfinished strings', '\u001b]0;'],
    ['parameters', '\u001b[1;2;3;4'],
    ['carriage returns', '\r'],
    ['carriage returns and text', 'abc\r'],
    ['backspaces', '\b'],
    ['erasures', 'abc\u001b[2K'],
    ['empty lines', '\n'],
    ['different lines', 'a\nb\n'],
    ['one line', 'a'],
    ['characters of two parts', '😀'],
  ])('takes time in proportion: %s', (_title, part) => {
    const before = process.cpuUsage();
    condenseOutput(`${part.repeat(4_000_000 / part.length)}x`, { maxCharacters: 30_000, maxLineCharacters: 2000 });
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(4000);
  });
});
