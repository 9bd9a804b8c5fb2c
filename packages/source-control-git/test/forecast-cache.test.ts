import { execFileSync } from 'node:child_process';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { git } from '../src/index.ts';
import { begin, GitFixture, listeningGit, put, record } from './git-fixture.ts';

test('who is in a hurry gets what was found before, for as long as nothing moved', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  const { path, asked } = listeningGit(fixture);
  await using control = git({ stateDirectory: fixture.state, environment: fixture.environment, gitBinary: path });
  const repository = await control.open(root);
  const [one, other] = [await begin(repository, 'one'), await begin(repository, 'other')];
  await record(repository, one, { 'a.txt': 'ONE\n', 'b.txt': 'b\n' });
  await record(repository, other, { 'a.txt': 'OTHER\n', 'b.txt': 'b\n' });
  put(root, 'a.txt', 'mine\n');
  fixture.git(root, 'commit', '-qam', 'mine');
  const ids = [one, other];
  const hurried = { budgetMs: 0 };

  // Nothing is known yet, and there is no time.
  expect(await repository.forecast(ids, hurried)).toMatchObject({ conflicts: [], untried: 1, unknown: ids });
  const found = await repository.forecast(ids);
  expect(found.conflicts).toHaveLength(3);
  const merges = async (options = hurried) => {
    let known;
    const words = await asked(async () => (known = await repository.forecast(ids, options)));
    return { known, merges: words.split('\n').filter((line) => line.includes('merge-tree')).length };
  };
  expect(await merges()).toEqual({ known: found, merges: 0 });
  expect(await merges({ budgetMs: 60_000 })).toEqual({ known: found, merges: 0 });

  // One goes on, and what is known of the other stays.
  await record(repository, one, { 'a.txt': 'ONE more\n', 'b.txt': 'b\n' });
  expect(await repository.forecast(ids, hurried)).toEqual({
    conflicts: [{ sandbox: other, paths: ['a.txt'] }],
    untried: 1,
    unknown: [one],
  });
  expect((await merges({ budgetMs: 60_000 })).merges).toBe(2);
  put(root, 'b.txt', 'mine\n');
  fixture.git(root, 'commit', '-qam', 'more');
  expect((await repository.forecast(ids, hurried)).unknown).toEqual(ids);

  // What somebody broke is found again.
  writeFileSync(join(fixture.state, 'repos', repository.id, 'forecast.json'), '{"version":1,"key":');
  expect((await repository.forecast(ids, { budgetMs: 60_000 })).conflicts).toEqual(found.conflicts);
});

test('of sandboxes in which nothing was recorded, git is asked nothing', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ 'a.txt': 'a\n' });
  const { path, asked } = listeningGit(fixture);
  await using control = git({ stateDirectory: fixture.state, environment: fixture.environment, gitBinary: path });
  const repository = await control.open(root);
  const ids = [await begin(repository, 'one'), await begin(repository, 'other')];
  let found;
  expect(await asked(async () => (found = await repository.forecast(ids)))).toBe('');
  expect(found).toEqual({ conflicts: [], untried: 0 });
});

test('attributes decide how files merge: with others, what was found before is not said', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ 'a.txt': 'a\n' });
  const repository = await fixture.control().open(root);
  const id = await begin(repository, 'one');
  await record(repository, id, { 'a.txt': 'ONE\n' });
  put(root, 'a.txt', 'mine\n');
  fixture.git(root, 'commit', '-qam', 'mine');
  const said = async () => (await repository.forecast([id], { budgetMs: 60_000 })).conflicts.length;
  const elsewhere = join(fixture.home, 'attributes');
  writeFileSync(elsewhere, 'a.txt merge=union\n');
  expect(await said()).toBe(1);
  for (const path of ['.gitattributes', '.git/info/attributes']) {
    put(root, path, 'a.txt merge=union\n');
    expect(await said()).toBe(0);
    rmSync(join(root, path));
    expect(await said()).toBe(1);
  }
  fixture.git(root, 'config', 'core.attributesFile', '~/attributes');
  expect(await said()).toBe(0);
  writeFileSync(elsewhere, '');
  expect(await said()).toBe(1);
});

test('attributes in the work tree that are no file hold nobody up', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ 'a.txt': 'a\n' });
  const repository = await fixture.control().open(root);
  const id = await begin(repository, 'one');
  await record(repository, id, { 'a.txt': 'ONE\n' });
  execFileSync('mkfifo', [join(root, '.gitattributes')]);
  expect((await repository.forecast([id], { budgetMs: 60_000 })).conflicts).toEqual([]);
  rmSync(join(root, '.gitattributes'));
  symlinkSync('/dev/zero', join(root, '.gitattributes'));
  expect((await repository.forecast([id], { budgetMs: 60_000 })).conflicts).toEqual([]);
});
