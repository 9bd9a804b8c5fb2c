import { describe, expect, test } from '@jest/globals';
import { includedPath, isWithinAny, topmostPaths } from './included-path.ts';

describe('includedPath', () => {
  test.each([
    ['node_modules', 'node_modules'],
    ['./packages/a//node_modules/', 'packages/a/node_modules'],
    ['a\nb', 'a\nb'],
    ['-rf', '-rf'],
    ['.gitignored', '.gitignored'],
    ['x/..y', 'x/..y'],
  ])('takes %j for %j', (text, path) => {
    expect(includedPath(text)).toBe(path);
  });

  test.each([
    '',
    '.',
    '/',
    './',
    '/etc',
    '..',
    '../x',
    'a/../../x',
    'a/..',
    'a\0b',
    '.git',
    '.git/hooks',
    'sub/.git/config',
    '.GIT/x',
    '.g\u200cit',
    'GIT~1/x',
    '.litterbox',
    '.Litterbox/worktrees',
    'x'.repeat(1025),
  ])('refuses %j', (text) => {
    expect(includedPath(text)).toBeUndefined();
  });
});

test('topmostPaths leaves out what lies below another, and what is only near to it stays', () => {
  expect(topmostPaths(['b/c', 'a', 'a/b', 'b/cd', 'b/c/d/e', 'a'])).toEqual(['a', 'b/c', 'b/cd']);
});

test('isWithinAny knows the path itself and what is below, and neither the top nor what is near', () => {
  const paths = new Set(['a/b']);
  expect(['a/b', 'a/b/c', 'a', 'a/bc', '', 'b'].map((path) => isWithinAny(path, paths))).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});
