import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { all, begin, GitFixture, put, record } from './git-fixture.ts';

const OLD = 'old '.repeat(1024);
const NEW = 'new '.repeat(2500);
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
    const { tree } = await repository.base({ type: 'head' });
    const largeFiles = await repository.largeFiles(tree);
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
    expect(await repository.largeFiles(tree)).toMatchObject([{ path: 'dir/a.bin', isHere: false }]);
    await expect(all(repository.tree(tree, { largeFiles }))).rejects.toThrow();
    rmSync(objectOf(root, OLD));
    put(root, objectOf(root, OLD).slice(root.length + 1), 'short');
    expect(await repository.largeFiles(tree)).toMatchObject([{ isHere: false }]);
    await expect(all(repository.tree(tree, { largeFiles }))).rejects.toMatchObject({ code: 'OBJECT_MISSING' });
    const left = Buffer.concat(await all(repository.tree(tree, { largeFiles: await repository.largeFiles(tree) })));
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
    expect(fixture.git(root, 'cat-file', 'blob', `${milestone?.commit}:dir/a.bin`)).toBe(pointerTo(NEW));
    expect(readFileSync(objectOf(root, NEW), 'utf8')).toBe(NEW);
    const plan = await repository.plan(id, { integration: 'merge', ...ask });
    expect(await repository.execute(plan, { autostash: false })).toMatchObject({ outcome: 'committed' });
    expect(readFileSync(join(root, 'dir/a.bin'), 'utf8')).toBe(NEW);
    expect(fixture.git(root, 'status', '--porcelain')).toBe('');
  });
});
