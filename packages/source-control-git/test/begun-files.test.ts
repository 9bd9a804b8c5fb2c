import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { begin, GitFixture, put, record } from './git-fixture.ts';

const ask = { arguments: [] as string[] };
const HEAD = '1\n2\n3\n4\n5\n';
const MINE = '1\n2 mine\n3\n4\n5\n';
const BOTH = '1\n2 mine\n3 agent\n4\n5\n';

/** A sandbox that began with uncommitted work, and what an agent made of it. */
async function begunWithEdits(fixture: GitFixture) {
  const root = fixture.repository({ 'a.txt': HEAD, 'b.txt': HEAD, 'gone.txt': 'gone\n', 'old.txt': HEAD });
  put(root, 'a.txt', MINE);
  put(root, 'b.txt', MINE);
  put(root, 'new.txt', 'mine\n');
  rmSync(join(root, 'gone.txt'));
  fixture.git(root, 'mv', 'old.txt', 'moved.txt');
  const repository = await fixture.open(root);
  const id = await begin(repository, 'work', { type: 'worktree' });
  const files = {
    'a.txt': BOTH,
    'b.txt': MINE,
    'new.txt': 'mine\nagent\n',
    'moved.txt': `${HEAD}6\n`,
    'own.txt': 'own\n',
  };
  await record(repository, id, files);
  return { root, repository, id };
}

describe('uncommitted changes that a sandbox began with', () => {
  test('FC-359: an apply goes on from them, and leaves the others as they are', async () => {
    await using fixture = new GitFixture();
    const { root, repository, id } = await begunWithEdits(fixture);
    const plan = await repository.plan(id, { integration: 'apply', ...ask });
    expect(plan.changes.map(({ path }) => path).sort()).toEqual(['a.txt', 'moved.txt', 'new.txt', 'own.txt']);
    expect([plan.conflicts, plan.dirtyOverlap]).toEqual([[], []]);
    expect(await repository.execute(plan, { autostash: false })).toMatchObject({ outcome: 'staged', conflicts: [] });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe(BOTH);
    expect(readFileSync(join(root, 'new.txt'), 'utf8')).toBe('mine\nagent\n');
    expect(fixture.git(root, 'status', '--porcelain')).toBe(
      'M  a.txt\n M b.txt\n D gone.txt\nR  old.txt -> moved.txt\nA  new.txt\nA  own.txt\n',
    );
    expect((await repository.plan(id, { integration: 'apply', ...ask })).upToDate).toBe(true);
  });

  test('an edit since then is in the way, as is a part of them that is staged', async () => {
    await using fixture = new GitFixture();
    const { root, repository, id } = await begunWithEdits(fixture);
    const planned = await repository.plan(id, { integration: 'apply', ...ask });
    put(root, 'a.txt', `${MINE}later\n`);
    await expect(repository.execute(planned, { autostash: false })).rejects.toMatchObject({ code: 'CONFLICT' });
    const plan = await repository.plan(id, { integration: 'apply', ...ask });
    expect(plan.dirtyOverlap).toEqual(['a.txt']);
    await expect(repository.execute(plan, { autostash: false })).rejects.toMatchObject({ code: 'DIRTY_WORKTREE' });
    put(root, 'a.txt', '1\n2 mine\n3 staged\n4\n5\n');
    fixture.git(root, 'add', 'a.txt');
    put(root, 'a.txt', MINE);
    expect((await repository.plan(id, { integration: 'apply', ...ask })).dirtyOverlap).toEqual(['a.txt']);
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe(MINE);
  });

  test('are to be committed before a merge, which says so', async () => {
    await using fixture = new GitFixture();
    const { root, repository, id } = await begunWithEdits(fixture);
    const plan = await repository.plan(id, { integration: 'merge', ...ask });
    for (const autostash of [false, true])
      await expect(repository.execute(plan, { autostash })).rejects.toMatchObject({
        code: 'DIRTY_WORKTREE',
        details: { hint: expect.stringContaining('The sandbox began with these changes: commit them first') },
      });
    expect(readFileSync(join(root, 'new.txt'), 'utf8')).toBe('mine\n');
    fixture.git(root, 'add', '-A');
    fixture.git(root, 'commit', '-qm', 'mine');
    const after = await repository.plan(id, { integration: 'merge', ...ask });
    expect((await repository.execute(after, { autostash: false })).outcome).toBe('committed');
    expect(fixture.git(root, 'status', '--porcelain')).toBe('');
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe(BOTH);
  });

  test('are as they were when an apply fails half-way', async () => {
    await using fixture = new GitFixture();
    const { root, repository, id } = await begunWithEdits(fixture);
    const before = fixture.git(root, 'status', '--porcelain');
    const plan = await repository.plan(id, { integration: 'apply', ...ask });
    // Nothing git knows, which turns up between plan and writing, and which no file can replace.
    mkdirSync(join(root, 'own.txt/x'), { recursive: true });
    put(root, 'own.txt/x/y', 'z\n');
    await expect(repository.execute(plan, { autostash: false })).rejects.toThrow();
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe(MINE);
    expect(readFileSync(join(root, 'new.txt'), 'utf8')).toBe('mine\n');
    rmSync(join(root, 'own.txt'), { recursive: true });
    expect(fixture.git(root, 'status', '--porcelain')).toBe(before);
  });
});
