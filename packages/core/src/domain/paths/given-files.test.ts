import { expect, test } from '@jest/globals';
import { givenFiles } from './given-files.ts';

test('files have normal paths, and text is UTF-8', () => {
  const bytes = Uint8Array.of(0xff);
  expect([...givenFiles({ './a//b': 'ü', 'x/../c': bytes })]).toEqual([
    ['a/b', Uint8Array.of(0xc3, 0xbc)],
    ['c', bytes],
  ]);
  expect(givenFiles({}).size).toBe(0);
});

test.each([
  [{ '': 'x' }, 'PATH_EMPTY'],
  [{ '.': 'x' }, 'INVALID_ARGUMENT'],
  [{ 'a/': 'x' }, 'INVALID_ARGUMENT'],
  [{ a: '1', './a': '2' }, 'INVALID_ARGUMENT'],
  [{ 'a/b/c': '1', a: '2' }, 'INVALID_ARGUMENT'],
  [{ '../a': 'x' }, 'PATH_OUTSIDE_WORKDIR'],
  [{ '/etc/passwd': 'x' }, 'PATH_OUTSIDE_WORKDIR'],
  [{ 'a/.GIT/config': 'x' }, 'PATH_GIT_DIR'],
  [{ 'a\0b': 'x' }, 'PATH_NUL'],
  [Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`f${at}`, ''])), 'ARG_RANGE'],
])('files that no sandbox can begin with are refused: %#', (files, code) => {
  expect(() => givenFiles(files)).toThrow(expect.objectContaining({ code }));
});
