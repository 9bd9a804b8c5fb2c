import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { all, begin, GitFixture, put, record } from './git-fixture.ts';

const OLD = 'old '.repeat(1024);
const NEW = 'new '.repeat(2500);
const LAST = 'last '.repeat(2000);
const ask = { arguments: [] as string[] };

const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex');
const pointerTo = (bytes: string) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256(bytes)}\nsize ${bytes.length}\n`;

/** A repository whose `*.bin` are kept by the real git-lfs, with one file of them. */
function repositoryWithLargeFiles(fixture: GitFixture): string {
  const root = fixture.repository({ 'a.txt': 'a\n' });
  fixture.git(root, 'lfs', 'install', '--local');
  fixture.git(root, 'lfs', 'track', '*.bin');
  put(root, 'dir/a.bin', OLD);
  fixture.git(root, 'add', '-A');
  fixture.git(root, 'commit', '-qm', 'large');
  return root;
}

const objectOf = (root: string, bytes: string) => {
  const name = sha256(bytes);
  return join(root, '.git/lfs/objects', name.slice(0, 2), name.slice(2, 4), name);
};

describe('files of Git LFS', () => {
  test('are in a workspace with their contents, as far as those are here', async () => {
    await using fixture = new GitFixture();
    const root = repositoryWithLargeFiles(fixture);
    const repository = await fixture.open(root);
    const base = await repository.base({ type: 'head' });
    const { tree } = base;
    const largeFiles = await repository.largeFiles(base);
    expect(largeFiles).toEqual([{ path: 'dir/a.bin', sha256: sha256(OLD), sizeBytes: OLD.length, isHere: true }]);
    const archive = Buffer.concat(await all(repository.tree(tree, { largeFiles })));
    expect(archive.includes(OLD)).toBe(true);
    expect(archive.includes('git-lfs.github.com')).toBe(false);
    // Asked for what differs, a file that is not among that comes when it is named.
    const unlike = { unlike: tree, paths: new Set(['dir/a.bin']), largeFiles };
    expect(Buffer.concat(await all(repository.tree(tree, unlike))).includes(OLD)).toBe(true);
    expect(Buffer.concat(await all(repository.tree(tree, { unlike: tree, largeFiles }))).includes(OLD)).toBe(false);

    // A link in the place of a content leads nowhere, as does what is cut short.
    rmSync(objectOf(root, OLD));
    symlinkSync('/etc/passwd', objectOf(root, OLD));
    expect(await repository.largeFiles(base)).toMatchObject([{ path: 'dir/a.bin', isHere: false }]);
    await expect(all(repository.tree(tree, { largeFiles }))).rejects.toThrow();
    rmSync(objectOf(root, OLD));
    put(root, objectOf(root, OLD).slice(root.length + 1), 'short');
    expect(await repository.largeFiles(base)).toMatchObject([{ isHere: false }]);
    await expect(all(repository.tree(tree, { largeFiles }))).rejects.toMatchObject({ code: 'OBJECT_MISSING' });
    const left = Buffer.concat(await all(repository.tree(tree, { largeFiles: await repository.largeFiles(base) })));
    expect(left.includes(pointerTo(OLD))).toBe(true);
  });

  test('become pointers in the history of the person, with the contents where git-lfs finds them', async () => {
    for (const integration of ['merge', 'apply'] as const) {
      await using fixture = new GitFixture();
      const root = repositoryWithLargeFiles(fixture);
      const repository = await fixture.open(root);
      const id = await begin(repository);
      const attributes = readFileSync(join(root, '.gitattributes'), 'utf8');
      const unchanged = {
        'a.txt': 'a\n',
        '.gitattributes': `${attributes}*.psd filter=lfs diff=lfs merge=lfs -text\n`,
      };
      await record(repository, id, { ...unchanged, 'dir/a.bin': OLD, 'b.bin': NEW, 'empty.bin': '', 'c.psd': NEW });
      const plan = await repository.plan(id, { integration, ...ask });
      // What was written with the same content is no change.
      expect(plan.changes.map(({ path }) => path)).toEqual(['.gitattributes', 'b.bin', 'c.psd', 'empty.bin']);
      expect(existsSync(objectOf(root, NEW))).toBe(false);
      await repository.execute(plan, { autostash: false });
      if (integration === 'apply') fixture.git(root, 'commit', '-qm', 'taken');
      expect(fixture.git(root, 'status', '--porcelain')).toBe('');
      for (const path of ['b.bin', 'c.psd']) {
        expect(fixture.git(root, 'cat-file', 'blob', `HEAD:${path}`)).toBe(pointerTo(NEW));
        expect(readFileSync(join(root, path), 'utf8')).toBe(NEW);
      }
      expect(fixture.git(root, 'cat-file', 'blob', 'HEAD:empty.bin')).toBe('');
      fixture.git(root, 'lfs', 'fsck');
      expect(await repository.isMerged(id)).toBe(true);
      // The work goes on, and only what is new comes.
      await record(repository, id, { ...unchanged, 'dir/a.bin': NEW, 'b.bin': NEW, 'empty.bin': '', 'c.psd': NEW });
      const next = await repository.plan(id, { integration: 'merge', ...ask });
      expect(next.changes.map(({ path }) => path)).toEqual(['dir/a.bin']);
      await repository.execute(next, { autostash: false });
      expect(fixture.git(root, 'status', '--porcelain')).toBe('');
      fixture.git(root, 'lfs', 'fsck');
    }
  });

  test('are pointers on the review branch', async () => {
    await using fixture = new GitFixture();
    const root = repositoryWithLargeFiles(fixture);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    const attributes = readFileSync(join(root, '.gitattributes'), 'utf8');
    await record(repository, id, { 'a.txt': 'a\n', '.gitattributes': attributes, 'dir/a.bin': NEW });
    const milestone = await repository.milestone(id, 'done');
    expect(milestone?.largeFiles).toBe(1);
    expect(fixture.git(root, 'cat-file', 'blob', `${milestone?.commit}:dir/a.bin`)).toBe(pointerTo(NEW));
    expect(existsSync(objectOf(root, NEW))).toBe(false);
    await record(repository, id, { 'a.txt': 'a\n', '.gitattributes': attributes, 'dir/a.bin': LAST });
    await repository.milestone(id, 'done again');
    const plan = await repository.plan(id, { integration: 'merge', ...ask });
    expect(await repository.execute(plan, { autostash: false })).toMatchObject({ outcome: 'committed' });
    expect(readFileSync(join(root, 'dir/a.bin'), 'utf8')).toBe(LAST);
    expect(fixture.git(root, 'status', '--porcelain')).toBe('');
    // What only the first of them had is part of the history too.
    expect(readFileSync(objectOf(root, NEW), 'utf8')).toBe(NEW);
    fixture.git(root, 'lfs', 'fsck');
  });

  test('of milestones are in the repository of the person once they asked for the tree, or hold the branch', async () => {
    for (const way of ['worktree', 'branch', 'neither'] as const) {
      await using fixture = new GitFixture();
      const root = repositoryWithLargeFiles(fixture);
      const repository = await fixture.open(root);
      const id = await begin(repository);
      const attributes = readFileSync(join(root, '.gitattributes'), 'utf8');
      await record(repository, id, { 'a.txt': 'a\n', '.gitattributes': attributes, 'dir/a.bin': OLD, 'b.bin': NEW });
      const milestone = await repository.milestone(id, 'done');
      const branch = milestone?.branch.replace('refs/heads/', '') ?? '';
      if (way === 'worktree') {
        const { directory } = await repository.exportTree(id);
        expect(readFileSync(join(directory, 'b.bin'), 'utf8')).toBe(NEW);
        // What the sandbox did not change is not copied once more.
        expect(readFileSync(join(directory, 'dir/a.bin'), 'utf8')).toBe(pointerTo(OLD));
        fixture.git(root, 'switch', '-q', branch);
        expect(readFileSync(join(root, 'b.bin'), 'utf8')).toBe(NEW);
        fixture.git(root, 'switch', '-q', 'main');
      }
      if (way === 'branch') fixture.git(root, 'branch', 'mine', branch);
      await repository.remove(id);
      expect(existsSync(objectOf(root, NEW))).toBe(way !== 'neither');
      if (way === 'branch') fixture.git(root, 'lfs', 'fsck', 'mine');
    }
  });

  test('are named in a plan by what they hold', async () => {
    await using fixture = new GitFixture();
    const root = repositoryWithLargeFiles(fixture);
    put(root, 'x.bin', OLD);
    put(root, 'y.bin', OLD);
    fixture.git(root, 'add', '-A');
    fixture.git(root, 'commit', '-qm', 'more');
    const repository = await fixture.open(root);
    const id = await begin(repository);
    const unchanged = { 'a.txt': 'a\n', '.gitattributes': readFileSync(join(root, '.gitattributes'), 'utf8') };
    const huge = 'x\n'.repeat(600 * 1024);
    const files = {
      'dir/a.bin': 'a\0b'.repeat(2000), // binary
      'huge.bin': huge,
      'raw.bin': `${huge}\0`,
      'text.bin': NEW,
      'unseen.bin': `${NEW}\u202e`,
      'x.bin': pointerTo(LAST), // written by hand, to nothing that is here
      'y.bin': `version http://git-media.io/v/2\noid sha256:${sha256(NEW)}\nsize 5\n`,
    };
    await record(repository, id, { ...unchanged, ...files });
    const stands = (count: number) => `stands for ${count} bytes of Git LFS that a diff does not show`;
    const expected = [
      { path: 'dir/a.bin', reasons: ['is binary: a diff does not show what it holds'] },
      { path: 'huge.bin', reasons: ['is larger than 1 MiB'] },
      { path: 'raw.bin', reasons: ['is larger than 1 MiB'] },
      {
        path: 'unseen.bin',
        reasons: [
          'holds what nobody sees: invisible or reordering characters, terminal codes, text behind hundreds of blanks, or lines that go back over themselves',
        ],
      },
      { path: 'x.bin', reasons: [stands(LAST.length)] },
      { path: 'y.bin', reasons: [stands(5)] },
    ];
    const plan = await repository.plan(id, { integration: 'merge', ...ask });
    expect(plan.risky).toEqual(expected);
    expect(
      plan.changes.map(({ path, binary, addedLines, largeFileBytes }) => [path, binary, addedLines, largeFileBytes]),
    ).toEqual(
      Object.entries(files).map(([path, text]) => [
        path,
        path === 'dir/a.bin',
        undefined,
        { 'x.bin': LAST.length, 'y.bin': 5 }[path] ?? Buffer.byteLength(text),
      ]),
    );
    await repository.milestone(id, 'done');
    expect((await repository.planExport(id)).risky).toEqual(expected);
  });

  test('are filled for a base of an agent where the person committed the pointer, or a milestone made it', async () => {
    await using fixture = new GitFixture();
    const root = repositoryWithLargeFiles(fixture);
    // On no branch: a stash of the person's.
    put(root, 'stashed.bin', LAST);
    fixture.git(root, 'add', '-A');
    fixture.git(root, 'stash', '-q');
    expect(existsSync(objectOf(root, LAST))).toBe(true);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    const unchanged = { 'a.txt': 'a\n', '.gitattributes': readFileSync(join(root, '.gitattributes'), 'utf8') };
    const name = `:100644 100644 ${sha256('')} ${sha256('')} M`;
    await record(repository, id, {
      ...unchanged,
      'dir/a.bin': OLD,
      'made.bin': NEW,
      'got.bin': pointerTo(LAST),
      'none.bin': pointerTo('nothing that is here'),
      'copy.bin': pointerTo(OLD),
      [name]: 'a name that looks like a line of git\n',
    });
    const milestone = await repository.milestone(id, 'done');
    const { commit, tree } = await repository.base({ type: 'ref', name: milestone?.branch ?? '' });
    const found = await repository.largeFiles({ commit, tree });
    expect(found.map(({ path, isHere }) => [path, isHere])).toEqual([
      ['copy.bin', true],
      ['dir/a.bin', true],
      ['got.bin', false],
      ['made.bin', true],
      ['none.bin', false],
    ]);
    const archive = Buffer.concat(await all(repository.tree(tree, { largeFiles: found })));
    expect([OLD, NEW, LAST].map((text) => archive.includes(text))).toEqual([true, true, false]);
    // What an agent recorded is filled by the same rule when the sandbox is made anew.
    const head = await repository.base({ type: 'head' });
    const { tip } = await repository.history(id);
    const again = await repository.largeFiles({ commit: head.commit, tree: tip.tree });
    expect(again.map(({ path, isHere }) => [path, isHere])).toEqual([
      ['copy.bin', true],
      ['got.bin', false],
      ['none.bin', false],
    ]);
    // Once a branch of the person has it, it is theirs.
    fixture.git(root, 'branch', 'mine', commit);
    expect(await repository.largeFiles({ commit, tree })).toContainEqual(
      expect.objectContaining({ path: 'got.bin', isHere: true }),
    );
  });

  test('are not said to be missing where git could not look for who made them', async () => {
    await using fixture = new GitFixture();
    const root = repositoryWithLargeFiles(fixture);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    const attributes = readFileSync(join(root, '.gitattributes'), 'utf8');
    await record(repository, id, { 'a.txt': 'a\n', '.gitattributes': attributes, 'made.bin': NEW });
    const milestone = await repository.milestone(id, 'done');
    const base = await repository.base({ type: 'ref', name: milestone?.branch ?? '' });
    expect(await repository.largeFiles(base)).toMatchObject([{ path: 'made.bin', isHere: true }]);
    // As a disk leaves one that was full: git walks no history of a repository that has such a branch.
    put(root, '.git/refs/heads/broken', `${'1'.repeat(40)}\n`);
    await expect(repository.largeFiles(base)).rejects.toMatchObject({
      code: 'REPO_CORRUPT',
      message: expect.stringContaining('bad object'),
      details: { hint: 'Look at the repository with git status and git fsck.' },
    });
  });

  test('FC-220: need no git-lfs to be in a workspace, and none for a merge that does not touch them', async () => {
    await using fixture = new GitFixture();
    const root = repositoryWithLargeFiles(fixture);
    // git cleans a file again that is no older than its index.
    const long = new Date(Date.now() - 60_000);
    utimesSync(join(root, 'dir/a.bin'), long, long);
    fixture.git(root, 'update-index', '--refresh');
    for (const [name, value] of [
      ['process', 'no-such-program'],
      ['smudge', 'no-such-program'],
      ['clean', 'no-such-program'],
      ['required', 'true'],
    ] as const)
      fixture.git(root, 'config', `filter.lfs.${name}`, value);
    const repository = await fixture.open(root);
    const base = await repository.base({ type: 'head' });
    const largeFiles = await repository.largeFiles(base);
    expect(Buffer.concat(await all(repository.tree(base.tree, { largeFiles }))).includes(OLD)).toBe(true);
    const id = await begin(repository);
    const attributes = readFileSync(join(root, '.gitattributes'), 'utf8');
    const files = { 'a.txt': 'b\n', '.gitattributes': attributes, 'dir/a.bin': OLD };
    await record(repository, id, files);
    const plan = await repository.plan(id, { integration: 'merge', ...ask });
    await repository.execute(plan, { autostash: false });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('b\n');
    // One that does touch them is refused whole, and names what is missing.
    await record(repository, id, { ...files, 'a.txt': 'c\n', 'b.bin': NEW });
    const next = await repository.plan(id, { integration: 'merge', ...ask });
    const refused = await repository.execute(next, { autostash: false }).catch((error: unknown) => error);
    expect(String(refused)).toContain('no-such-program');
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('b\n');
    expect(existsSync(join(root, 'b.bin'))).toBe(false);
  });

  test('FC-222: are found and kept once for all work trees of a repository', async () => {
    await using fixture = new GitFixture();
    const root = repositoryWithLargeFiles(fixture);
    const linked = join(fixture.directory, 'linked');
    fixture.git(root, 'worktree', 'add', '-q', '-b', 'side', linked);
    const repository = await fixture.open(linked);
    const base = await repository.base({ type: 'head' });
    expect(await repository.largeFiles(base)).toMatchObject([{ path: 'dir/a.bin', isHere: true }]);
    const id = await begin(repository);
    const attributes = readFileSync(join(root, '.gitattributes'), 'utf8');
    await record(repository, id, { 'a.txt': 'a\n', '.gitattributes': attributes, 'dir/a.bin': OLD, 'b.bin': NEW });
    const plan = await repository.plan(id, { integration: 'merge', ...ask });
    await repository.execute(plan, { autostash: false });
    expect(readFileSync(join(linked, 'b.bin'), 'utf8')).toBe(NEW);
    expect(readFileSync(objectOf(root, NEW), 'utf8')).toBe(NEW);
    expect(existsSync(join(root, '.git/worktrees/linked/lfs'))).toBe(false);
  });
});
