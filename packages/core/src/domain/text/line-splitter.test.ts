import { expect, test } from '@jest/globals';
import { LineSplitter } from './line-splitter.ts';

function split(maxBytes: number, ...pieces: readonly string[]): readonly string[] {
  const got: string[] = [];
  const splitter = new LineSplitter(
    maxBytes,
    (line) => got.push(new TextDecoder().decode(line)),
    () => got.push('too long'),
  );
  for (const piece of pieces) splitter.take(new TextEncoder().encode(piece));
  return got;
}

test.each([
  ['whole', ['a\nb\n']],
  ['in pieces', ['a', '\n', '', 'b\n']],
  ['the last one without its end', ['a\nb\nc']],
])('lines come with their ends: %s', (_, pieces) => {
  expect(split(10, ...pieces)).toEqual(['a\n', 'b\n']);
});

test('a newline alone ends a line', () => {
  expect(split(10, '\r\n\u2028\n\n')).toEqual(['\r\n', '\u2028\n', '\n']);
});

test('a line that is too long is told once, as soon as it is, and the next one is a line', () => {
  expect(split(4, 'abc\n', 'abcd', 'e')).toEqual(['abc\n', 'too long']);
  expect(split(4, 'abcde', 'f', 'g\nh\n')).toEqual(['too long', 'h\n']);
});
