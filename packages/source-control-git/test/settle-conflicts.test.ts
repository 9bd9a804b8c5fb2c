import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { ConflictFile, PlanRequest, SandboxId, SettledFile, SourceRepository } from '@litterbox/core/provider';
import { begin, type Files, put, record, snapshot, GitFixture } from './git-fixture.ts';

const apply: PlanRequest = { integration: 'apply', arguments: [] };
const merge: PlanRequest = { integration: 'merge', arguments: [] };

/** A repository in which the person and the agent changed the same file. */
async function conflicting(fixture: GitFixture, base: Files, agents: Files, mine: Files) {
  const root = fixture.repository(base as Record<string, string>);
  const repository = await fixture.open(root);
  const id = await begin(repository);
  await record(repository, id, agents);
  for (const path of Object.keys(base)) if (!(path in mine)) fixture.git(root, 'rm', '-q', path);
  for (const [path, content] of Object.entries(mine)) put(root, path, content as string);
  fixture.git(root, 'add', '-A');
  fixture.git(root, 'commit', '-qm', 'meanwhile');
  return { root, repository, id };
}

async function conflictAt(repository: SourceRepository, id: SandboxId, path: string): Promise<ConflictFile> {
  const plan = await repository.plan(id, apply);
  return (await repository.conflict?.(plan, path)) as ConflictFile;
}

const whole = (file: ConflictFile, side: 'ours' | 'theirs') =>
  (file.parts ?? []).map((part) => ('text' in part ? part.text : part[side])).join('');

describe('conflicts that are settled before an apply', () => {
  test('FC-442: show both sides, and the apply takes the edited text to the last character', async () => {
    await using fixture = new GitFixture();
    const [base, agents, mine] = ['a\nb\nc\nd', 'a\nB\nc\nD', 'a\nmine\nc\nd'];
    const files = await conflicting(
      fixture,
      { f: base, other: 'x\n' },
      { f: agents, other: 'y\n' },
      { f: mine, other: 'x\n' },
    );
    const { root, repository, id } = files;
    const before = snapshot(root);
    const file = await conflictAt(repository, id, 'f');
    expect(file.parts).toEqual([{ text: 'a\n' }, { ours: 'mine\n', theirs: 'B\n' }, { text: 'c\nD' }]);
    expect(snapshot(root)).toEqual(before); // nothing was done
    const text = 'a\nmine and B\t\nc\r\nD'; // ends of lines that differ, and no newline at the end
    const plan = await repository.plan(id, { ...apply, settled: [{ path: 'f', digest: file.digest, text }] });
    expect(plan.conflicts).toEqual([]);
    expect((await repository.execute(plan, { autostash: false })).outcome).toBe('staged');
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe(text);
    expect(fixture.git(root, 'status', '--porcelain')).toBe('M  f\nM  other\n');
    expect(existsSync(join(root, '.git/MERGE_HEAD'))).toBe(false);
    fixture.git(root, 'fsck', '--strict', '--full');
  });

  test('a merge takes them too, and the work counts as merged; what is left over conflicts as git leaves it', async () => {
    await using fixture = new GitFixture();
    const { root, repository, id } = await conflicting(
      fixture,
      { f: 'a\n', g: 'a\n' },
      { f: 'agent\n', g: 'agent\n' },
      { f: 'mine\n', g: 'mine\n' },
    );
    const { digest } = await conflictAt(repository, id, 'f');
    const f: SettledFile = { path: 'f', digest, text: 'both\n' };
    const some = await repository.plan(id, { ...merge, settled: [f] });
    expect(some.conflicts).toEqual(['g']);
    expect((await repository.execute(some, { autostash: false })).outcome).toBe('conflicts');
    expect(fixture.git(root, 'status', '--porcelain')).toBe('M  f\nUU g\n');
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe('both\n');
    fixture.git(root, 'merge', '--abort');
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe('mine\n');
    const g: SettledFile = { path: 'g', digest: (await conflictAt(repository, id, 'g')).digest, take: 'theirs' };
    const all = await repository.plan(id, { ...merge, settled: [f, g] });
    expect((await repository.execute(all, { autostash: false })).outcome).toBe('committed');
    expect(fixture.git(root, 'show', 'HEAD:f', 'HEAD:g')).toBe('both\nagent\n');
    expect(await repository.isMerged(id)).toBe(true);
  });

  test('AX181: a yes is to the sides that were shown: others, other files and files without a conflict are refused', async () => {
    await using fixture = new GitFixture();
    const { root, repository, id } = await conflicting(
      fixture,
      { f: 'a\n', plain: 'a\n' },
      { f: 'agent\n', plain: 'agent\n' },
      { f: 'mine\n', plain: 'a\n' },
    );
    const { digest } = await conflictAt(repository, id, 'f');
    const before = snapshot(root);
    for (const path of ['plain', '.git/config', '../f', 'f/x', `${root}/f`, ''])
      await expect(repository.plan(id, { ...apply, settled: [{ path, digest, text: 'x' }] })).rejects.toMatchObject({
        code: 'CHANGED_SINCE_SHOWN',
      });
    await expect(conflictAt(repository, id, 'plain')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const twice = [1, 2].map(() => ({ path: 'f', digest, text: 'x' }));
    await expect(repository.plan(id, { ...apply, settled: twice })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(snapshot(root)).toEqual(before);
    await record(repository, id, { f: 'agent again\n', plain: 'agent\n' });
    const settled: SettledFile[] = [{ path: 'f', digest, take: 'ours' }];
    await expect(repository.plan(id, { ...apply, settled })).rejects.toMatchObject({ code: 'CHANGED_SINCE_SHOWN' });
  });

  test('FC-443: a file that one side removed, and one that is no text, are taken as a side has them', async () => {
    await using fixture = new GitFixture();
    const base = { gone: 'x\n', kept: 'x\n', binary: 'a\0b' };
    const agents = { gone: 'y\n', kept: 'y\n', binary: 'a\0agent' };
    const { root, repository, id } = await conflicting(fixture, base, agents, { binary: 'a\0mine' });
    const settled: SettledFile[] = [];
    for (const [path, take] of [
      ['gone', 'ours'],
      ['kept', 'theirs'],
      ['binary', 'theirs'],
    ] as const) {
      const file = await conflictAt(repository, id, path);
      expect([path, file.parts !== undefined, file.ours?.size]).toEqual(
        path === 'binary' ? [path, false, 6] : [path, true, undefined],
      );
      settled.push({ path, digest: file.digest, take });
    }
    const { digest } = await conflictAt(repository, id, 'gone');
    const rewritten: SettledFile = { path: 'gone', digest, text: 'mine\n' };
    expect((await repository.plan(id, { ...apply, settled: [rewritten] })).conflicts).toEqual(['binary', 'kept']);
    const plan = await repository.plan(id, { ...apply, settled });
    expect((await repository.execute(plan, { autostash: false })).outcome).toBe('staged');
    expect(fixture.git(root, 'status', '--porcelain')).toBe('M  binary\nA  kept\n');
    expect(readFileSync(join(root, 'binary'), 'utf8')).toBe('a\0agent');
  });

  test.each([
    ['FC-444: lines that look like marks', 'a\n', 'a\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> z\n', 'mine\n'],
    ['FC-445: ends of lines of Windows', 'a\r\nb\r\n', 'a\r\nB\r\n', 'a\r\nmine\r\n'],
    ['FC-446: no newline at an end', 'a\nb', 'a\nB\n', 'a\nmine'],
    ['a mark of the order of bytes', '\uFEFFa\n', '\uFEFFagent\n', '\uFEFFmine\n'],
  ])('%s are kept, whichever side is chosen', async (_, base, agents, mine) => {
    await using fixture = new GitFixture();
    const { root, repository, id } = await conflicting(fixture, { f: base }, { f: agents }, { f: mine });
    const file = await conflictAt(repository, id, 'f');
    expect(whole(file, 'ours')).toBe(mine);
    expect(whole(file, 'theirs')).toBe(agents);
    const settled: SettledFile[] = [{ path: 'f', digest: file.digest, text: whole(file, 'theirs') }];
    await repository.execute(await repository.plan(id, { ...apply, settled }), { autostash: false });
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe(agents);
  });

  test('text that UTF-8 does not hold, or that is too long to edit, is taken as a side has it', async () => {
    await using fixture = new GitFixture();
    const long = `${'x'.repeat(600_000)}\n`;
    const latin = (word: string) => ({ type: 'file', content: Buffer.from(`${word}\xe9\n`, 'latin1') }) as const;
    const { repository, id } = await conflicting(
      fixture,
      { long: 'a\n', latin: 'a\n' },
      { long, latin: latin('x') },
      { long: 'mine\n', latin: 'y\n' },
    );
    for (const path of ['long', 'latin']) expect((await conflictAt(repository, id, path)).parts).toBeUndefined();
  });
});
