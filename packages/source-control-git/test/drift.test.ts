import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { GitFixture } from './git-fixture.ts';

const NONE = { total: 0, paths: [], gone: [] };

/** A repository with one commit, and the tree of its work tree. */
async function begun(
  fixture: GitFixture,
  files: Record<string, string> = { a: '1', 'd/b': '2', '.gitignore': 'out\n' },
) {
  const root = fixture.repository(files);
  const repository = await fixture.open(root);
  const { tree } = await repository.base({ type: 'worktree' });
  return { root, repository, tree, drift: () => repository.drift(tree) };
}

describe('the drift of a work tree', () => {
  test.each([
    ['a time', (root: string) => utimesSync(join(root, 'a'), 1, 1)],
    ['a copy in its place', (root: string) => (rmSync(join(root, 'a')), writeFileSync(join(root, 'a'), '1'))],
    ['what is ignored', (root: string) => writeFileSync(join(root, 'out'), 'x')],
    ['an empty directory', (root: string) => mkdirSync(join(root, 'empty'))],
    ['a repository inside', (root: string) => mkdirSync(join(root, 'inner/.git/refs'), { recursive: true })],
  ])('is none by %s', async (_what, change) => {
    await using fixture = new GitFixture();
    const { root, drift } = await begun(fixture);
    expect(await drift()).toEqual(NONE);
    change(root);
    expect(await drift()).toEqual(NONE);
  });

  test.each([
    [
      'another content of the same size and time',
      (root: string) => {
        utimesSync(join(root, 'a'), 1, 1);
        writeFileSync(join(root, 'a'), '7');
        utimesSync(join(root, 'a'), 1, 1);
      },
      ['a'],
      [],
    ],
    ['a mode', (root: string) => chmodSync(join(root, 'a'), 0o755), ['a'], []],
    ['a new file', (root: string) => writeFileSync(join(root, 'd/new'), ''), ['d/new'], []],
    ['a deleted file', (root: string) => rmSync(join(root, 'a')), ['a'], [{ path: 'a', type: 'file' }]],
    [
      'a directory under another name',
      (root: string) => renameSync(join(root, 'd'), join(root, 'e')),
      ['d/b', 'e/b'],
      [{ path: 'd/b', type: 'file' }],
    ],
    [
      'a link in the place of a directory',
      (root: string) => {
        rmSync(join(root, 'd'), { recursive: true });
        symlinkSync('/etc', join(root, 'd'));
      },
      ['d', 'd/b'],
      [{ path: 'd/b', type: 'file' }],
    ],
    ['a rule of what is ignored', (root: string) => writeFileSync(join(root, '.gitignore'), ''), ['.gitignore'], []],
  ])('is told by %s, as often as it is asked for', async (_what, change, paths, gone) => {
    await using fixture = new GitFixture();
    const { root, drift } = await begun(fixture);
    expect(await drift()).toEqual(NONE);
    change(root);
    expect(await drift()).toEqual({ total: paths.length, paths, gone });
    expect(await drift()).toEqual({ total: paths.length, paths, gone });
  });

  test('is none once a tracked file is back that a rule ignores', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ a: '1', out: 'tracked' });
    writeFileSync(join(root, '.gitignore'), 'out\n');
    const repository = await fixture.open(root);
    const { tree } = await repository.base({ type: 'worktree' });
    expect(await repository.drift(tree)).toEqual(NONE);
    rmSync(join(root, 'out'));
    expect((await repository.drift(tree)).gone).toEqual([{ path: 'out', type: 'file' }]);
    writeFileSync(join(root, 'out'), 'tracked');
    expect(await repository.drift(tree)).toEqual(NONE);
  });

  test('is none by a commit, a branch or the index of the person', async () => {
    await using fixture = new GitFixture();
    const { root, drift } = await begun(fixture);
    writeFileSync(join(root, 'a'), 'edited');
    const { total } = await drift();
    expect(total).toBe(1);
    const repository = await fixture.open(root);
    const { tree } = await repository.base({ type: 'worktree' });
    fixture.git(root, 'commit', '-qam', 'more');
    fixture.git(root, 'switch', '-qc', 'other');
    fixture.git(root, 'rm', '-q', '--cached', 'd/b');
    expect(await repository.drift(tree)).toEqual(NONE);
  });

  test.each(['--skip-worktree', '--assume-unchanged'])('cannot be told with %s', async (flag) => {
    await using fixture = new GitFixture();
    const { root, drift } = await begun(fixture);
    fixture.git(root, 'update-index', flag, 'a');
    await expect(drift()).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    await expect(drift()).rejects.toThrow(/"a"/);
  });
});
