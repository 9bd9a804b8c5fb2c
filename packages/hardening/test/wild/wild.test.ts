import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { isLitterboxError } from '@litterbox/core';
import { repositoryDigest, yesTo } from '../../src/index.ts';
import { wildFixture, type WildFixture } from './wild-fixture.ts';
import { ORDINARY_CHANGE, WILD, type Wild } from './repositories.ts';

const STATUS = 'git status --porcelain=v1 -z --untracked-files=all --ignored';
/** All refs but ours and the branch that is worked on. */
const REFS =
  'git for-each-ref --format="%(refname) %(objectname)" | grep -v " refs/litterbox/\\|^refs/litterbox/\\|^$(git symbolic-ref -q HEAD || echo none) " || true; git stash list';

async function refusal(call: Promise<unknown>): Promise<{ readonly code: string; readonly hint: string | undefined }> {
  try {
    await call;
  } catch (error) {
    if (isLitterboxError(error)) return { code: error.code, hint: error.details.hint };
    throw error;
  }
  throw new Error('was taken');
}

async function works(
  { repository, litterbox, sh, treeOf }: WildFixture,
  { change = ORDINARY_CHANGE, createIs, mergeIs, milestoneIs }: Wild,
) {
  const before = repositoryDigest(repository);
  if (createIs !== undefined) {
    expect(await refusal(litterbox.create({ name: 'wild' }))).toEqual({
      code: createIs,
      hint: expect.stringMatching(/^\S/),
    });
    expect(repositoryDigest(repository)).toEqual(before);
    return;
  }
  const sandbox = await litterbox.create({ name: 'wild' });
  expect(await sandbox.run(change)).toMatchObject({ exitCode: 0, recorded: { revision: { number: 1 }, warnings: [] } });
  const changes = await litterbox.changes('wild');
  expect(changes.length).toBeGreaterThan(0);
  expect((await sandbox.diff()).split('\n').filter((line) => line.startsWith('diff --git ')).length).toBeGreaterThan(0);
  expect(repositoryDigest(repository)).toEqual(before);
  if (milestoneIs !== undefined)
    expect(await refusal(litterbox.milestone('wild', 'done'))).toEqual({
      code: milestoneIs,
      hint: expect.stringMatching(/^\S/),
    });
  const wanted = treeOf(change);
  if (mergeIs !== undefined) {
    const untouched = repositoryDigest(repository);
    expect(await refusal(litterbox.merge('wild', await yesTo(litterbox, 'wild')))).toEqual({
      code: mergeIs,
      hint: expect.stringMatching(/^\S/),
    });
    expect(repositoryDigest(repository)).toEqual(untouched);
    return;
  }
  const [status, refs] = [sh(STATUS), sh(REFS)];
  expect(await litterbox.merge('wild', await yesTo(litterbox, 'wild'))).toMatchObject({
    outcome: 'committed',
    isDeleted: true,
  });
  expect(sh('git rev-parse HEAD^{tree}').trim()).toBe(wanted);
  expect({ firstSh: sh(STATUS), secondSh: sh(REFS) }).toEqual({ firstSh: status, secondSh: refs });
  sh('git fsck --no-dangling --no-progress');
}

describe('repositories as they are found', () => {
  test.each(WILD)('$title', async (row) => {
    await using fixture = await wildFixture(row.script);
    await works(fixture, row);
  });

  test('a review branch to which its owner committed, or that is gone', async () => {
    await using fixture = await wildFixture(
      `git init -q repository; cd repository; echo a >a.txt; git add -A; git commit -q -m one`,
    );
    const { litterbox, sh } = fixture;
    const sandbox = await litterbox.create({ name: 'wild' });
    await sandbox.run('echo b >>a.txt');
    await litterbox.milestone('wild', 'done');
    sh('git checkout -q litterbox/wild; echo mine >mine.txt; git add -A; git commit -q -m mine; git checkout -q main');
    const owners = sh('git rev-parse litterbox/wild');
    expect(await litterbox.reconcile()).toEqual([]);
    await sandbox.run('echo c >>a.txt');
    expect(await refusal(litterbox.milestone('wild', 'more'))).toEqual({ code: 'CONFLICT', hint: expect.any(String) });
    expect(sh('git rev-parse litterbox/wild')).toBe(owners);
    sh('git branch -q -D litterbox/wild; git branch -q litterbox');
    expect(await litterbox.reconcile()).toEqual([]);
    expect(await litterbox.merge('wild')).toMatchObject({ outcome: 'committed', isDeleted: true });
    expect(sh('cat a.txt')).toBe('a\nb\nc\n');
  });

  test('refs in a reftable', async () => {
    const hasReftable = execFileSync('git', ['version', '--build-options'], { encoding: 'utf8' }).includes('reftable');
    const script = `git init -q repository; cd repository; echo a >a.txt; git add -A; git commit -q -m one`;
    await using fixture = await wildFixture(
      hasReftable
        ? script.replace('init', 'init --ref-format=reftable')
        : `${script}; git config core.repositoryFormatVersion 1; git config extensions.refStorage reftable`,
    );
    await works(fixture, {
      title: 'refs in a reftable',
      script,
      ...(!hasReftable && { createIs: 'REPO_CORRUPT' as const }),
    });
  });
});
