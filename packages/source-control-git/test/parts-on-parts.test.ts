import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { FilePart, OfferedFile, PlanRequest, SandboxId, SourceRepository } from '@litterbox/core/provider';
import { begin, put, record, GitFixture } from './git-fixture.ts';

const numbered = (count: number, change: Readonly<Record<number, string>> = {}) =>
  Array.from({ length: count }, (_, at) => `${change[at + 1] ?? `line ${at + 1}`}\n`).join('');
const ask: PlanRequest = { integration: 'apply', arguments: [] };
const AGENT = { 2: 'TWO', 20: 'TWENTY', 38: 'LATE' };

/** A sandbox that changed a file in three places. */
async function started(fixture: GitFixture) {
  const root = fixture.repository({ 'a.txt': numbered(40), 'b.txt': 'b\n' });
  const repository = await fixture.open(root);
  const id = await begin(repository);
  await record(repository, id, { 'a.txt': numbered(40, AGENT), 'b.txt': 'B\n' });
  const whole = await offered(repository, id);
  const take = async (changes: readonly number[], more: Partial<PlanRequest> = {}) => {
    const parts: FilePart[] = [{ path: 'a.txt', digest: whole.digest ?? '', changes }];
    const plan = await repository.plan(id, { ...ask, parts, ...more });
    return { plan, ...(await repository.execute(plan, { autostash: false })) };
  };
  return { root, repository, id, take, read: () => readFileSync(join(root, 'a.txt'), 'utf8') };
}

async function offered(repository: SourceRepository, id: SandboxId): Promise<OfferedFile> {
  for await (const file of repository.offered?.(await repository.plan(id, ask)) ?? [])
    if (file.path === 'a.txt') return file;
  throw new Error('nothing is offered');
}

describe('parts of a second apply', () => {
  test('FC-425: go on top of the first ones, which are not committed yet', async () => {
    await using fixture = new GitFixture();
    const { root, repository, id, take, read } = await started(fixture);
    await take([1]);
    const { plan, outcome } = await take([2]);
    expect([outcome, plan.dirtyOverlap]).toEqual(['staged', []]);
    expect(plan.changes.map(({ addedLines }) => addedLines)).toEqual([1]); // of this apply alone
    expect(read()).toBe(numbered(40, { 20: 'TWENTY', 38: 'LATE' }));
    expect(fixture.git(root, 'status', '--porcelain')).toBe('M  a.txt\n');
    expect((await take([1])).outcome).toBe('up-to-date');
    // `-p` offers what is left, by itself.
    const left = await offered(repository, id);
    expect(left.hunks.map(({ lines }) => lines.map((line) => Buffer.from(line).toString()).slice(1, 3))).toEqual([
      ['-line 2', '+TWO'],
    ]);
    const parts = [{ path: 'a.txt', digest: left.digest ?? '', changes: [0] }];
    await repository.execute(await repository.plan(id, { ...ask, parts }), { autostash: false });
    expect(read()).toBe(numbered(40, AGENT));
    fixture.git(root, 'commit', '-qm', 'all of a.txt');
    fixture.git(root, 'fsck', '--strict', '--full');
  });

  test('and so does the whole, and a part where the branch has moved on', async () => {
    await using fixture = new GitFixture();
    const { root, repository, id, take, read } = await started(fixture);
    put(root, 'a.txt', `more\n${numbered(40)}`);
    fixture.git(root, 'commit', '-qam', 'mine');
    await take([0]);
    await take([2]);
    expect(read()).toBe(`more\n${numbered(40, { 2: 'TWO', 38: 'LATE' })}`);
    const plan = await repository.plan(id, ask);
    expect(plan.dirtyOverlap).toEqual([]);
    await repository.execute(plan, { autostash: false });
    expect(read()).toBe(`more\n${numbered(40, AGENT)}`);
    expect(fixture.git(root, 'status', '--porcelain')).toBe('M  a.txt\nM  b.txt\n');
  });

  test('never over an edit of the person, nor over parts that went away after the plan', async () => {
    await using fixture = new GitFixture();
    const { root, repository, id, take, read } = await started(fixture);
    await take([1]);
    const planned = await repository.plan(id, ask);
    put(root, 'a.txt', `${read()}mine\n`);
    await expect(take([2])).rejects.toMatchObject({ code: 'DIRTY_WORKTREE' });
    fixture.git(root, 'add', 'a.txt');
    await expect(take([2])).rejects.toMatchObject({ code: 'DIRTY_WORKTREE' });
    await expect(repository.execute(planned, { autostash: false })).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(read()).toBe(`${numbered(40, { 20: 'TWENTY' })}mine\n`);
    fixture.git(root, 'checkout', '-q', 'HEAD', 'a.txt');
    await expect(repository.execute(planned, { autostash: false })).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(read()).toBe(numbered(40));
  });

  test('are undone to the first ones when they cannot be written, and refuse to be put aside', async () => {
    await using fixture = new GitFixture();
    const { root, repository, id, take, read } = await started(fixture);
    await take([1]);
    const first = read();
    await record(repository, id, {
      '.gitattributes': 'z.txt filter=x\n',
      'a.txt': numbered(40, AGENT),
      'b.txt': 'B\n',
      'z.txt': 'z\n',
    });
    for (const [key, value] of [
      ['filter.x.smudge', 'false'],
      ['filter.x.required', 'true'],
    ] as const)
      fixture.git(root, 'config', key, value);
    const paths = ['a.txt', 'z.txt', '.gitattributes'];
    await expect(
      repository.execute(await repository.plan(id, { ...ask, paths }), { autostash: false }),
    ).rejects.toThrow();
    expect(read()).toBe(first);
    expect(fixture.git(root, 'status', '--porcelain')).toBe('M  a.txt\n');
    put(root, 'b.txt', 'mine\n');
    const all = await repository.plan(id, { ...ask, paths: ['a.txt', 'b.txt'] });
    await expect(repository.execute(all, { autostash: true })).rejects.toMatchObject({ code: 'DIRTY_WORKTREE' });
    expect([read(), readFileSync(join(root, 'b.txt'), 'utf8')]).toEqual([first, 'mine\n']);
  });
});

describe('parts as a commit', () => {
  test('FC-426: are a commit of the person at once, and leave what is staged besides, and the rest, where they are', async () => {
    await using fixture = new GitFixture();
    const { root, repository, id, take, read } = await started(fixture);
    put(root, 'staged.txt', 'mine\n');
    fixture.git(root, 'add', 'staged.txt');
    put(root, 'b.txt', 'mine\n');
    const { outcome, plan, commit } = await take([1], { commit: true, message: 'Take the twentieth' });
    expect([outcome, plan.messages]).toEqual(['committed', ['Take the twentieth']]);
    expect(fixture.git(root, 'rev-parse', 'HEAD').trim()).toBe(commit);
    expect(fixture.git(root, 'log', '-1', '--format=%an %s', '--name-only')).toBe('Ada Take the twentieth\n\na.txt\n');
    expect(fixture.git(root, 'status', '--porcelain')).toBe(' M b.txt\nA  staged.txt\n');
    expect(await repository.isMerged(id)).toBe(false); // some of it alone
    await take([0], { commit: true });
    expect(read()).toBe(numbered(40, { 2: 'TWO', 20: 'TWENTY' }));
    const rest = await repository.plan(id, { ...ask, paths: ['a.txt'] });
    expect(rest.changes.map(({ addedLines }) => addedLines)).toEqual([1]);
    fixture.git(root, 'checkout', '-q', 'b.txt');
    await repository.execute(await repository.plan(id, { ...ask, commit: true }), { autostash: false });
    expect(await repository.isMerged(id)).toBe(true);
    expect(fixture.git(root, 'status', '--porcelain')).toBe('A  staged.txt\n');
    fixture.git(root, 'fsck', '--strict', '--full');
  });

  test('of a file with parts that are staged is refused: the commit would be without those', async () => {
    await using fixture = new GitFixture();
    const { root, take, read } = await started(fixture);
    await take([1]);
    await expect(take([2], { commit: true })).rejects.toMatchObject({ code: 'DIRTY_WORKTREE' });
    expect(read()).toBe(numbered(40, { 20: 'TWENTY' }));
    expect(fixture.git(root, 'status', '--porcelain')).toBe('M  a.txt\n');
  });
});
