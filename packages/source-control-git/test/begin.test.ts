import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { SandboxId } from '@litterbox/core/provider';
import { git } from '../src/index.ts';
import { begin, GitFixture, listeningGit, slug, snapshot } from './git-fixture.ts';

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
