import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { all, begin, put, record, snapshot, GitFixture, text } from './git-fixture.ts';

/** Everything in git's configuration that names a program. */
const EXECUTABLE_KEYS = [
  'core.fsmonitor',
  'core.pager',
  'core.editor',
  'core.sshCommand',
  'core.alternateRefsCommand',
  'diff.external',
  'diff.x.textconv',
  'diff.x.command',
  'filter.x.clean',
  'filter.x.smudge',
  'filter.x.process',
  'merge.x.driver',
  'gpg.program',
  'credential.helper',
  'uploadpack.packObjectsHook',
  'tar.x.command',
  'alias.status',
  'pager.log',
  'pager.diff',
];
const HOOKS = [
  'post-checkout',
  'post-index-change',
  'reference-transaction',
  'pre-commit',
  'post-commit',
  'pre-auto-gc',
];

test('nothing of a hostile configuration or of this environment runs, and the repository stays as it is', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ 'a.txt': 'one\n', '.gitattributes': '* filter=x diff=x merge=x\n' });
  const marks = join(fixture.directory, 'marks');
  mkdirSync(marks);
  for (const key of EXECUTABLE_KEYS) fixture.git(root, 'config', key, `touch ${marks}/${key}; cat`);
  for (const hook of HOOKS) {
    put(root, `.git/hooks/${hook}`, `#!/bin/sh\ntouch ${marks}/${hook}\n`);
    chmodSync(join(root, '.git/hooks', hook), 0o755);
  }
  put(root, 'a.txt', 'two\n');
  // The guard is real: the person's own git runs some of them.
  expect(() => fixture.git(root, 'status')).not.toThrow();
  expect(readdirSync(marks)).not.toEqual([]);
  rmSync(marks, { recursive: true });
  mkdirSync(marks);

  const poisoned = {
    GIT_DIR: '/tmp/evil',
    GIT_TRACE: join(marks, 'trace'),
    GIT_INDEX_FILE: '/tmp/evil',
    GIT_EXEC_PATH: '/x',
  };
  Object.assign(process.env, poisoned);
  try {
    const before = snapshot(root);
    const withoutPin = (path: string) => path.startsWith('.git/refs/litterbox');
    const repository = await fixture.open(root);
    await repository.leftOut(10);
    const id = await begin(repository);
    await record(repository, id, {
      'a.txt': 'three\n',
      '.gitattributes': '* filter=x diff=x merge=x -diff\n',
      'n.txt': 'n',
    });
    for await (const _ of repository.tree((await repository.history(id)).tip.tree));
    await text(repository.diff(id));
    await repository.changes(id);
    await all(repository.log(id));
    await all(repository.histories());
    await repository.resolve(id, '1');
    await repository.reconcile();
    expect(snapshot(root, withoutPin)).toEqual(before);
    expect(fixture.git('/', '--git-dir', join(root, '.git'), 'for-each-ref', 'refs/litterbox')).toContain(
      `refs/litterbox/base/${id}`,
    );
    await repository.milestone(id, 'm');
    await repository.remove(id);
    expect(readdirSync(marks)).toEqual([]);
  } finally {
    for (const name of Object.keys(poisoned)) delete process.env[name];
  }
});

test('plan names what runs on the machine of a person, once a path with every reason', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ 'a.txt': 'one\n', README: 'x' });
  const repository = await fixture.open(root);
  const id = await begin(repository);
  const risky = [
    '.husky/post-merge',
    '.vscode/tasks.json',
    'CLAUDE.md',
    '.envrc',
    'package.json',
    'sub/Makefile',
    '.github/workflows/x.yml',
    '.npmrc',
    'conftest.py',
    '.litterbox.toml',
    'Dockerfile',
  ];
  await record(repository, id, {
    'a.txt': 'two\n',
    readme: 'twin',
    README: 'x',
    ...Object.fromEntries(risky.map((path) => [path, 'x'])),
    'run.sh': { type: 'file', content: Buffer.from('#!/bin/sh\n'), executable: true },
    out: { type: 'symlink', target: '../../etc/passwd' },
    'evil.git/HEAD': 'ref: refs/heads/main\n',
    'evil.git/config': '[core]\n\tfsmonitor = touch x\n',
    'evil.git/objects/x': '',
    'harmless.txt': 'x',
  });
  const plan = await repository.plan(id, { integration: 'apply', arguments: [] });
  const byPath = new Map(plan.risky.map(({ path, reasons }) => [path, reasons]));
  for (const path of risky) expect({ path, byPath: byPath.has(path) }).toEqual({ path, byPath: true });
  expect(byPath.get('out')).toEqual(['is a symbolic link out of the repository']);
  expect(byPath.get('run.sh')).toEqual(['becomes executable']);
  expect(byPath.get('readme')).toEqual(['differs from another name by case or Unicode form only']);
  expect(byPath.get('evil.git/config')?.join()).toContain('git takes for a repository');
  expect(byPath.has('harmless.txt') || byPath.has('a.txt')).toBe(false);
  expect(plan.risky).toHaveLength(byPath.size);
  expect(existsSync(join(root, 'out'))).toBe(false);
});

test('a hostile .gitmodules never reaches the repository of a person', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ a: '1' });
  const repository = await fixture.open(root);
  const id = await begin(repository);
  await record(repository, id, { a: '1', '.gitmodules': '[submodule "../../x"]\n\tpath = x\n\turl = -u./payload\n' });
  const before = snapshot(root);
  await expect(repository.milestone(id, 'm')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  const plan = await repository.plan(id, { integration: 'apply', arguments: [] });
  await expect(repository.execute(plan, { autostash: false })).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  expect(snapshot(root)).toEqual(before);
});
