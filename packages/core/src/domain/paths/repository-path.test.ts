import { describe, expect, it } from '@jest/globals';
import { repositoryPath } from './repository-path.ts';

describe('a path of the repository', () => {
  it('is resolved by its text', () => {
    for (const [path, is] of [
      ['a', 'a'],
      ['./a//b/', 'a/b'],
      ['a/../b', 'b'],
      ['.', '.'],
      ['a/..', '.'],
      ['..a/b..', '..a/b..'],
      [':!a', ':!a'],
    ] as const)
      expect(repositoryPath(path)).toBe(is);
  });

  it('does not lead out of it', () => {
    for (const path of ['..', '../a', 'a/../../a', '/etc/passwd', '/'])
      expect(() => repositoryPath(path)).toThrow(expect.objectContaining({ code: 'PATH_OUTSIDE_WORKDIR' }));
    for (const [path, code] of [
      ['', 'PATH_EMPTY'],
      ['a\0b', 'PATH_NUL'],
      ['a'.repeat(256), 'PATH_TOO_LONG'],
    ] as const)
      expect(() => repositoryPath(path)).toThrow(expect.objectContaining({ code }));
  });
});
