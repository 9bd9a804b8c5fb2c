import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { begin, type Files, GitFixture, record, request } from './git-fixture.ts';

const BASE = { 'a.txt': 'one\n' };
/** Git's matcher tries every place for every star: years for a path of this depth. */
const COSTLY = '/**/**/**/**/b\n';
const DEEP = `${'a/'.repeat(900)}a`;
const FILES: Files = { ...BASE, '.gitignore': `${COSTLY}*.log\n`, 'x.log': 'ignored\n', [DEEP]: 'deep\n' };

/** Processes of git that ask what is ignored below a directory. */
const asking = (below: string) =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8', maxBuffer: 2 ** 26 }) // programs of other tests are long words
    .split('\n')
    .filter((line) => line.includes('check-ignore') && line.includes(below));

test('rules that git needs years for count no more, the others do, and the work is recorded', async () => {
  await using fixture = new GitFixture();
  const repository = await fixture.open(fixture.repository(BASE));
  const id = await begin(repository);
  const { changedFiles } = await record(repository, id, FILES);
  expect(changedFiles).toBe(2);
  expect((await repository.changes(id)).map(({ path }) => path)).toEqual(['.gitignore', DEEP]);
  await record(repository, id, { ...FILES, 'y.log': 'ignored\n', 'z.txt': 'z\n' });
  expect((await repository.changes(id)).map(({ path }) => path)).toEqual(['.gitignore', DEEP, 'z.txt']);
});

test('a call that is taken back ends git at once, and the next one goes on', async () => {
  await using fixture = new GitFixture();
  const repository = await fixture.open(fixture.repository(BASE));
  const id = await begin(repository);
  const controller = new AbortController();
  const recording = repository.record(id, request(FILES), { signal: controller.signal });
  while (asking(fixture.directory).length === 0) await new Promise((resolve) => setImmediate(resolve));
  const reason = new Error('enough');
  controller.abort(reason);
  await expect(recording).rejects.toBe(reason);
  expect(asking(fixture.directory)).toEqual([]);
  expect((await repository.history(id)).tip.number).toBe(0);
});

test('what a rule ignores far down is ignored, and so is what comes after it', async () => {
  await using fixture = new GitFixture();
  const repository = await fixture.open(fixture.repository({ ...BASE, '.gitignore': '*.log\n!*\n*.log\n' }));
  const id = await begin(repository);
  const files = { ...BASE, '.gitignore': '*.log\n!*\n*.log\n' };
  const far = 'd/'.repeat(40);
  await record(repository, id, { ...files, [`${far}x.log`]: 'ignored\n', [`${far}x`]: 'x\n' });
  await record(repository, id, { ...files, [`${far}x`]: 'x\n', 'y.log': 'ignored\n', y: 'y\n' });
  expect((await repository.changes(id)).map(({ path }) => path).toSorted()).toEqual([`${far}x`, 'y'].toSorted());
});
