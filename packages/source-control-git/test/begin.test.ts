import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { SandboxId, SourceRepository } from '@litterbox/core/provider';
import { eventually } from '@litterbox/conformance';
import { git } from '../src/index.ts';
import { KernelLock } from '../src/git/kernel-lock.ts';
import { begin, GitFixture, listeningGit, record, slug, snapshot } from './git-fixture.ts';

const refsOf = (fixture: GitFixture, repository: SourceRepository, id: SandboxId) =>
  join(fixture.storeOf(repository), 'refs/litterbox', id);
const pinOf = (root: string, id: SandboxId) => join(root, '.git/refs/litterbox/base', id);
const locks = (root: string) => Object.keys(snapshot(join(root, '.git'))).filter((path) => /\.(lock|tmp)$/.test(path));

async function started() {
  const fixture = new GitFixture();
  const root = fixture.repository({ a: '1' });
  return {
    fixture,
    root,
    repository: await fixture.open(root),
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

test('a history begins with two syncs: of the pin and of the journal', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ a: '1' });
  const trace = join(fixture.directory, 'trace');
  const child = new URL('begin-child.ts', import.meta.url).pathname;
  const node = [process.execPath, '--no-warnings', '--conditions=@litterbox/source', child];
  execFileSync('strace', ['-f', '-qq', '-e', 'trace=fsync,fdatasync,access', '-o', trace, ...node], {
    input: JSON.stringify({ state: fixture.state, environment: fixture.environment, root }),
    env: {},
  });
  const [, counted = ''] = /begins-second(.*)has-begun-second/s.exec(readFileSync(trace, 'utf8')) ?? [];
  const syncs = [...counted.matchAll(/(fsync|fdatasync)\(\d+/g)].map(([, call]) => call);
  expect(syncs).toEqual(['fsync', 'fdatasync']);
});

test('FC-530: who begins, or looks for what killed programs left, does not wait for others before the journal', async () => {
  await using one = await started();
  const { fixture, root, repository } = one;
  const { promise: isOver, resolve: release } = Promise.withResolvers<void>();
  const lock = new KernelLock(join(fixture.storeOf(repository), '..', 'store.lock'));
  const held = lock.hold('test', () => isOver);
  expect(await repository.reconcile()).toEqual([]);
  const beginning = begin(repository);
  const pins = join(root, '.git/refs/litterbox/base');
  await eventually(
    async () => (existsSync(pins) ? readdirSync(pins) : []),
    (seen) => seen.length === 1,
  );
  release();
  await held;
  lock.close();
  expect(await repository.history(await beginning)).toBeDefined();
});

describe('a history that has begun', () => {
  test.each([
    ['its refs never reached the disk', (directory: string) => rmSync(directory, { recursive: true })],
    [
      'its refs reached the disk without what is in them',
      (directory: string) => {
        for (const name of readdirSync(directory)) truncateSync(join(directory, name));
      },
    ],
    ['its record alone never reached the disk', (directory: string) => rmSync(join(directory, 'meta'))],
  ])('is there after a power cut when %s', async (_, lose) => {
    await using one = await started();
    const { fixture, root, repository } = one;
    const id = await begin(repository);
    const before = await repository.history(id);
    lose(refsOf(fixture, repository, id));
    const objects = join(fixture.storeOf(repository), 'objects');
    for (const name of readdirSync(objects)) if (name.length === 2) rmSync(join(objects, name), { recursive: true });
    const again = await fixture.open(root);
    expect(await again.history(id)).toEqual(before);
    expect((await record(again, id, { a: '2' })).revision?.number).toBe(1);
  });

  test('and was removed does not come back, nor do its refs', async () => {
    await using one = await started();
    const { fixture, root, repository } = one;
    const id = await begin(repository);
    await record(repository, id, { a: '2' });
    await repository.remove(id);
    const again = await fixture.open(root);
    await expect(again.history(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(existsSync(refsOf(fixture, repository, id))).toBe(false);
  });

  test('and was removed is removed when only the journal tells so after a power cut', async () => {
    await using one = await started();
    const { fixture, root, repository } = one;
    const id = await begin(repository);
    const directory = refsOf(fixture, repository, id);
    const meta = readFileSync(join(directory, 'meta'));
    await repository.remove(id);
    execFileSync('mkdir', [directory]);
    writeFileSync(join(directory, 'meta'), meta);
    await expect((await fixture.open(root)).history(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('anew under its old id is the new one, also after a power cut', async () => {
    await using one = await started();
    const { fixture, root, repository } = one;
    const id = await begin(repository);
    await repository.remove(id);
    fixture.git(root, 'commit', '-q', '--allow-empty', '-m', 'second');
    await repository.begin({ id, slug: slug('anew'), base: await repository.base({ type: 'head' }) });
    const history = await repository.history(id);
    rmSync(refsOf(fixture, repository, id), { recursive: true });
    expect(await (await fixture.open(root)).history(id)).toEqual(history);
  });
});

describe('the pin of a base in the repository of the person', () => {
  test('is a ref as git writes it, and goes without a trace', async () => {
    await using one = await started();
    const { fixture, root, repository } = one;
    await repository.reconcile();
    const before = snapshot(join(root, '.git'));
    const id = await begin(repository);
    const head = fixture.git(root, 'rev-parse', 'HEAD').trim();
    expect(fixture.git(root, 'for-each-ref', 'refs/litterbox')).toBe(`${head} commit\trefs/litterbox/base/${id}\n`);
    expect(readFileSync(pinOf(root, id), 'latin1')).toBe(`${head}\n`);
    await repository.remove(id);
    expect(snapshot(join(root, '.git'))).toEqual({ ...before, 'refs/litterbox/': 'directory' });
  });

  test.each([
    ['when it was packed', ['pack-refs', '--all']],
    ['when it is in a file over a packed one', ['pack-refs', '--all', '--no-prune']],
  ])('goes %s', async (_, pack) => {
    await using one = await started();
    const { fixture, root, repository } = one;
    const id = await begin(repository);
    fixture.git(root, ...pack);
    await repository.remove(id);
    expect(fixture.git(root, 'for-each-ref', 'refs/litterbox')).toBe('');
    expect(locks(root)).toEqual([]);
  });

  test('goes while git packs refs all the time', async () => {
    await using one = await started();
    const { fixture, root, repository } = one;
    for (let count = 0; count < 10; count++) {
      const id = await begin(repository, `work-${count}`);
      const packing = new Promise((resolve) => {
        execFile('git', ['pack-refs', '--all'], { cwd: root, env: fixture.environment }, resolve);
      });
      await repository.remove(id);
      await packing;
      expect(fixture.git(root, 'for-each-ref', 'refs/litterbox')).toBe('');
    }
    expect(locks(root)).toEqual([]);
  });

  test('is not written below a lock of somebody else, and nothing is left of the attempt', async () => {
    await using one = await started();
    const { fixture, root, repository } = one;
    const base = await repository.base({ type: 'head' });
    const id = await begin(repository);
    await repository.remove(id);
    const lock = `${pinOf(root, id)}.lock`;
    execFileSync('mkdir', ['-p', join(lock, '..')]);
    writeFileSync(lock, '');
    await expect(repository.begin({ id, slug: slug('work'), base })).rejects.toMatchObject({
      code: 'USER_REPO_LOCKED',
      message: `The repository is locked by ${lock}.`,
      details: { facts: { path: lock } },
    });
    await expect(repository.history(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await repository.remove(id); // there is none
    expect(locks(root)).toEqual([`refs/litterbox/base/${id}.lock`]);
    rmSync(lock);
    await repository.begin({ id, slug: slug('work'), base });
    writeFileSync(lock, '');
    await expect(repository.remove(id)).rejects.toMatchObject({ code: 'USER_REPO_LOCKED' });
    rmSync(lock);
    await repository.remove(id);
    expect(fixture.git(root, 'for-each-ref', 'refs/litterbox')).toBe('');
  });

  test('is left to git in a repository that several users share', async () => {
    await using one = await started();
    const { fixture, root, repository } = one;
    fixture.git(root, 'config', 'core.sharedRepository', 'group');
    const id = await begin(repository);
    expect(snapshot(join(root, '.git'))[`refs/litterbox/base/${id}`]).toMatch(/^66\d /);
    await repository.remove(id);
    expect(fixture.git(root, 'for-each-ref', 'refs/litterbox')).toBe('');
  });
});

test('a history without milestones begins and is removed without git, but for the program that reads objects', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ a: '1' });
  const { path, asked } = listeningGit(fixture);
  await using control = git({ stateDirectory: fixture.state, environment: fixture.environment, gitBinary: path });
  const repository = await control.open(root);
  await repository.base({ type: 'head' }); // asks for git's version once
  const questions = await asked(async () => await repository.remove(await begin(repository)));
  expect(questions.split('\n').filter((line) => line && !line.endsWith(' cat-file --batch'))).toEqual([]);
});
