import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { atFailpoint } from '@litterbox/testing';
import { begin, GitFixture, put, record } from './git-fixture.ts';

const BASE = {
  'top.txt': 'top\n',
  'in/a.txt': 'a\n',
  'out/b.txt': 'b\n',
  'out/gone.txt': 'gone\n',
  'out/deep/c.txt': 'c\n',
};
const WORK = {
  'top.txt': 'top of the agent\n',
  'in/a.txt': 'a\n',
  'in/new.txt': 'new\n',
  'out/b.txt': 'b of the agent\n',
  'out/new.txt': 'new\n',
  'out/deep/c.txt': 'c\n',
  'out/deep/new/d.txt': 'd\n',
};
const ask = { arguments: [] as string[] };
const SPARSE = [
  ['in cones', ['--cone', 'in']],
  ['by patterns', ['--no-cone', '/*.txt', '/in/']],
] as const;

/** Paths of the index with git's letter for each, and whether the file is there. */
function stateOf(fixture: GitFixture, root: string): readonly string[] {
  const lines = fixture.git(root, 'ls-files', '-t').split('\n').filter(Boolean);
  return lines.map((line) => `${line} ${existsSync(join(root, line.slice(2))) ? 'there' : 'absent'}`);
}

test.each(SPARSE)(
  'FC-510: a merge leaves out what a checkout %s leaves out, as git merge does',
  async (_how, words) => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, WORK);
    await repository.milestone(id, 'Work');
    fixture.git(root, 'sparse-checkout', 'set', ...words);
    const before = stateOf(fixture, root);
    fixture.git(root, 'merge', '-q', 'litterbox/work');
    const wanted = stateOf(fixture, root);
    fixture.git(root, 'reset', '-q', '--hard', 'HEAD~1');
    expect(stateOf(fixture, root)).toEqual(before);

    await repository.execute(await repository.plan(id, { integration: 'merge', ...ask }), { autostash: false });

    expect(stateOf(fixture, root)).toEqual(wanted);
    expect(wanted).toContain('S out/b.txt absent');
    expect(fixture.git(root, 'status', '--porcelain')).toBe('');
  },
);

test.each(SPARSE)('an apply to a checkout %s stages all and writes what is in it', async (_how, words) => {
  await using fixture = new GitFixture();
  const root = fixture.repository(BASE);
  const repository = await fixture.open(root);
  const id = await begin(repository);
  await record(repository, id, WORK);
  fixture.git(root, 'sparse-checkout', 'set', ...words);
  await repository.execute(await repository.plan(id, { integration: 'apply', ...ask }), { autostash: false });
  expect(fixture.git(root, 'status', '--porcelain').split('\n').filter(Boolean)).toEqual([
    'A  in/new.txt',
    'M  out/b.txt',
    'A  out/deep/new/d.txt',
    'D  out/gone.txt',
    'A  out/new.txt',
    'M  top.txt',
  ]);
  expect(existsSync(join(root, 'out'))).toBe(false);
  fixture.git(root, 'commit', '-qm', 'taken');
  expect(fixture.git(root, 'show', 'HEAD:out/b.txt')).toBe('b of the agent\n');
});

test('a conflict in what is left out is written, for the person to settle', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository(BASE);
  const repository = await fixture.open(root);
  const id = await begin(repository);
  await record(repository, id, WORK);
  put(root, 'out/b.txt', 'b of the person\n');
  fixture.git(root, 'commit', '-qam', 'mine');
  fixture.git(root, 'sparse-checkout', 'set', '--cone', 'in');
  const plan = await repository.plan(id, { integration: 'merge', ...ask });
  expect(await repository.execute(plan, { autostash: false })).toEqual({
    outcome: 'conflicts',
    conflicts: ['out/b.txt'],
  });
  expect(existsSync(join(root, 'out/b.txt'))).toBe(true);
  expect(existsSync(join(root, 'out/new.txt'))).toBe(false);
});

test('a file of the person that lies where a new one would be left out stays, and is named', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository(BASE);
  const repository = await fixture.open(root);
  const id = await begin(repository);
  await record(repository, id, WORK);
  fixture.git(root, 'sparse-checkout', 'set', '--cone', 'in');
  put(root, 'out/new.txt', 'mine\n');
  const plan = await repository.plan(id, { integration: 'merge', ...ask });
  expect(plan.dirtyOverlap).toEqual(['out/new.txt']);
});

test('a merge that fails half-way puts back what is in the checkout, and brings in nothing else', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository(BASE);
  const repository = await fixture.open(root);
  const id = await begin(repository);
  await record(repository, id, WORK);
  fixture.git(root, 'sparse-checkout', 'set', '--cone', 'in');
  const before = stateOf(fixture, root);
  using _ = atFailpoint('integrate.before-head', () => {
    throw new Error('no more');
  });
  const plan = await repository.plan(id, { integration: 'merge', ...ask });
  await expect(repository.execute(plan, { autostash: false })).rejects.toThrow('no more');
  expect(stateOf(fixture, root)).toEqual(before);
  expect(fixture.git(root, 'status', '--porcelain')).toBe('');
});
