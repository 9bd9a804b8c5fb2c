import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { atFailpoint } from '@litterbox/testing';
import { begin, put, record, snapshot, GitFixture } from './git-fixture.ts';

const BASE = { 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\n', 'src/c.txt': 'c\n' };
const AGENT = { 'a.txt': 'ONE\ntwo\nthree\n', 'b.txt': 'b\n', 'src/new.txt': 'new\n' };
const notGit = (path: string) => path === '.git';
const ask = { arguments: [] as string[] };

describe('apply', () => {
  test('stages the changes for the person to commit and leaves HEAD', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, AGENT);
    const head = fixture.git(root, 'rev-parse', 'HEAD');
    const before = snapshot(root);
    const plan = await repository.plan(id, { integration: 'apply', ...ask });
    expect(plan.changes.map(({ path, status }) => `${status} ${path}`).sort()).toEqual([
      'added src/new.txt',
      'deleted src/c.txt',
      'modified a.txt',
    ]);
    expect(snapshot(root)).toEqual(before);
    expect(await repository.isMerged(id)).toBe(false);
    const result = await repository.execute(plan, { autostash: false });
    expect(result).toEqual({ outcome: 'staged', conflicts: [] });
    expect(fixture.git(root, 'rev-parse', 'HEAD')).toBe(head);
    expect(fixture.git(root, 'status', '--porcelain')).toBe('M  a.txt\nD  src/c.txt\nA  src/new.txt\n');
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('ONE\ntwo\nthree\n');
    fixture.git(root, 'commit', '-qm', 'taken');
    expect(await repository.isMerged(id)).toBe(true);
    expect((await repository.plan(id, { integration: 'apply', ...ask })).upToDate).toBe(true);
    fixture.git(root, 'fsck', '--strict', '--full');
  });

  test('leaves changes of the person that it does not touch, staged or not', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, AGENT);
    put(root, 'b.txt', 'mine\n');
    put(root, 'staged.txt', 'staged\n');
    put(root, 'loose.txt', 'loose\n');
    fixture.git(root, 'add', 'staged.txt');
    const plan = await repository.plan(id, { integration: 'apply', ...ask });
    expect(plan.dirtyOverlap).toEqual([]);
    await repository.execute(plan, { autostash: false });
    expect(fixture.git(root, 'status', '--porcelain')).toBe(
      'M  a.txt\n M b.txt\nD  src/c.txt\nA  src/new.txt\nA  staged.txt\n?? loose.txt\n',
    );
  });
});

describe('merge', () => {
  test('fast-forwards when HEAD did not move', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, AGENT);
    const result = await repository.execute(await repository.plan(id, { integration: 'merge', ...ask }), {
      autostash: false,
    });
    expect(result.outcome).toBe('committed');
    expect(fixture.git(root, 'status', '--porcelain')).toBe('');
    expect(fixture.git(root, 'rev-list', '--count', 'HEAD')).toBe('2\n');
    expect(await repository.isMerged(id)).toBe(true);
    fixture.git(root, 'fsck', '--strict', '--full');
  });

  test('makes a merge commit of the person otherwise, with their message and sign-off', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, AGENT);
    put(root, 'b.txt', 'other\n');
    fixture.git(root, 'commit', '-qam', 'meanwhile');
    const plan = await repository.plan(id, { integration: 'merge', arguments: ['-m', 'Take it', '--signoff'] });
    const result = await repository.execute(plan, { autostash: false });
    expect(result.outcome).toBe('committed');
    expect(fixture.git(root, 'log', '-1', '--format=%an <%ae>%n%B')).toBe(
      'Ada <ada@example.test>\nTake it\n\nSigned-off-by: Ada <ada@example.test>\n\n',
    );
    expect(fixture.git(root, 'rev-list', '--parents', '-1', 'HEAD').trim().split(' ')).toHaveLength(3);
    expect(fixture.git(root, 'status', '--porcelain')).toBe('');
    expect(snapshot(root, notGit)).toMatchObject({ 'b.txt': '644 other\n', 'src/new.txt': '644 new\n' });
  });

  test('leaves the conflict state of git, which git merge --abort undoes', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, AGENT);
    put(root, 'a.txt', 'eins\ntwo\nthree\n');
    fixture.git(root, 'commit', '-qam', 'meanwhile');
    fixture.git(root, 'config', 'merge.conflictStyle', 'diff3');
    const before = snapshot(root, notGit);
    for (const integration of ['merge', 'apply'] as const) {
      const plan = await repository.plan(id, { integration, ...ask });
      expect(plan.conflicts).toEqual(['a.txt']);
      const result = await repository.execute(plan, { autostash: false });
      expect(result).toEqual({ outcome: 'conflicts', conflicts: ['a.txt'] });
      expect(fixture.git(root, 'status', '--porcelain')).toBe('UU a.txt\nD  src/c.txt\nA  src/new.txt\n');
      expect(readFileSync(join(root, 'a.txt'), 'utf8')).toMatch(
        /^<<<<<<< HEAD\neins\n\|{7} .*\none\n=======\nONE\n>>>>>>> litterbox\/work\ntwo\nthree\n$/,
      );
      await expect(repository.plan(id, { integration, ...ask })).rejects.toMatchObject({ code: 'MERGE_IN_PROGRESS' });
      fixture.git(root, 'merge', '--abort');
      expect(snapshot(root, notGit)).toEqual(before);
      expect(fixture.git(root, 'status', '--porcelain')).toBe('');
    }
    // Settled and committed, a merge has two parents and an apply one.
    for (const [integration, parents] of [
      ['merge', 3],
      ['apply', 2],
    ] as const) {
      await repository.execute(await repository.plan(id, { integration, ...ask }), { autostash: false });
      put(root, 'a.txt', 'settled\n');
      fixture.git(root, 'add', 'a.txt');
      fixture.git(root, 'commit', '-q', '--no-edit');
      expect(fixture.git(root, 'rev-list', '--parents', '-1', 'HEAD').trim().split(' ')).toHaveLength(parents);
      fixture.git(root, 'reset', '-q', '--hard', 'HEAD~1');
    }
  });

  test('merges files by the attributes of the person, and not by those of the sandbox', async () => {
    await using fixture = new GitFixture();
    const odd = 'docs/[a] "b" ä*\n.md';
    const lines = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];
    const text = lines.join('\n');
    const root = fixture.repository({
      '.gitattributes': '*.md merge=union\n*.lock -merge\nother merge=some-program\n',
      'CHANGES.md': 'one\n',
      [odd]: 'one\n',
      'a.lock': text,
      other: text,
      'plain.txt': 'one\n',
    });
    fixture.git(root, 'config', 'merge.some-program.driver', 'echo ran >ran');
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, {
      '.gitattributes': '*.txt merge=union\n',
      'CHANGES.md': 'one\ntheirs\n',
      [odd]: 'one\ntheirs\n',
      'a.lock': text.replace('one', 'ONE'),
      other: text.replace('one', 'ONE'),
      'plain.txt': 'one\ntheirs\n',
    });
    for (const path of ['CHANGES.md', odd, 'plain.txt']) put(root, path, 'one\nours\n');
    for (const path of ['a.lock', 'other']) put(root, path, text.replace('seven', 'SEVEN'));
    fixture.git(root, 'commit', '-qam', 'meanwhile');
    const plan = await repository.plan(id, { integration: 'merge', ...ask });
    expect(plan.conflicts).toEqual(['a.lock', 'plain.txt']);
    await repository.execute(plan, { autostash: false });
    expect(readFileSync(join(root, 'CHANGES.md'), 'utf8')).toBe('one\nours\ntheirs\n');
    expect(readFileSync(join(root, odd), 'utf8')).toBe('one\nours\ntheirs\n');
    expect(readFileSync(join(root, 'other'), 'utf8')).toBe(text.replace('one', 'ONE').replace('seven', 'SEVEN'));
    expect(existsSync(join(root, 'ran'))).toBe(false);
  });

  test.each([
    [['-X', 'theirs'], 'ONE\ntwo\nthree\n'],
    [['-Xours'], 'eins\ntwo\nthree\n'],
    [['--strategy=ours'], 'eins\ntwo\nthree\n'],
  ])('settles conflicts as %j says', async (args, content) => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, AGENT);
    put(root, 'a.txt', 'eins\ntwo\nthree\n');
    fixture.git(root, 'commit', '-qam', 'meanwhile');
    const plan = await repository.plan(id, { integration: 'merge', arguments: args });
    expect(plan.conflicts).toEqual([]);
    expect((await repository.execute(plan, { autostash: false })).outcome).toBe('committed');
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe(content);
    expect(await repository.isMerged(id)).toBe(true);
  });

  test.each(['--exec=x', '-c', '--upload-pack=x', '--strategy=../../x', '-Xevil', '--no-verify', '--into-name=x'])(
    'refuses %s',
    async (argument) => {
      await using fixture = new GitFixture();
      const repository = await fixture.open(fixture.repository(BASE));
      const id = await begin(repository);
      await expect(repository.plan(id, { integration: 'merge', arguments: [argument] })).rejects.toMatchObject({
        code: 'MERGE_ARG_NOT_ALLOWED',
      });
    },
  );

  test('stages with --squash, refuses --ff-only when HEAD moved, and merges with --no-ff', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, AGENT);
    const squash = await repository.plan(id, { integration: 'merge', arguments: ['--squash'] });
    expect((await repository.execute(squash, { autostash: false })).outcome).toBe('staged');
    fixture.git(root, 'reset', '-q', '--hard');
    const noFf = await repository.plan(id, { integration: 'merge', arguments: ['--no-ff'] });
    await repository.execute(noFf, { autostash: false });
    expect(fixture.git(root, 'rev-list', '--parents', '-1', 'HEAD').trim().split(' ')).toHaveLength(3);
    fixture.git(root, 'reset', '-q', '--hard', 'HEAD~1');
    put(root, 'z', 'z');
    fixture.git(root, 'add', '.');
    fixture.git(root, 'commit', '-qm', 'z');
    await expect(repository.plan(id, { integration: 'merge', arguments: ['--ff-only'] })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
  });

  test('FC-39: the plan names the hooks of the person that do not run, wherever git finds them', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, AGENT);
    const notFollowed = async (integration: 'merge' | 'apply') =>
      (await repository.plan(id, { integration, ...ask })).notFollowed;
    expect(await notFollowed('merge')).toBeUndefined();
    const hook = (path: string, mode = 0o755) => {
      put(root, path, '#!/bin/sh\nexit 1\n');
      chmodSync(join(root, path), mode);
    };
    hook('.git/hooks/commit-msg');
    hook('.git/hooks/pre-commit');
    hook('.git/hooks/post-merge', 0o644);
    hook('.git/hooks/pre-push');
    expect(await notFollowed('merge')).toEqual({ hooks: ['pre-commit', 'commit-msg'] });
    expect(await notFollowed('apply')).toBeUndefined();
    hook('.husky/post-merge');
    fixture.git(root, 'config', 'core.hooksPath', '.husky');
    expect(await notFollowed('merge')).toEqual({ hooks: ['post-merge'] });
    const plan = await repository.plan(id, { integration: 'merge', ...ask });
    expect((await repository.execute(plan, { autostash: false })).outcome).toBe('committed');
  });

  test("the branch's mergeOptions count, and are named where one is not let through", async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, AGENT);
    fixture.git(root, 'config', 'branch.main.mergeOptions', '--no-ff --log');
    expect((await repository.plan(id, { integration: 'merge', ...ask })).notFollowed).toEqual({
      hooks: [],
      mergeOptions: '--no-ff --log',
    });
    fixture.git(root, 'config', 'branch.main.mergeOptions', '--no-ff --signoff');
    const forward = await repository.plan(id, { integration: 'merge', arguments: ['--ff'] });
    expect((forward.token as { kind: string }).kind).toBe('fast-forward');
    const plan = await repository.plan(id, { integration: 'merge', ...ask });
    await repository.execute(plan, { autostash: false });
    expect(fixture.git(root, 'rev-list', '--parents', '-1', 'HEAD').trim().split(' ')).toHaveLength(3);
    expect(fixture.git(root, 'log', '-1', '--format=%B', 'HEAD^2')).toContain('Signed-off-by: Ada');
  });

  test.each([
    ['MESSAGE_EMPTY', { message: ' \n\t' }],
    ['MESSAGE_EMPTY', { arguments: ['-m', ''] }],
    ['MESSAGE_NUL', { message: 'a\0b' }],
  ])('FC-468: refuses a message that git commit would not take: %s %j', async (code, words) => {
    await using fixture = new GitFixture();
    const repository = await fixture.open(fixture.repository(BASE));
    const id = await begin(repository);
    await record(repository, id, AGENT);
    for (const integration of ['merge', 'apply'] as const)
      await expect(repository.plan(id, { integration, arguments: [], ...words })).rejects.toMatchObject({ code });
  });

  test('refuses without an identity, before anything changed', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, AGENT);
    put(root, 'b.txt', 'x');
    fixture.git(root, 'commit', '-qam', 'x');
    fixture.git(root, 'config', '--global', '--unset', 'user.email');
    const before = snapshot(root, notGit);
    const plan = await repository.plan(id, { integration: 'merge', ...ask });
    await expect(repository.execute(plan, { autostash: false })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(snapshot(root, notGit)).toEqual(before);
  });
});

describe('uncommitted work', () => {
  test('that overlaps is refused, and with autostash put back on top', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, AGENT);
    put(root, 'a.txt', 'one\ntwo\nthree\nmine\n');
    put(root, 'b.txt', 'mine too\n');
    const before = snapshot(root, notGit);
    const plan = await repository.plan(id, { integration: 'merge', ...ask });
    expect(plan.dirtyOverlap).toEqual(['a.txt']);
    await expect(repository.execute(plan, { autostash: false })).rejects.toMatchObject({ code: 'DIRTY_WORKTREE' });
    expect(snapshot(root, notGit)).toEqual(before);
    expect((await repository.execute(plan, { autostash: true })).outcome).toBe('committed');
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('ONE\ntwo\nthree\nmine\n');
    expect(readFileSync(join(root, 'b.txt'), 'utf8')).toBe('mine too\n');
    expect(fixture.git(root, 'stash', 'list')).toBe('');
    expect(fixture.git(root, 'for-each-ref', 'refs/litterbox/autostash')).toBe('');
  });

  test('that conflicts with the result stays in git stash', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, AGENT);
    put(root, 'a.txt', 'mine\ntwo\nthree\n');
    const plan = await repository.plan(id, { integration: 'merge', ...ask });
    const result = await repository.execute(plan, { autostash: true });
    expect(result).toMatchObject({ outcome: 'committed', conflicts: ['a.txt'] });
    expect(fixture.git(root, 'show', 'stash@{0}:a.txt')).toBe('mine\ntwo\nthree\n');
  });

  test('survives a merge that conflicts and is aborted', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, AGENT);
    put(root, 'a.txt', 'eins\ntwo\nthree\n');
    fixture.git(root, 'commit', '-qam', 'meanwhile');
    put(root, 'a.txt', 'eins\ntwo\nthree\nuncommitted\n');
    const plan = await repository.plan(id, { integration: 'merge', ...ask });
    expect((await repository.execute(plan, { autostash: true })).outcome).toBe('conflicts');
    fixture.git(root, 'merge', '--abort');
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('eins\ntwo\nthree\nuncommitted\n');
  });

  test('that git does not know is never run over, autostash or not', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository(BASE);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, { ...BASE, 'new.txt': 'agent', 'dir/x': 'agent', plain: 'agent' });
    put(root, '.git/info/exclude', 'new.txt\n');
    put(root, 'new.txt', 'mine');
    put(root, 'dir', 'a file where a directory will be');
    put(root, 'plain/file', 'a directory where a file will be');
    const before = snapshot(root, notGit);
    const plan = await repository.plan(id, { integration: 'apply', ...ask });
    expect([...plan.dirtyOverlap].sort()).toEqual(['dir', 'new.txt', 'plain/file']);
    for (const autostash of [false, true]) {
      await expect(repository.execute(plan, { autostash })).rejects.toMatchObject({ code: 'DIRTY_WORKTREE' });
    }
    expect(snapshot(root, notGit)).toEqual(before);
  });
});

test('edits that git was told not to look at are refused, kept, and stay marked', async () => {
  await using fixture = new GitFixture();
  const files = { ...BASE, 'conf.txt': 'base\n', 'gone.txt': 'base\n', 'plain.txt': 'base\n', 'other.txt': 'base\n' };
  const root = fixture.repository(files);
  const repository = await fixture.open(root);
  const id = await begin(repository);
  const { 'gone.txt': _, ...left } = files;
  await record(repository, id, { ...left, 'conf.txt': 'agent\n', 'plain.txt': 'agent\n' });
  for (const mark of ['skip-worktree', 'assume-unchanged']) {
    for (const path of ['conf.txt', 'gone.txt']) {
      put(root, path, 'mine\n');
      fixture.git(root, 'update-index', `--${mark}`, path);
    }
    fixture.git(root, 'update-index', `--${mark}`, 'plain.txt');
    const marks = fixture.git(root, 'ls-files', '-v');
    const before = snapshot(root);
    for (const integration of ['apply', 'merge'] as const) {
      const plan = await repository.plan(id, { integration, ...ask });
      expect(plan.dirtyOverlap.toSorted()).toEqual(['conf.txt', 'gone.txt']);
      for (const autostash of [true, false])
        await expect(repository.execute(plan, { autostash })).rejects.toMatchObject({
          code: 'DIRTY_WORKTREE',
          details: { hint: expect.stringContaining(`--no-${mark}`) },
        });
    }
    expect(snapshot(root)).toEqual(before);
    expect(fixture.git(root, 'ls-files', '-v')).toBe(marks);
    // Where the person has no edits of their own the change comes, and the marks stay.
    for (const path of ['conf.txt', 'gone.txt']) put(root, path, 'base\n');
    await repository.execute(await repository.plan(id, { integration: 'apply', ...ask }), { autostash: false });
    expect(readFileSync(join(root, 'plain.txt'), 'utf8')).toBe('agent\n');
    const tag = mark === 'skip-worktree' ? 'S' : 'h';
    expect(fixture.git(root, 'ls-files', '-v', 'conf.txt', 'plain.txt')).toBe(`${tag} conf.txt\n${tag} plain.txt\n`);
    fixture.git(root, 'update-index', `--no-${mark}`, 'conf.txt', 'plain.txt');
    fixture.git(root, 'reset', '-q', '--hard');
  }
  // A stash would put back a file that is assumed to be unchanged, whatever the result touches.
  put(root, 'other.txt', 'mine\n');
  fixture.git(root, 'update-index', '--assume-unchanged', 'other.txt');
  put(root, 'conf.txt', 'edit\n');
  const plan = await repository.plan(id, { integration: 'merge', ...ask });
  await expect(repository.execute(plan, { autostash: true })).rejects.toMatchObject({ code: 'DIRTY_WORKTREE' });
  expect(readFileSync(join(root, 'other.txt'), 'utf8')).toBe('mine\n');
});

/** A merge of an agent's work into HEAD that was planned, and not carried out. */
async function plannedMerge(fixture: GitFixture) {
  const root = fixture.repository(BASE);
  const repository = await fixture.open(root);
  const id = await begin(repository);
  await record(repository, id, AGENT);
  const plan = await repository.plan(id, { integration: 'merge', ...ask });
  return { root, repository, plan };
}

test('HEAD that moved since the plan is refused', async () => {
  await using fixture = new GitFixture();
  const { root, repository, plan } = await plannedMerge(fixture);
  fixture.git(root, 'commit', '-q', '--allow-empty', '-m', 'meanwhile');
  await expect(repository.execute(plan, { autostash: false })).rejects.toMatchObject({ code: 'HEAD_MOVED' });
});

test('HEAD that moves while the files are written is refused, and every file is as it was', async () => {
  await using fixture = new GitFixture();
  const { root, repository, plan } = await plannedMerge(fixture);
  const meanwhile = fixture.git(root, 'commit-tree', '-m', 'meanwhile', '-p', 'HEAD', 'HEAD^{tree}').trim();
  using _ = atFailpoint('integrate.before-head', () => fixture.git(root, 'update-ref', 'HEAD', meanwhile));
  await expect(repository.execute(plan, { autostash: false })).rejects.toMatchObject({ code: 'HEAD_MOVED' });
  expect(fixture.git(root, 'rev-parse', 'HEAD').trim()).toBe(meanwhile);
  expect(fixture.git(root, 'status', '--porcelain')).toBe('');
});

test('a lock of the person is named with its age and left alone', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository(BASE);
  const repository = await fixture.open(root);
  const id = await begin(repository);
  await record(repository, id, AGENT);
  const plan = await repository.plan(id, { integration: 'merge', ...ask });
  const lock = join(root, '.git/index.lock');
  put(root, '.git/index.lock', '');
  await expect(repository.execute(plan, { autostash: false })).rejects.toMatchObject({
    code: 'USER_REPO_LOCKED',
    details: { facts: { path: lock } },
  });
  expect(readFileSync(lock, 'utf8')).toBe('');
});

test('line ends and smudge filters of the person work; hooks do not run', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ 'a.txt': 'one\n', '.gitattributes': '*.up filter=up\n', 'x.up': 'hello\n' });
  for (const hook of ['post-merge', 'post-checkout', 'pre-commit', 'reference-transaction', 'post-index-change']) {
    put(root, `.git/hooks/${hook}`, `#!/bin/sh\ntouch ${fixture.directory}/mark\n`);
    chmodSync(join(root, '.git/hooks', hook), 0o755);
  }
  fixture.git(root, 'config', 'core.autocrlf', 'true');
  fixture.git(root, 'config', 'filter.up.smudge', 'tr a-z A-Z');
  fixture.git(root, 'config', 'filter.up.clean', 'tr A-Z a-z');
  const repository = await fixture.open(root);
  const id = await begin(repository);
  await record(repository, id, {
    'a.txt': 'one\ntwo\n',
    '.gitattributes': '*.up filter=up\n',
    'x.up': 'hello you\n',
  });
  await repository.execute(await repository.plan(id, { integration: 'merge', ...ask }), { autostash: false });
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\r\ntwo\r\n');
  expect(readFileSync(join(root, 'x.up'), 'utf8')).toMatch(/^HELLO YOU\r?\n$/);
  expect(() => readFileSync(join(fixture.directory, 'mark'))).toThrow('ENOENT');
  expect(fixture.git(root, 'status', '--porcelain')).toBe('');
});

test('a filter whose program lies in the tree runs as the person has it, however their shell finds it', async () => {
  await using fixture = new GitFixture();
  const mark = join(fixture.directory, 'mark');
  const files = { 'z.dat': 'z\n', 'tools/s.sh': 'cat\n', '.gitattributes': '*.dat filter=mine\n', 'a.txt': 'a\n' };
  const root = fixture.repository(files);
  // Nobody can read from this which file it is.
  fixture.git(root, 'config', 'filter.mine.smudge', 'p=$(echo dG9vbHMvcy5zaA== | base64 -d); sh ./$p');
  fixture.git(root, 'config', 'filter.mine.clean', 'cat');
  const repository = await fixture.open(root);
  const id = await begin(repository);
  const evil = `touch ${mark}\ncat\n`;
  await record(repository, id, { ...files, 'z.dat': 'zz\n', 'tools/s.sh': evil, 'a.txt': 'b\n' });
  put(root, 'z.dat', 'mine\n');
  put(root, 'a.txt', 'mine\n');
  const dirty = await repository.plan(id, { integration: 'merge', ...ask });
  await expect(repository.execute(dirty, { autostash: true })).rejects.toMatchObject({
    code: 'DIRTY_WORKTREE',
    details: { facts: { paths: ['z.dat'] } },
  });
  fixture.git(root, 'reset', '-q', '--hard');
  for (const integration of ['apply', 'merge'] as const) {
    await repository.execute(await repository.plan(id, { integration, ...ask }), { autostash: false });
    expect(readFileSync(join(root, 'z.dat'), 'utf8')).toBe('zz\n');
    expect(existsSync(mark)).toBe(false);
    if (integration === 'apply') fixture.git(root, '-c', 'filter.mine.smudge=cat', 'reset', '-q', '--hard');
  }
  // Positive control: from here on it is the program that the person has taken.
  rmSync(join(root, 'z.dat'));
  fixture.git(root, 'checkout', 'z.dat');
  expect(existsSync(mark)).toBe(true);
});

test('a worktree base brings back the changes of the agent only', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository(BASE);
  put(root, 'b.txt', 'uncommitted\n');
  put(root, 'untracked.txt', 'mine\n');
  const repository = await fixture.open(root);
  const id = await begin(repository, 'work', { type: 'worktree' });
  await record(repository, id, { ...AGENT, 'b.txt': 'uncommitted\n', 'untracked.txt': 'mine\n' });
  const plan = await repository.plan(id, { integration: 'merge', ...ask });
  expect(plan.changes.map(({ path }) => path).sort()).toEqual(['a.txt', 'src/c.txt', 'src/new.txt']);
  expect((await repository.execute(plan, { autostash: false })).outcome).toBe('committed');
  expect(fixture.git(root, 'status', '--porcelain')).toBe(' M b.txt\n?? untracked.txt\n');
  expect(fixture.git(root, 'rev-list', '--count', 'HEAD')).toBe('2\n');
});

test('milestones land on the review branch and are what a merge brings in', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository(BASE);
  const repository = await fixture.open(root);
  const id = await begin(repository, 'fix login');
  expect(await repository.milestone(id, 'nothing')).toBeUndefined();
  await record(repository, id, { ...BASE, 'a.txt': '1\n' });
  await record(repository, id, { ...BASE, 'a.txt': '2\n' });
  const before = snapshot(root, notGit);
  const first = await repository.milestone(id, 'First\n\nbody');
  expect(first).toMatchObject({ branch: 'refs/heads/litterbox/fix-login', revisions: 2 });
  await record(repository, id, { ...BASE, 'a.txt': '3\n' });
  const second = await repository.milestone(id, 'Second');
  expect(fixture.git(root, 'log', '--format=%an|%s', 'litterbox/fix-login')).toBe(
    'Litterbox|Second\nLitterbox|First\nAda|first\n',
  );
  expect(snapshot(root, notGit)).toEqual(before);
  expect(await repository.history(id)).toMatchObject({ unmilestoned: 0 });
  fixture.git(root, 'fsck', '--strict', '--full');
  await repository.execute(await repository.plan(id, { integration: 'merge', ...ask }), { autostash: false });
  expect(fixture.git(root, 'log', '--format=%an|%s')).toBe('Ada|Second\nAda|First\nAda|first\n');
  expect(fixture.git(root, 'rev-parse', 'HEAD^{tree}')).toBe(
    fixture.git(root, 'rev-parse', `${second?.commit}^{tree}`),
  );
  await repository.remove(id);
  await repository.remove(id);
  expect(fixture.git(root, 'for-each-ref', 'refs/litterbox', 'refs/heads/litterbox')).toBe('');
  await expect(repository.history(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('a review branch of somebody else is left alone', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository(BASE);
  fixture.git(root, 'branch', 'litterbox/work');
  const repository = await fixture.open(root);
  const id = await begin(repository);
  await record(repository, id, AGENT);
  await expect(repository.milestone(id, 'x')).rejects.toMatchObject({ code: 'CONFLICT' });
  await repository.remove(id);
  fixture.git(root, 'rev-parse', 'litterbox/work');
});
