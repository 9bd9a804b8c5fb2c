import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { programDirectories } from '../src/program-directories.ts';

const directory = mkdtempSync(join(tmpdir(), 'litterbox-programs-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const made = (name: string, mode = 0o755) => {
  const path = join(directory, name);
  mkdirSync(path, { recursive: true });
  chmodSync(path, mode);
  return path;
};
const inside = made('repository/node_modules/.bin');
const repository = made('repository/packages/one');
made('repository/.git');
const own = made('own');
const isRoot = process.getuid?.() === 0;

it('finds programs where the system has them, then where a person says', () => {
  const usual = programDirectories({ besides: undefined, repository });
  expect(usual).toContain('/usr/bin');
  expect(usual).not.toContain(inside);
  expect(programDirectories({ besides: `${own}::/nowhere/at/all`, repository })).toEqual([...usual, own]);
});

it('takes no directory of the repository, of another user or of everybody', () => {
  const link = join(directory, 'link');
  symlinkSync(inside, link);
  const foreign = made('foreign');
  if (isRoot) chownSync(foreign, 61_100, 61_100);
  for (const [place, why] of [
    [inside, 'lies in the repository'],
    [link, 'lies in the repository'],
    [join(directory, 'repository'), 'lies in the repository'],
    [made('open', 0o777), 'can be written by everybody'],
    ['node_modules/.bin', 'is not absolute'],
    ...(isRoot ? [[foreign, 'belongs to another user'] as const] : []),
  ] as const)
    expect(() => programDirectories({ besides: `${own}:${place}`, repository })).toThrow(
      expect.objectContaining({ code: 'CONFIG_UNTRUSTED', message: expect.stringContaining(why) }),
    );
});
