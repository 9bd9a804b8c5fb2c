import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { SandboxId, SourceRepository } from '@litterbox/core/provider';
import { repositoryAtOnce } from '../src/at-once.ts';
import { begin, GitFixture, put, record } from './git-fixture.ts';

class Case {
  readonly fixture: GitFixture;
  readonly root: string;

  constructor(fixture: GitFixture) {
    this.fixture = fixture;
    this.root = fixture.repository({ 'a.txt': 'a\n' });
  }

  readonly atOnce = () => repositoryAtOnce(this.fixture.state, this.root, this.fixture.environment);
  readonly saidBy = async (repository: SourceRepository, ids: readonly SandboxId[]) => ({
    works: await repository.works(ids),
    forecast: await repository.forecast(ids, { budgetMs: 60_000 }),
  });
  readonly known = (ids: readonly SandboxId[]) => {
    const { works, forecast } = this.atOnce() ?? {};
    return { works: works?.(ids), forecast: forecast?.(ids) };
  };
}

test('what was asked of git before is told by files, until something moves', async () => {
  await using fixture = new GitFixture();
  const { root, atOnce, saidBy, known } = new Case(fixture);
  expect(atOnce()).toBeUndefined(); // nobody has opened it
  const repository = await fixture.control().open(root);
  const ids = [await begin(repository, 'one'), await begin(repository, 'other')];
  const [one, other] = ids as [SandboxId, SandboxId];
  expect(atOnce()?.id).toBe(repository.id);
  expect(known(ids)).toEqual(await saidBy(repository, ids)); // nothing was recorded: nothing is asked

  await record(repository, one, { 'a.txt': 'ONE\n', new: 'x\ny\n' });
  await record(repository, other, { 'a.txt': 'OTHER\n' });
  expect(known(ids)).toEqual({ works: undefined, forecast: undefined });
  const found = await saidBy(repository, ids);
  expect(found.works.get(one)).toEqual({ revisions: 1, unmilestoned: 1, files: 2, addedLines: 3, removedLines: 1 });
  expect(found.forecast.conflicts).toHaveLength(1);
  expect(known(ids)).toEqual(found);

  await repository.milestone(one, 'offered');
  expect(known(ids).works?.get(one)).toMatchObject({ revisions: 1, unmilestoned: 0 });
  put(root, 'a.txt', 'mine\n');
  fixture.git(root, 'commit', '-qam', 'mine');
  expect(known(ids).forecast).toBeUndefined();
  expect((await saidBy(repository, ids)).forecast.conflicts).toHaveLength(3);
  expect(known(ids).forecast?.conflicts).toHaveLength(3);

  // How it merges is said somewhere.
  fixture.git(root, 'config', '--global', 'merge.renames', 'false');
  expect(known(ids).forecast).toBeUndefined();
  fixture.git(root, 'config', '--global', '--unset', 'merge.renames');
  appendFileSync(join(fixture.home, '.gitconfig'), '[include]\n\tpath = other\n');
  expect(known(ids).forecast).toBeUndefined();
});

test('a repository that moved, and refs that a power cut took, are left to who looks closer', async () => {
  await using fixture = new GitFixture();
  const { root, atOnce } = new Case(fixture);
  const repository = await fixture.control().open(root);
  const id = await begin(repository, 'one');
  await record(repository, id, { 'a.txt': 'ONE\n' });
  const before = atOnce();
  expect(before).toBeDefined();
  const tip = join(fixture.state, 'repos', repository.id, 'store.git/refs/litterbox', id, 'tip');
  const { base } = await repository.history(id);
  writeFileSync(tip, `${base.commit}\n`);
  expect(atOnce()).toBeUndefined();
  await using later = await fixture.control().open(root); // it is made again
  expect((await later.history(id)).tip.number).toBe(1);
  expect(atOnce()).toBeDefined();

  const moved = `${root}-moved`;
  renameSync(root, moved);
  expect(repositoryAtOnce(fixture.state, moved, fixture.environment)).toBeUndefined();
});
