import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type BaseSource, decodeRaw, encodeRaw, type SourceRepository } from '@litterbox/core/provider';
import { git as agentsGit } from '../src/agent.ts';
import { git } from '../src/index.ts';
import { bornOf } from '../src/repository-registry.ts';
import { readTar } from '../src/objects/tar-reader.ts';
import { all, begin, put, record, snapshot, GitFixture } from './git-fixture.ts';

async function files(repository: SourceRepository, tree: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const entry of readTar(repository.tree(tree as never))) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of entry.body) chunks.push(chunk);
    const name = decodeRaw(Buffer.from(entry.name, 'latin1'));
    if (entry.type === 'directory') found[`${name}/`] = 'directory';
    else if (entry.type === 'symlink') found[name] = `link ${entry.linkTarget}`;
    else found[name] = `${entry.isExecutable ? 'x' : '-'} ${Buffer.concat(chunks).toString()}`;
  }
  return found;
}

describe("the repository that is nobody's", () => {
  test('is made once by many at once, over what a killed program left, in a state directory behind a link', async () => {
    await using fixture = new GitFixture();
    const real = join(fixture.directory, 'real-state');
    const stateDirectory = join(fixture.directory, 'linked-state');
    mkdirSync(join(real, 'own-repository.new/.git'), { recursive: true });
    writeFileSync(join(real, 'own-repository.new/half'), 'x');
    symlinkSync(real, stateDirectory);
    const controls = Array.from({ length: 4 }, () => git({ stateDirectory, environment: fixture.environment }));
    const opened = await Promise.all(controls.map(async (control) => await control.openOwn?.()));
    expect(new Set(opened.map((one) => one?.id)).size).toBe(1);
    expect(opened.map((one) => one?.isPersons)).toEqual([false, false, false, false]);
    expect(readdirSync(join(real, 'own-repository'))).toEqual(['.git']);
    expect(existsSync(join(real, 'own-repository.new'))).toBe(false);
    expect(lstatSync(join(real, 'own-repository')).mode & 0o777).toBe(0o700);
    const byPath = await controls[0]?.open(join(real, 'own-repository'));
    expect({ id: byPath?.id, isPersons: byPath?.isPersons }).toEqual({ id: opened[0]?.id, isPersons: false });
    for (const control of controls) await control[Symbol.asyncDispose]();
  });

  test('takes no path that is a git directory to some file system', async () => {
    await using fixture = new GitFixture();
    await using control = git({ stateDirectory: fixture.state, environment: fixture.environment });
    const own = await control.openOwn?.();
    for (const path of ['GIT~1/config', '.git\u200c/x', 'a/.Git /x'])
      await expect(own?.base({ type: 'files', files: new Map([[path, new Uint8Array()]]) })).rejects.toMatchObject({
        code: 'PATH_GIT_DIR',
      });
  });
});

describe('open', () => {
  test.each([
    ['a directory outside', 'NOT_A_REPO', () => '/'],
    ['nothing', 'NOT_FOUND', (fixture: GitFixture) => join(fixture.directory, 'nope')],
    ['the inside of .git', 'INSIDE_GIT_DIR', (fixture: GitFixture) => join(fixture.repository({ a: '1' }), '.git')],
    [
      'a bare repository',
      'BARE_REPO',
      (fixture: GitFixture) => {
        fixture.git(fixture.directory, 'init', '-q', '--bare', 'bare');
        return join(fixture.directory, 'bare');
      },
    ],
    [
      'a repository of somebody else',
      'REPO_OWNER',
      (fixture: GitFixture) => {
        const root = fixture.repository({ a: '1' });
        for (const path of [root, join(root, '.git')]) chownSync(path, 65534, 65534);
        return root;
      },
    ],
    [
      'a damaged repository',
      'REPO_CORRUPT',
      (fixture: GitFixture) => {
        const root = fixture.repository({ a: '1' });
        writeFileSync(join(root, '.git/config'), '[core\nnonsense');
        return root;
      },
    ],
  ])('of %s is %s', async (_, code, make) => {
    await using fixture = new GitFixture();
    await expect(fixture.open(make(fixture))).rejects.toMatchObject({ code });
  });

  test('by root, of somebody who lets root read it, writes nothing there', async () => {
    if (process.getuid?.() !== 0) return; // only root can make one
    await using fixture = new GitFixture();
    const root = fixture.repository({ a: '1' });
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, { a: '2' });
    for (const path of [root, join(root, '.git')]) chownSync(path, 65534, 65534);
    fixture.git(root, 'config', '--global', '--add', 'safe.directory', root);
    const before = snapshot(root);
    const opened = await fixture.open(root);
    expect((await opened.changes(id)).map(({ path }) => path)).toEqual(['a']);
    const refused = { code: 'REPO_OWNER', message: expect.stringContaining('belongs to user 65534, and you are root') };
    await expect(begin(opened)).rejects.toMatchObject(refused);
    await expect(opened.milestone(id, 'done')).rejects.toMatchObject(refused);
    await expect(opened.planExport(id)).rejects.toMatchObject(refused);
    for (const integration of ['apply', 'merge'] as const)
      await expect(opened.plan(id, { integration, arguments: [] })).rejects.toMatchObject(refused);
    expect(snapshot(root)).toEqual(before);
  });

  test('without git is TOOL_MISSING, with an old one GIT_TOO_OLD', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ a: '1' });
    await using none = git({ stateDirectory: fixture.state, gitBinary: '/nonexistent/git' });
    await expect(none.open(root)).rejects.toMatchObject({ code: 'TOOL_MISSING' });
    const old = join(fixture.directory, 'old-git');
    writeFileSync(old, '#!/bin/sh\necho git version 2.30.2\n');
    chmodSync(old, 0o755);
    await using outdated = git({ stateDirectory: fixture.state, gitBinary: old });
    await expect(outdated.open(root)).rejects.toMatchObject({ code: 'GIT_TOO_OLD' });
  });

  test('finds the same repository from below, through a link, from a linked work tree and after a move', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ 'a/b': '1' });
    const first = await fixture.open(root);
    expect((await fixture.open(join(root, 'a'))).id).toBe(first.id);
    symlinkSync(root, join(fixture.directory, 'alias'));
    expect(await fixture.open(join(fixture.directory, 'alias'))).toMatchObject({ id: first.id, root });
    fixture.git(root, 'worktree', 'add', '-q', join(fixture.directory, 'tree'));
    expect(await fixture.open(join(fixture.directory, 'tree'))).toMatchObject({
      id: first.id,
      root: join(fixture.directory, 'tree'),
    });
    const id = await begin(first);
    const moved = join(fixture.directory, 'moved');
    renameSync(root, moved);
    const again = await fixture.open(moved);
    expect(again).toMatchObject({ id: first.id, root: moved });
    expect((await again.history(id)).slug).toBe('work');
    expect((await record(again, id, { 'a/b': '2' })).changedFiles).toBe(1);
    expect(await all(fixture.control().list())).toEqual([{ id: first.id, root: moved }]);
  });

  test('by several at once agrees on one store; a copy gets its own', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ a: '1' });
    const opened = await Promise.all(Array.from({ length: 6 }, () => fixture.open(root)));
    expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
    fixture.gitBytes(fixture.directory, ['clone', '-q', root, 'copy']);
    expect((await fixture.open(join(fixture.directory, 'copy'))).id).not.toBe(opened[0]?.id);
  });

  test('at the place of another one is another, unless it has the commits of the sandboxes', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ a: '1' });
    const clone = () => {
      fixture.git(fixture.directory, 'clone', '-q', root, 'clone');
      rmSync(root, { recursive: true });
      renameSync(join(fixture.directory, 'clone'), root);
    };
    const first = await fixture.open(root);
    clone();
    const second = await fixture.open(root);
    expect(second.id).not.toBe(first.id);
    await begin(second);
    clone();
    expect((await fixture.open(root)).id).toBe(second.id);
  });

  test('is told from the next one of the same number by when it was made, however that is known', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ a: '1' });
    const directory = join(root, '.git');
    expect(bornOf(directory, 5n)).toBe('5');
    const first = bornOf(directory, 0n);
    fixture.git(root, 'commit', '-q', '--allow-empty', '-m', 'later');
    expect(bornOf(directory, 0n)).toBe(first);
    fixture.git(fixture.directory, 'init', '-q', 'other');
    expect(bornOf(join(fixture.directory, 'other/.git'), 0n)).not.toBe(first);
  });
});

describe('base', () => {
  const refused = [
    ['', 'REV_INVALID'],
    ['-x', 'REV_INVALID'],
    ['a..b', 'REV_INVALID'],
    ['HEAD:a', 'REV_INVALID'],
    [':/fix', 'REV_INVALID'],
    ['@{-1}', 'REV_INVALID'],
    ['main@{1}', 'REV_INVALID'],
    ['^main', 'REV_INVALID'],
    ['main^!', 'REV_INVALID'],
    ['main^{/x}', 'REV_INVALID'],
    ['nope', 'REV_NOT_FOUND'],
    ['HEAD~7', 'REV_NOT_FOUND'],
    ['0123456789012345678901234567890123456789', 'REV_NOT_FOUND'],
  ] as const;

  test('takes one commit, and refuses what is none with the right code', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ a: '1' });
    fixture.git(root, 'commit', '-q', '--allow-empty', '-m', 'second');
    fixture.git(root, 'tag', '-a', '-m', 'x', 'v1', 'HEAD~1');
    const repository = await fixture.open(root);
    const first = fixture.git(root, 'rev-parse', 'HEAD~1').trim();
    for (const name of ['v1', 'HEAD~1', 'main^', first, first.slice(0, 8), 'refs/tags/v1', 'v1^{commit}']) {
      expect(await repository.base({ type: 'ref', name })).toMatchObject({ commit: first, headRef: 'refs/heads/main' });
    }
    for (const [name, code] of refused) {
      await expect(repository.base({ type: 'ref', name })).rejects.toMatchObject({ code });
    }
    const tree = fixture.git(root, 'rev-parse', 'HEAD^{tree}').trim();
    await expect(repository.base({ type: 'ref', name: tree })).rejects.toMatchObject({ code: 'REV_NOT_COMMIT' });
    fixture.git(root, 'checkout', '-q', '--detach');
    expect(await repository.base({ type: 'head' })).not.toHaveProperty('headRef');
  });

  test('is for an agent what a branch, a tag or a remote branch holds, and nothing else whatever it is called', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ a: '1' });
    const run = (...args: readonly string[]) => fixture.git(root, ...args).trim();
    const first = run('rev-parse', 'HEAD');
    run('commit', '-q', '--allow-empty', '-m', 'taken back');
    const taken = run('rev-parse', 'HEAD');
    run('reset', '-q', '--hard', first);
    writeFileSync(join(root, 'a'), 'put aside');
    run('stash', '-q');
    run('branch', 'stash', first);
    run('tag', '-a', '-m', 'x', 'v1', first);
    run('tag', 'a-tree', 'HEAD^{tree}');
    run('update-ref', 'refs/remotes/origin/main', first);
    run('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
    await using person = await fixture.open(root);
    await using agent = await fixture.open(root, 'agent');
    // What git finds in another place first is passed over: `stash` is the branch.
    for (const name of ['main', 'heads/main', 'refs/heads/main', 'stash', 'v1', 'v1^{commit}', 'v1^{tag}', 'origin'])
      expect({ name, base: await agent.base({ type: 'ref', name }) }).toEqual({
        name,
        base: expect.objectContaining({ commit: first, isPersons: true }),
      });
    for (const name of ['HEAD', '@', 'HEAD~0', 'origin/main', first, first.slice(0, 4), `${first.slice(0, 9)}~0`])
      expect((await agent.base({ type: 'ref', name })).commit).toBe(first);
    for (const name of ['refs/stash', 'stash^2', 'ORIG_HEAD', taken, taken.slice(0, 6), `${taken}~1`, 'HEAD~1', 'nope'])
      await expect(agent.base({ type: 'ref', name })).rejects.toMatchObject({
        code: 'REV_NOT_FOUND',
        message: `${JSON.stringify(name)} is in no branch and no tag here.`,
      });
    await expect(agent.base({ type: 'ref', name: 'a-tree' })).rejects.toMatchObject({ code: 'REV_NOT_COMMIT' });
    await expect(agent.base({ type: 'ref', name: 'ORIG_HEAD@{0}' })).rejects.toMatchObject({ code: 'REV_INVALID' });
    expect(await person.base({ type: 'ref', name: taken })).toMatchObject({ commit: taken, isPersons: false });
    // A HEAD that nothing else holds is the person's to begin with; what it came from an agent cannot name.
    run('checkout', '-q', '--detach', taken);
    expect(await agent.base({ type: 'head' })).toMatchObject({ commit: taken, isPersons: true });
    await expect(agent.base({ type: 'ref', name: 'HEAD' })).rejects.toMatchObject({ code: 'REV_NOT_FOUND' });
  });

  test("is the person's unless only review branches hold it, wherever HEAD is", async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ a: '1' });
    const run = (...args: readonly string[]) => fixture.git(root, ...args).trim();
    await using repository = await fixture.open(root);
    const made = () => run('commit-tree', '-p', 'HEAD', '-m', 'of an agent', 'HEAD^{tree}');
    run('update-ref', 'refs/heads/litterbox/x', made());
    run('update-ref', 'refs/remotes/origin/litterbox/x', 'refs/heads/litterbox/x');
    const isPersons = async (source: BaseSource) => (await repository.base(source)).isPersons;
    const branch = { type: 'ref', name: 'litterbox/x' } as const;
    const [head, worktree] = [{ type: 'head' } as const, { type: 'worktree' } as const];
    expect(await isPersons(branch)).toBe(false);
    expect(await isPersons({ type: 'ref', name: 'litterbox/x~1' })).toBe(true);
    for (const how of [['litterbox/x'], ['--detach', 'litterbox/x']]) {
      run('checkout', '-q', ...how);
      expect({ how, firstIsPersons: await isPersons(head), secondIsPersons: await isPersons(worktree) }).toEqual({
        how,
        firstIsPersons: false,
        secondIsPersons: false,
      });
    }
    // AX64: on top of an agent's commit, amended, and without its branch, it is the agent's tree as before.
    run('commit', '-q', '--allow-empty', '-m', 'on top');
    expect(await isPersons(head)).toBe(false);
    run('update-ref', '-d', 'refs/heads/litterbox/x');
    run('update-ref', '-d', 'refs/remotes/origin/litterbox/x');
    run('checkout', '-q', '--detach', 'main');
    expect(await isPersons(head)).toBe(true);
    run('commit', '-q', '--allow-empty', '-m', 'by the person, in the middle of a rebase');
    expect(await isPersons(head)).toBe(true);
    run('commit', '-q', '--allow-empty', '-m', 'of an agent', '--author', 'Litterbox <litterbox@localhost>');
    run('commit', '-q', '--amend', '--allow-empty', '-m', 'amended');
    expect(await isPersons(head)).toBe(false);
    run('update-ref', 'refs/heads/litterbox/x', made());
    run('checkout', '-q', '--detach', 'litterbox/x');
    run('branch', 'taken-over', 'litterbox/x');
    expect({ firstIsPersons: await isPersons(branch), secondIsPersons: await isPersons(head) }).toEqual({
      firstIsPersons: true,
      secondIsPersons: true,
    });
  });

  test('of a repository without a commit is UNBORN_HEAD', async () => {
    await using fixture = new GitFixture();
    fixture.git(fixture.directory, 'init', '-q', 'empty');
    const repository = await fixture.open(join(fixture.directory, 'empty'));
    await expect(repository.base({ type: 'head' })).rejects.toMatchObject({ code: 'UNBORN_HEAD' });
  });

  test('of the work tree holds uncommitted and new files and changes nothing', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ a: '1', gone: '1', '.gitignore': 'ignored\n', 'dir/x': '1' });
    put(root, 'a', '2');
    put(root, 'new', 'n');
    put(root, 'ignored', 'i');
    put(root, 'staged', 'staged once');
    fixture.git(root, 'add', 'staged');
    put(root, 'staged', 'edited since');
    fixture.git(root, 'init', '-q', 'nested');
    put(root, 'nested/file', 'of another repository');
    fixture.git(root, 'rm', '-q', 'gone');
    const before = snapshot(root);
    const repository = await fixture.open(root);
    const base = await repository.base({ type: 'worktree' });
    expect(await files(repository, base.tree)).toEqual({
      '.gitignore': '- ignored\n',
      a: '- 2',
      'dir/': 'directory',
      'dir/x': '- 1',
      new: '- n',
      staged: '- edited since',
    });
    expect(await repository.leftOut(2)).toEqual({ total: 5, paths: ['a', 'gone'] });
    expect(snapshot(root)).toEqual(before);
    // Clean, it is HEAD itself.
    const clean = await fixture.open(fixture.repository({ a: '1' }, 'clean'));
    expect((await clean.base({ type: 'worktree' })).commit).toBe((await clean.base({ type: 'head' })).commit);
  });

  test('of the work tree holds a link where a directory was, and a directory where a file was', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ 'dir/x': '1', 'dir/deep/y': '1', file: '1', other: '1' });
    rmSync(join(root, 'dir'), { recursive: true });
    symlinkSync('other', join(root, 'dir'));
    rmSync(join(root, 'file'));
    put(root, 'file/in', '2');
    const repository = await fixture.open(root);
    const base = await repository.base({ type: 'worktree' });
    expect(await files(repository, base.tree)).toEqual({
      dir: 'link other',
      'file/': 'directory',
      'file/in': '- 2',
      other: '- 1',
    });
  });

  test('of the work tree does without what looks like a secret, staged or not, and says so', async () => {
    await using fixture = new GitFixture();
    const key = '-----BEGIN PRIVATE KEY-----\nabc\n';
    const root = fixture.repository({ a: '1', 'own.env': 'A=1', 'fixture.txt': key, 'config.ts': 'none' });
    const odd = decodeRaw(Buffer.from([0x6e, 0x0a, 0xff, 0x2e, 0x6b, 0x65, 0x79])); // n, newline, no UTF-8, .key
    put(root, '.ENV', 'A=secret');
    put(root, '.env.example', 'A=');
    put(root, 'notes', key);
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), encodeRaw(odd)]), 'k');
    put(root, 'own.env', 'A=secret');
    put(root, 'config.ts', key);
    put(root, 'fixture.txt', `changed\n${key}`);
    put(root, 'staged.pem', 'x');
    fixture.git(root, 'add', 'staged.pem', 'own.env');
    symlinkSync('/etc/passwd', join(root, 'link.key'));
    const before = snapshot(root);
    const repository = await fixture.open(root);
    const base = await repository.base({ type: 'worktree' });
    expect(await files(repository, base.tree)).toEqual({
      '.env.example': '- A=',
      a: '- 1',
      'config.ts': '- none',
      'fixture.txt': `- changed\n${key}`,
      'link.key': 'link /etc/passwd',
      'own.env': '- A=1',
    });
    const held = (path: string, holds: string, isTracked = false) => ({ path, holds, isTracked });
    expect(base.heldBack).toEqual({
      files: [
        held('.ENV', 'variables that often are secrets'),
        held('config.ts', 'private key', true),
        held(odd, 'private key'),
        held('notes', 'private key'),
        held('own.env', 'variables that often are secrets', true),
        held('staged.pem', 'private key'),
      ],
      total: 6,
    });
    expect(snapshot(root)).toEqual(before);
    // No copy of it is in the store either.
    const inStore = (text: string) => {
      const id = fixture.gitBytes(root, ['hash-object', '--stdin'], text).toString().trim();
      const loose = join(fixture.storeOf(repository), 'objects', id.slice(0, 2), id.slice(2));
      return existsSync(loose);
    };
    expect(['A=', 'k', key].map(inStore)).toEqual([true, false, false]);
  });

  test('of the work tree does without settings with a secret, and has what takes one from elsewhere', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ 'app.ini': 'password = ${DB_PASSWORD}\n' });
    const source = 'import os\npassword = os.getenv("DB_PASSWORD")\n';
    put(root, 'deploy/env', 'DB_PASSWORD=correcthorse\n');
    put(root, 'config.py', source);
    put(root, 'app.ini', 'password = h7Gx2pq9\n');
    const repository = await fixture.open(root);
    const base = await repository.base({ type: 'worktree' });
    expect(await files(repository, base.tree)).toEqual({
      'app.ini': '- password = ${DB_PASSWORD}\n',
      'config.py': `- ${source}`,
    });
    expect(base.heldBack?.files).toEqual([
      { path: 'app.ini', holds: 'secret in a setting', isTracked: true },
      { path: 'deploy/env', holds: 'secret in a setting', isTracked: false },
    ]);
  });

  test('of the work tree has tracked files that a person named, and leaves new ones there to who brings them', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ 'own.env': 'A=1', 'data/x': '1' });
    put(root, 'own.env', 'A=2');
    put(root, '.env', 'B=2');
    put(root, 'data/y', '2');
    put(root, 'staged/z', '3');
    fixture.git(root, 'add', 'staged');
    const repository = await fixture.open(root);
    const named = ['own.env', '.env', 'data', 'staged'];
    const base = await repository.base({ type: 'worktree', named });
    expect(await files(repository, base.tree)).toEqual({ 'data/': 'directory', 'data/x': '- 1', 'own.env': '- A=2' });
    expect(base.heldBack).toBeUndefined();
    // What is near to a name is not below it.
    expect((await repository.base({ type: 'worktree', named: ['.en', 'own'] })).heldBack?.total).toBe(2);
  });

  test('of a shallow clone works, of a partial one is OBJECT_MISSING', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ a: '1' });
    fixture.git(root, 'config', 'uploadpack.allowFilter', 'true');
    put(root, 'a', '2');
    fixture.git(root, 'commit', '-qam', 'second');
    fixture.git(fixture.directory, 'clone', '-q', '--depth=1', `file://${root}`, 'shallow');
    const shallow = await fixture.open(join(fixture.directory, 'shallow'));
    const id = await begin(shallow);
    await record(shallow, id, { a: '3' });
    expect((await shallow.plan(id, { integration: 'merge', arguments: [] })).changes).toHaveLength(1);
    fixture.git(fixture.directory, 'clone', '-q', '--filter=blob:none', '--no-checkout', `file://${root}`, 'partial');
    const partial = await fixture.open(join(fixture.directory, 'partial'));
    await expect(partial.base({ type: 'head' })).rejects.toMatchObject({ code: 'OBJECT_MISSING' });
  });
});

describe('tree', () => {
  test('is every file as committed, whatever attributes say', async () => {
    await using fixture = new GitFixture();
    const odd = decodeRaw(Buffer.from([0xff, 0x2f, 0xe9]));
    const root = fixture.repository({
      'x/keep': '$Format:%H$\n',
      '.gitattributes': 'x export-ignore\n* export-subst text eol=crlf\n',
      'run.sh': 'one\ntwo\n',
    });
    chmodSync(join(root, 'run.sh'), 0o755);
    symlinkSync('t'.repeat(300), join(root, 'link'));
    mkdirSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff])]));
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from(encodeRaw(odd))]), 'raw');
    const long = `${'d'.repeat(180)}/${'e'.repeat(180)}`;
    put(root, long, 'long');
    fixture.git(root, 'add', '-A');
    fixture.git(
      root,
      'update-index',
      '--add',
      '--cacheinfo',
      `160000,${fixture.git(root, 'rev-parse', 'HEAD').trim()},sub`,
    );
    fixture.git(root, 'commit', '-qm', 'more');
    const repository = await fixture.open(root);
    const { tree } = await repository.base({ type: 'head' });
    expect(await files(repository, tree)).toEqual({
      '.gitattributes': '- x export-ignore\n* export-subst text eol=crlf\n',
      [`${'d'.repeat(180)}/`]: 'directory',
      [long]: '- long',
      link: `link ${'t'.repeat(300)}`,
      'run.sh': 'x one\ntwo\n',
      'sub/': 'directory',
      'x/': 'directory',
      'x/keep': '- $Format:%H$\n',
      [`${odd.slice(0, 1)}/`]: 'directory',
      [odd]: '- raw',
    });
    // GNU tar reads it too.
    const out = join(fixture.directory, 'out');
    mkdirSync(out);
    const { spawn } = await import('node:child_process');
    const tar = spawn('tar', ['-xf', '-', '-C', out], { stdio: ['pipe', 'inherit', 'inherit'] });
    for await (const chunk of repository.tree(tree)) tar.stdin.write(chunk);
    tar.stdin.end();
    expect(await new Promise((resolve) => tar.on('close', resolve))).toBe(0);
    expect(readFileSync(join(out, long), 'utf8')).toBe('long');
  });

  test('with a name that no work tree can have, or below a link of its own, is refused', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ a: '1' });
    const blob = fixture.git(root, 'rev-parse', 'HEAD:a').trim();
    const treeOf = (...entries: readonly (readonly [start: string, oid: string])[]) => {
      const bytes = entries.map(([start, oid]) => Buffer.concat([Buffer.from(`${start}\0`), Buffer.from(oid, 'hex')]));
      const args = ['hash-object', '-w', '-t', 'tree', '--literally', '--stdin'];
      return fixture.gitBytes(root, args, Buffer.concat(bytes)).toString().trim();
    };
    const below = treeOf(['100644 x', blob]);
    const trees = {
      git: treeOf(['100644 .GIT', blob]),
      above: treeOf(['100644 ../../x', blob]),
      absolute: treeOf(['100644 /x', blob]),
      twice: treeOf(['120000 d', blob], ['40000 d', below]),
      belowLink: treeOf(['120000 d', blob], ['100644 d/x', blob]),
      linkTwice: treeOf(['120000 d', blob], ['100644 d', blob]),
    };
    const repository = await fixture.open(root);
    for (const [what, tree] of Object.entries(trees)) {
      const code = await files(repository, tree).then(
        () => undefined,
        (error: { readonly code: string }) => error.code,
      );
      expect({ what, code }).toEqual({ what, code: 'REPO_CORRUPT' });
    }
    // A directory and a link beside it are no reason.
    expect(await files(repository, treeOf(['40000 d', below], ['120000 e', blob]))).toMatchObject({ e: 'link 1' });
    await expect(files(repository, 'f'.repeat(40))).rejects.toMatchObject({ code: 'OBJECT_MISSING' });
  });
});

test('SHA-256 repositories work from base to merge', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ a: '1\n', 'b/c': '1\n' }, 'repo', '--object-format=sha256');
  const repository = await fixture.open(root);
  const id = await begin(repository);
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`n/${index}`, `${index}`]));
  expect((await record(repository, id, { a: '2\n', ...many })).changedFiles).toBe(102);
  await repository.milestone(id, 'm');
  const plan = await repository.plan(id, { integration: 'merge', arguments: [] });
  expect((await repository.execute(plan, { autostash: false })).outcome).toBe('committed');
  fixture.git(root, 'fsck', '--strict', '--full');
  fixture.git(fixture.storeOf(repository), '-c', 'safe.bareRepository=all', 'fsck', '--strict', '--full');
});

test('a sandbox that exists is not begun again, and its base survives gc --prune=now', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ a: '1' });
  fixture.git(root, 'checkout', '-q', '-b', 'topic');
  put(root, 'a', 'topic');
  fixture.git(root, 'commit', '-qam', 'topic');
  const repository = await fixture.open(root);
  const base = await repository.base({ type: 'head' });
  const id = await begin(repository);
  await expect(repository.begin({ id, slug: 'work' as never, base })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
  await record(repository, id, { a: 'more' });
  fixture.git(root, 'checkout', '-q', 'main');
  fixture.git(root, 'branch', '-qD', 'topic');
  fixture.git(root, 'reflog', 'expire', '--expire=now', '--all');
  fixture.git(root, 'gc', '-q', '--prune=now');
  const again = await fixture.open(root);
  expect(await again.changes(id)).toHaveLength(1);
  expect((await record(again, id, { a: 'still' })).changedFiles).toBe(1);
});

test('the exported tree is plain files without .git, swapped in whole, hidden from git', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ a: '1', 'b/c': '1' });
  const repository = await fixture.open(root);
  const id = await begin(repository);
  await record(repository, id, { a: '2', 'b/c': '1', l: { type: 'symlink', target: '/etc/passwd' } });
  await repository.milestone(id, 'm');
  for (const _ of [1, 2]) {
    const { directory, files: count } = await repository.exportTree(id);
    expect(directory).toBe(join(root, '.litterbox/worktrees/work'));
    expect(realpathSync(directory).startsWith(fixture.state)).toBe(true);
    expect(count).toBe(3);
    expect(snapshot(directory)).toEqual({ a: '644 2', 'b/': 'directory', 'b/c': '644 1', l: '644 /etc/passwd' });
  }
  expect(fixture.git(root, 'status', '--porcelain')).toBe('');
  expect(readFileSync(join(root, '.git/info/exclude'), 'utf8').match(/\.litterbox/g)).toHaveLength(1);
  await repository.remove(id);
  expect(existsSync(join(root, '.litterbox/worktrees/work'))).toBe(false);
  const other = await begin(repository, 'other');
  renameSync(join(root, '.litterbox'), join(fixture.directory, 'elsewhere'));
  symlinkSync(join(fixture.directory, 'elsewhere'), join(root, '.litterbox'));
  await expect(repository.exportTree(other)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
});

test('trees that an earlier release wrote into the work tree are taken out of it; what is not ours stays and is refused', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ a: '1' });
  const repository = await fixture.open(root);
  const id = await begin(repository);
  const place = join(root, '.litterbox/worktrees');
  mkdirSync(join(place, 'work'), { recursive: true });
  writeFileSync(join(place, 'work/evil.test.js'), '');
  const { directory } = await repository.exportTree(id);
  expect({ isSymbolicLink: lstatSync(place).isSymbolicLink(), names: readdirSync(directory) }).toEqual({
    isSymbolicLink: true,
    names: ['a'],
  });
  rmSync(place);
  mkdirSync(join(place, 'mine'), { recursive: true });
  await expect(repository.exportTree(id)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  expect(readdirSync(place)).toEqual(['mine']);
  rmSync(place, { recursive: true });
  symlinkSync(fixture.home, place);
  await expect(repository.exportTree(id)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  await repository.remove(id);
  expect(existsSync(fixture.home)).toBe(true);
});

test('an export names what can run code of all that HEAD has otherwise, and an agent gets none', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ a: '1', Makefile: 'all:' });
  const repository = await fixture.open(root);
  const id = await begin(repository);
  await record(repository, id, { 'package.json': '{}', a: '2', Makefile: 'all:' });
  expect((await repository.planExport(id)).risky).toEqual([]);
  await repository.milestone(id, 'm');
  const plan = await repository.planExport(id);
  expect(plan.risky.map(({ path }) => path)).toEqual(['package.json']);
  writeFileSync(join(root, 'Makefile'), 'other:');
  fixture.git(root, 'commit', '-qam', 'mine');
  expect((await repository.planExport(id)).risky.map(({ path }) => path)).toEqual(['Makefile', 'package.json']);
  await using control = agentsGit({ stateDirectory: fixture.state, environment: fixture.environment });
  await using forAgent = await control.open(root, { asker: 'agent' });
  await expect(forAgent.exportTree(id)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  expect(existsSync(join(root, '.litterbox'))).toBe(false);
});
