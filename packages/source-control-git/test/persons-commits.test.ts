import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type SandboxId, type SourceRepository } from '@litterbox/core/provider';
import { begin, GitFixture, put, record } from './git-fixture.ts';

const BASE = { 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\n' };
const IDENTITIES = '--format=%an <%ae> / %cn <%ce>';
const ADA = 'Ada <ada@example.test> / Ada <ada@example.test>';

async function merge(
  repository: SourceRepository,
  id: SandboxId,
  args: readonly string[] = [],
  message?: string,
): ReturnType<SourceRepository['execute']> {
  const request = { integration: 'merge' as const, arguments: args, ...(message !== undefined && { message }) };
  return await repository.execute(await repository.plan(id, request), { autostash: false });
}

describe('what a person merges', () => {
  test('is theirs by name, signed and signed off, when HEAD did not move', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    fixture.sign(root);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, { ...BASE, 'b.txt': 'B\n' });
    await merge(repository, id, ['--signoff'], 'Mend b');
    expect(fixture.git(root, 'log', '-1', IDENTITIES)).toBe(`${ADA}\n`);
    expect(fixture.git(root, 'log', '-1', '--format=%B')).toBe(
      'Mend b\n\nLitterbox-Sandbox: work\nSigned-off-by: Ada <ada@example.test>\n\n',
    );
    expect(fixture.signatures(root, 'HEAD')).toBe(1);
    expect(fixture.git(root, 'rev-list', '--count', 'HEAD')).toBe('2\n');
    expect(await repository.isMerged(id)).toBe(true);
    fixture.git(root, 'fsck', '--strict', '--full');
  });

  test('is theirs behind a merge commit too: each milestone one commit, with its words', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    fixture.sign(root);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, { ...BASE, 'a.txt': '1\n' }, 'run: one');
    await repository.milestone(id, 'First\n\nbody');
    await record(repository, id, { ...BASE, 'a.txt': '2\n' }, 'run: two');
    await record(repository, id, { ...BASE, 'a.txt': '3\n' }, 'run: three');
    put(root, 'b.txt', 'other\n');
    fixture.git(root, 'commit', '-qam', 'meanwhile');
    await merge(repository, id, [], 'Take it');
    expect(new Set(fixture.git(root, 'log', IDENTITIES).trimEnd().split('\n'))).toEqual(new Set([ADA]));
    expect(fixture.signatures(root, '--all')).toBe(4);
    expect(fixture.git(root, 'log', '--topo-order', '--format=%B%x01', 'HEAD^2').split('\x01\n').slice(0, 2)).toEqual([
      "Changes of sandbox 'work'\n\n- run: two\n- run: three\n\nLitterbox-Sandbox: work\n",
      'First\n\nbody\n\nLitterbox-Sandbox: work\n',
    ]);
    expect(fixture.git(root, 'log', '-1', '--format=%B')).toBe('Take it\n\n');
  });

  test('is theirs by variables as well, which count more than a configuration', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    Object.assign(fixture.environment, {
      GIT_AUTHOR_NAME: 'Grace',
      GIT_AUTHOR_EMAIL: 'grace@example.test',
      GIT_COMMITTER_NAME: 'Grace',
      GIT_COMMITTER_EMAIL: 'grace@example.test',
    });
    for (const name of ['user.name', 'user.email']) fixture.git(root, 'config', '--global', '--unset', name);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, { ...BASE, 'b.txt': 'B\n' });
    await merge(repository, id);
    expect(fixture.git(root, 'log', '-1', IDENTITIES)).toBe(
      'Grace <grace@example.test> / Grace <grace@example.test>\n',
    );
  });

  test('FC-467: is theirs by the configuration that they point git to', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    fixture.sign(root);
    const elsewhere = join(fixture.directory, 'elsewhere');
    const set = (name: string, value: string) => fixture.git(root, 'config', '--file', elsewhere, name, value);
    set('user.name', 'Grace');
    set('user.email', 'grace@example.test');
    set('commit.gpgSign', 'true');
    fixture.git(root, 'config', '--unset', 'commit.gpgSign');
    Object.assign(fixture.environment, { GIT_CONFIG_GLOBAL: elsewhere });
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, { ...BASE, 'b.txt': 'B\n' });
    await merge(repository, id);
    expect(fixture.git(root, 'log', '-1', IDENTITIES)).toBe(
      'Grace <grace@example.test> / Grace <grace@example.test>\n',
    );
    expect(fixture.signatures(root, 'HEAD')).toBe(1);
  });

  test('says by itself what was done: the one revision, or all of them', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    const repository = await fixture.open(root);
    const subjectOf = () => fixture.git(root, 'log', '-1', '--format=%s').trimEnd();
    const one = await begin(repository, 'one');
    await record(repository, one, { ...BASE, 'a.txt': '1\n' }, 'Count from one');
    await merge(repository, one);
    expect(subjectOf()).toBe('Count from one');
    const two = await begin(repository, 'two');
    for (const number of Array.from({ length: 25 }).keys())
      await record(repository, two, { ...BASE, 'a.txt': `${number + 2}\n` }, `run: ${number}`);
    await merge(repository, two);
    expect(subjectOf()).toBe("Changes of sandbox 'two'");
    expect(fixture.git(root, 'log', '-1', '--format=%b')).toMatch(/^- run: 0\n(?:- .*\n){19}- and 5 more\n\nLitterbox/);
  });

  test('keeps no word of an agent that steers what reads commits; those of the person stay', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, { ...BASE, 'a.txt': '1\n' }, 'run: one');
    await repository.milestone(
      id,
      'Fix it [skip ci]\n\n[actions skip], [No CI], ***NO_CI*** and [skip me to the end](x)',
    );
    expect(fixture.git(root, 'log', '-1', '--format=%b', 'litterbox/work')).toContain('Litterbox-Revision: 1 (');
    const plan = await repository.plan(id, { integration: 'merge', arguments: [] });
    expect(plan.messages).toEqual(['Fix it "skip ci"\n\n"actions skip", "No CI", "NO_CI" and "skip me to the end"(x)']);
    await merge(repository, id, [], 'Mine [skip ci]');
    expect(fixture.git(root, 'log', '-1', '--format=%s')).toBe('Mine [skip ci]\n');
  });

  test('with the branch elsewhere meanwhile: squashed, and with conflicts that the person settles', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, { ...BASE, 'a.txt': 'theirs\n' }, 'Say theirs');
    await merge(repository, id, ['--squash']);
    fixture.git(root, 'commit', '-q', '--no-edit');
    expect(fixture.git(root, 'log', '-1', '--format=%B')).toBe('Say theirs\n\nLitterbox-Sandbox: work\n\n');
    fixture.git(root, 'reset', '-q', '--hard', 'HEAD~1');
    put(root, 'a.txt', 'ours\n');
    fixture.git(root, 'commit', '-qam', 'meanwhile');
    expect((await merge(repository, id)).outcome).toBe('conflicts');
    put(root, 'a.txt', 'settled\n');
    fixture.git(root, 'commit', '-qam', 'Settle it');
    expect(fixture.git(root, 'log', IDENTITIES)).not.toContain('localhost');
    expect(await repository.isMerged(id)).toBe(true);
    // The work goes on, and what was settled is not asked again.
    await record(repository, id, { ...BASE, 'a.txt': 'theirs\n', 'new.txt': 'new\n' }, 'Add new');
    expect(await repository.isMerged(id)).toBe(false);
    expect((await merge(repository, id)).outcome).toBe('committed');
    expect(fixture.git(root, 'show', 'HEAD:a.txt')).toBe('settled\n');
    expect(fixture.git(root, 'rev-list', '--count', 'HEAD')).toBe('6\n');
  });
});

describe('a base that the branch does not have', () => {
  test('stays where it is: of a sandbox of another branch its own changes come alone', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    const repository = await fixture.open(root);
    fixture.git(root, 'switch', '-qc', 'feature');
    for (const name of ['f1', 'f2', 'f3']) {
      put(root, name, name);
      fixture.git(root, 'add', name);
      fixture.git(root, 'commit', '-qm', `wip ${name}`);
    }
    const id = await begin(repository);
    await record(repository, id, { ...BASE, f1: 'f1', f2: 'f2', f3: 'f3', fix: 'fix\n' }, 'Fix it');
    fixture.git(root, 'switch', '-q', 'main');
    for (const integration of ['apply', 'merge'] as const) {
      const plan = await repository.plan(id, { integration, arguments: [] });
      expect(plan.changes.map(({ path }) => path)).toEqual(['fix']);
      expect(plan.unmergedBase).toEqual({ commits: 3, headRef: 'refs/heads/feature' });
    }
    await expect(merge(repository, id, ['--ff-only'])).rejects.toMatchObject({ code: 'CONFLICT' });
    await merge(repository, id);
    expect(fixture.git(root, 'log', '--format=%s %ae')).toBe('Fix it ada@example.test\nfirst ada@example.test\n');
    expect(await repository.isMerged(id)).toBe(true);
    await record(repository, id, { ...BASE, f1: 'f1', f2: 'f2', f3: 'f3', fix: 'fix\n', more: 'm\n' }, 'More');
    put(root, 'fix', 'of the person\n');
    fixture.git(root, 'commit', '-qam', 'After');
    expect((await merge(repository, id)).outcome).toBe('committed');
    expect(fixture.git(root, 'ls-tree', '--name-only', 'HEAD')).toBe('a.txt\nb.txt\nfix\nmore\n');
    expect(fixture.git(root, 'show', 'HEAD:fix')).toBe('of the person\n');
  });

  test('that the person rewrote since does not come back', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    put(root, 'secret', 'not for others\n');
    fixture.git(root, 'add', 'secret');
    fixture.git(root, 'commit', '-qm', 'oops');
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, { ...BASE, secret: 'not for others\n', 'b.txt': 'B\n' }, 'Mend b');
    fixture.git(root, 'reset', '-q', '--hard', 'HEAD~1');
    await merge(repository, id);
    expect(fixture.git(root, 'log', '--format=%s')).toBe('Mend b\nfirst\n');
    expect(fixture.git(root, 'ls-tree', '--name-only', 'HEAD')).toBe('a.txt\nb.txt\n');
  });
});

describe('a review branch that is checked out', () => {
  test('is not moved below a work tree, and takes no work of its own', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, { ...BASE, 'a.txt': '1\n' }, 'One');
    const first = await repository.milestone(id, 'One');
    fixture.git(root, 'switch', '-q', 'litterbox/work');
    await record(repository, id, { ...BASE, 'a.txt': '2\n' }, 'Two');
    await expect(repository.milestone(id, 'Two')).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { facts: { workTree: root } },
    });
    expect(fixture.git(root, 'rev-parse', 'HEAD').trim()).toBe(first?.commit);
    expect(fixture.git(root, 'status', '--porcelain')).toBe('');
    await expect(merge(repository, id)).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { hint: expect.stringContaining('git switch main') },
    });
    fixture.git(root, 'switch', '-q', 'main');
    expect(await repository.milestone(id, 'Two')).toMatchObject({ revisions: 1 });
    await merge(repository, id);
    expect(fixture.git(root, 'log', '--format=%s %ce')).toBe(
      'Two ada@example.test\nOne ada@example.test\nfirst ada@example.test\n',
    );
  });
});
