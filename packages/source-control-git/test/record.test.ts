import { existsSync, readdirSync, rmSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { type ChangedPath, decodeRaw, type SandboxId, type SourceRepository } from '@litterbox/core/provider';
import * as fc from 'fast-check';
import { all, begin, type Files, put, record, request, scan, tarOf, GitFixture, text } from './git-fixture.ts';

const NFC = 'caf\u00e9';
const NFD = 'cafe\u0301';
const LATIN1 = decodeRaw(Buffer.from([0x66, 0xe9, 0x2e, 0x63]));

const compare = (a: string, b: string) => (a < b ? -1 : 1);

async function tipFiles(
  fixture: GitFixture,
  repository: SourceRepository,
  id: SandboxId,
): Promise<Record<string, string>> {
  const { tip } = await repository.history(id);
  const listed = fixture.gitBytes(fixture.storeOf(repository), [
    '-c',
    'safe.bareRepository=all',
    'ls-tree',
    '-rz',
    tip.tree,
  ]);
  const found: Record<string, string> = {};
  for (const line of listed.toString('latin1').split('\0').filter(Boolean)) {
    const [head = '', path = ''] = line.split('\t');
    found[decodeRaw(Buffer.from(path, 'latin1'))] = head.split(' ')[0] ?? '';
  }
  return found;
}

function fsck(fixture: GitFixture, repository: SourceRepository): string {
  return fixture.git(
    fixture.storeOf(repository),
    '-c',
    'safe.bareRepository=all',
    'fsck',
    '--strict',
    '--full',
    '--no-dangling',
  );
}

test('names, modes, links and contents arrive byte for byte', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ 'a.txt': 'a' });
  const repository = await fixture.open(root);
  const id = await begin(repository);
  const binary = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256));
  const long = `${'d'.repeat(200)}/${'e'.repeat(200)}/${'f'.repeat(200)}`;
  const files: Files = {
    'a.txt': 'a',
    'new\nline': 'x',
    ':(top)magic': 'x',
    '-dash': 'x',
    [NFC]: 'composed',
    [NFD]: 'decomposed',
    [LATIN1]: 'not utf-8',
    [long]: 'long',
    'run.sh': { type: 'file', content: Buffer.from('#!/bin/sh\n'), executable: true },
    link: { type: 'symlink', target: '/etc/passwd' },
    'odd-link': { type: 'symlink', target: LATIN1 },
    binary: { type: 'file', content: binary },
    'crlf.txt': 'one\r\ntwo\r\n',
    empty: '',
    pointer: 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n',
  };
  const result = await record(repository, id, files);
  expect(result).toMatchObject({ changedFiles: 14, warnings: [], moreWarnings: 0, revision: { number: 1 } });
  const tip = await tipFiles(fixture, repository, id);
  expect(Object.keys(tip).sort()).toEqual(Object.keys(files).sort());
  expect(tip).toMatchObject({ 'run.sh': '100755', link: '120000', [LATIN1]: '100644' });
  const store = fixture.storeOf(repository);
  const show = (path: string) =>
    fixture.gitBytes(store, [
      '-c',
      'safe.bareRepository=all',
      'cat-file',
      'blob',
      `${result.revision?.commit}:${path}`,
    ]);
  expect(show('binary').equals(binary)).toBe(true);
  expect(show('crlf.txt').toString()).toBe('one\r\ntwo\r\n');
  expect(show('link').toString()).toBe('/etc/passwd');
  expect(fsck(fixture, repository)).toBe('');
  // The same again changes nothing.
  expect((await record(repository, id, files)).revision).toBeUndefined();
});

test('revisions count up, keep their words and never run backwards in time', async () => {
  await using fixture = new GitFixture();
  const repository = await fixture.open(fixture.repository({ a: '1' }));
  const id = await begin(repository);
  const message = {
    subject: 'subject',
    body: 'Body: like a trailer\n\nand: more',
    trailers: [
      ['Exit-Code', '0'],
      ['Tool', 'x'],
    ],
  } as const;
  await repository.record(id, { ...request({ a: '2' }), message });
  await repository.record(id, {
    ...request({ a: '3' }),
    message: { subject: 'plain', body: 'Last: line', trailers: [] },
  });
  const log = await all(repository.log(id));
  expect(log.map(({ number, subject, body, trailers }) => ({ number, subject, body, trailers }))).toEqual([
    { number: 2, subject: 'plain', body: 'Last: line', trailers: [] },
    { number: 1, subject: 'subject', body: message.body, trailers: message.trailers },
  ]);
  expect(log[0]?.atMs).toBeGreaterThanOrEqual(log[1]?.atMs ?? 0);
  expect(await all(repository.log(id, { limit: 1 }))).toHaveLength(1);
  const first = await repository.resolve(id, '1');
  expect(await repository.resolve(id, first.commit.slice(0, 9))).toEqual(first);
  expect((await repository.resolve(id, '0')).number).toBe(0);
  await expect(repository.resolve(id, '9')).rejects.toMatchObject({ code: 'REV_NOT_FOUND' });
  await expect(repository.resolve(id, '--all')).rejects.toMatchObject({ code: 'REV_INVALID' });
  const restored = await repository.restore(id, first.commit, { subject: 'back', trailers: [] });
  expect(restored).toMatchObject({ number: 3, tree: first.tree });
  expect(await repository.restore(id, first.commit, { subject: 'back', trailers: [] })).toBeUndefined();
});

describe('ignore rules', () => {
  const PATTERNS = [
    '*.log',
    '!keep.log',
    'build',
    'build/',
    '/a',
    'a/',
    '**/b',
    'a/**',
    '!a/b',
    '*',
    '!*/',
    '# c',
    '\\!x',
    'x?',
    '[ab]',
    '.gitignore',
    'b/*.log',
  ];
  const NAMES = ['a', 'b', 'x1', 'build', 'k.log', 'keep.log', '!x'];
  const path = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
  const rules = fc.array(fc.constantFrom(...PATTERNS), { maxLength: 4 }).map((lines) => lines.join('\n'));
  const directory = fc.array(fc.constantFrom('a', 'b', 'build'), { maxLength: 2 }).map((names) => names.join('/'));
  const workspace = fc.record({
    paths: fc.uniqueArray(path, { maxLength: 12 }),
    rules: fc.array(fc.tuple(directory, rules), { maxLength: 3 }),
  });

  /** Whatever cannot be both a file and a directory is dropped. */
  const filesOf = (value: { paths: string[]; rules: [string, string][] }, mark: string): Files => {
    const files: Files = {};
    for (const at of value.paths) files[at] = `${mark} ${at}`;
    for (const [at, lines] of value.rules) files[at === '' ? '.gitignore' : `${at}/.gitignore`] = lines;
    for (const at of Object.keys(files)) {
      if (Object.keys(files).some((other) => other.startsWith(`${at}/`))) delete files[at];
    }
    return files;
  };

  test('decide exactly as git add does', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ 'a/b': 'tracked', 'k.log': 'tracked' });
    put(root, '.git/info/exclude', '*.tmp\nx1\n');
    put(fixture.home, '.config/git/ignore', 'personal\n!x1\n');
    const repository = await fixture.open(root);
    let ignoredSomething = 0;
    await fc.assert(
      fc.asyncProperty(workspace, workspace, async (first, second) => {
        const id = await begin(repository);
        fixture.git(root, 'read-tree', 'HEAD');
        for (const [step, value] of [first, second].entries()) {
          const files = { ...filesOf(value, `${step}`), 'y.tmp': 'no', personal: 'no' };
          fixture.git(root, 'clean', '-qfdx');
          for (const entry of readdirSync(root)) {
            if (entry !== '.git') rmSync(`${root}/${entry}`, { recursive: true });
          }
          for (const [at, content] of Object.entries(files)) put(root, at, content);
          fixture.git(root, 'add', '-A');
          const expected = fixture.git(root, 'write-tree').trim();
          await record(repository, id, files);
          const { tip } = await repository.history(id);
          if (Object.keys(await tipFiles(fixture, repository, id)).length < Object.keys(files).length - 2)
            ignoredSomething++;
          expect({ files, tree: tip.tree }).toEqual({ files, tree: expected });
        }
      }),
      { numRuns: Math.ceil(40 * Number(process.env['LITTERBOX_FUZZ_RUNS'] ?? 1)) },
    );
    expect(ignoredSomething).toBeGreaterThan(5);
  });

  test('hold in a directory that ignores itself, in later calls too', async () => {
    await using fixture = new GitFixture();
    const repository = await fixture.open(fixture.repository({ a: '1' }));
    const id = await begin(repository);
    await record(repository, id, { a: '1', 'venv/.gitignore': '*\n', 'venv/x.py': 'x' });
    expect((await repository.history(id)).tip.number).toBe(0);
    const later: ChangedPath[] = [{ type: 'file', path: 'venv/x.py', sizeBytes: 1, executable: false }];
    const again = await repository.record(id, request({ 'venv/x.py': 'y' }, later));
    expect(again.revision).toBeUndefined();
    // Another process knows it as well.
    const other = await fixture.open(repository.root);
    expect((await other.record(id, request({ 'venv/x.py': 'z' }, later))).revision).toBeUndefined();
    // The rule goes, the file counts.
    const gone: ChangedPath[] = [
      { type: 'directory', path: 'venv', children: [{ name: 'x.py', type: 'file' }] },
      ...later,
    ];
    expect((await repository.record(id, request({ 'venv/x.py': 'z' }, gone))).changedFiles).toBe(1);
  });

  test('cost no process where there are none', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ a: '1' });
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, { a: '1', b: '2', 'c/d': '3' });
    expect(existsSync(`${fixture.storeOf(repository)}/../work`)).toBe(false);
  });
});

describe('what is never recorded', () => {
  test('git directories, special files and dangerous links are refused, the rest goes on', async () => {
    await using fixture = new GitFixture();
    const repository = await fixture.open(fixture.repository({ a: '1' }));
    const id = await begin(repository);
    const result = await record(repository, id, {
      a: '2',
      '.git/config': '[core]\n\tfsmonitor = touch /tmp/mark\n',
      '.GIT/hooks/x': 'x',
      'sub/git~1/x': 'x',
      'sub/.g\u200cit/x': 'x',
      'vendor/x/.git/config': 'x',
      'vendor/x/.git/HEAD': 'x',
      'vendor/x/code.c': 'ordinary',
      'vendor/y/.git': 'gitdir: /home/victim/repo/.git',
      pipe: { type: 'special' },
      '.gitattributes': { type: 'symlink', target: '/etc/passwd' },
      'x/.gitmodules': { type: 'symlink', target: 'y' },
    });
    expect(result.changedFiles).toBe(2);
    expect(Object.keys(await tipFiles(fixture, repository, id)).sort()).toEqual(['a', 'vendor/x/code.c']);
    expect(
      result.warnings
        .map((warning) => [warning.type, 'code' in warning ? warning.code : '', warning.path].join(' '))
        .toSorted(compare),
    ).toEqual(
      [
        'nested-repository  vendor/x/.git',
        'nested-repository  vendor/y/.git',
        'refused-path NOT_A_REGULAR_FILE pipe',
        'refused-path PATH_GIT_DIR .GIT',
        'refused-path PATH_GIT_DIR .git',
        'refused-path PATH_GIT_DIR sub/.g\u200cit',
        'refused-path PATH_GIT_DIR sub/git~1',
        'refused-path PATH_SPECIAL_SYMLINK .gitattributes',
        'refused-path PATH_SPECIAL_SYMLINK x/.gitmodules',
      ].toSorted(compare),
    );
    expect(fsck(fixture, repository)).toBe('');
  });

  test('warnings are capped per type and counted', async () => {
    await using fixture = new GitFixture();
    const repository = await fixture.open(fixture.repository({ a: '1' }));
    const id = await begin(repository);
    const pipes = Array.from({ length: 250 }, (_, index) => [`p${index}`, { type: 'special' }] as const);
    const result = await record(repository, id, { a: '2', ...Object.fromEntries(pipes) });
    expect(result.warnings).toHaveLength(100);
    expect(result.moreWarnings).toBe(150);
  });

  test('a submodule stays, and files put into it are refused', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ a: '1' });
    const commit = fixture.git(root, 'rev-parse', 'HEAD').trim();
    fixture.git(root, 'update-index', '--add', '--cacheinfo', `160000,${commit},sub`);
    fixture.git(root, 'commit', '-qm', 'submodule');
    const repository = await fixture.open(root);
    const id = await begin(repository);
    expect((await record(repository, id, { a: '2', sub: { type: 'empty-directory' } })).changedFiles).toBe(1);
    const result = await record(repository, id, { a: '3', 'sub/x': 'x' });
    expect(result.warnings).toEqual([{ type: 'refused-path', code: 'PATH_SUBMODULE_UNSUPPORTED', path: 'sub/x' }]);
    expect(await tipFiles(fixture, repository, id)).toEqual({ a: '100644', sub: '160000' });
  });

  test('large new files are recorded and mentioned', async () => {
    await using fixture = new GitFixture();
    const repository = await fixture.open(fixture.repository({ a: '1' }));
    const id = await begin(repository);
    const result = await record(repository, id, { a: '1', big: 'x'.repeat(1_200_000) });
    expect(result.warnings).toEqual([{ type: 'large-new-file', path: 'big', sizeBytes: 1_200_000 }]);
  });

  test('a file that holds a secret, of any size, leaves the objects beside it whole', async () => {
    await using fixture = new GitFixture();
    const repository = await fixture.open(fixture.repository({ a: '1' }));
    const id = await begin(repository);
    const secret = 'npm_0123456789';
    // Across the pieces in which it comes, and between two that go into the same pack.
    const held = `${'y'.repeat(5 * 2 ** 20 - 7)}${secret}${'z'.repeat(300_000)}`;
    const files = { a: '1', after: 'x'.repeat(5 * 2 ** 20), before: 'w'.repeat(5 * 2 ** 20), held, small: secret };
    const secrets = [{ name: 'TOKEN', bytes: Buffer.from(secret) }];
    const result = await repository.record(id, { ...request(files), secrets });
    expect(result.warnings.filter(({ type }) => type === 'holds-secret')).toEqual([
      { type: 'holds-secret', path: 'held', secret: 'TOKEN' },
      { type: 'holds-secret', path: 'small', secret: 'TOKEN' },
    ]);
    expect(Object.keys(await tipFiles(fixture, repository, id)).toSorted()).toEqual(['a', 'after', 'before']);
    expect(fsck(fixture, repository)).toBe('');
    const store = fixture.storeOf(repository);
    const all = ['-c', 'safe.bareRepository=all', 'cat-file', '--batch-check=%(objectsize)', '--batch-all-objects'];
    const sizes = fixture
      .git(store, ...all)
      .trim()
      .split('\n')
      .map(Number);
    expect(sizes.filter((size) => size === 5 * 2 ** 20)).toHaveLength(2);
    expect(sizes.filter((size) => size === held.length || size === secret.length)).toEqual([]);
    // Its own file again, without it.
    const mended = await repository.record(id, { ...request({ ...files, held: 'none', small: 'none' }), secrets });
    expect(mended).toMatchObject({ changedFiles: 2, warnings: [] });
  });
});

test('files and directories change places, and whole directories go', async () => {
  await using fixture = new GitFixture();
  const repository = await fixture.open(
    fixture.repository({ 'd/x': '1', 'd/y/z': '2', f: '3', 'gone/a/b': '4', 'gone/c': '5' }),
  );
  const id = await begin(repository);
  const result = await record(repository, id, { d: 'file now', 'f/x': 'directory now' });
  expect(result.changedFiles).toBe(2 + 2 + 1 + 2);
  expect(await tipFiles(fixture, repository, id)).toEqual({ d: '100644', 'f/x': '100644' });
  await record(repository, id, {});
  expect(await tipFiles(fixture, repository, id)).toEqual({});
  expect(fsck(fixture, repository)).toBe('');
});

test('a path that vanished before its content was read keeps its old content', async () => {
  await using fixture = new GitFixture();
  const repository = await fixture.open(fixture.repository({ a: '1', b: '1' }));
  const id = await begin(repository);
  const files = { a: '2', b: '2' };
  const result = await repository.record(id, { ...request(files), contents: (paths) => tarOf({ a: '2' }, paths) });
  expect(result.changedFiles).toBe(1);
  expect(Object.keys(await tipFiles(fixture, repository, id))).toEqual(['a', 'b']);
});

describe('a tip that moved', () => {
  test('is a conflict, and nothing of the loser is seen', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ a: '1' });
    const [one, two] = [await fixture.open(root), await fixture.open(root)];
    const id = await begin(one);
    const outcomes = await Promise.allSettled([record(one, id, { a: 'one' }), record(two, id, { a: 'two' })]);
    const codes = outcomes
      .map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'ok'))
      .toSorted(compare);
    expect([
      ['CONFLICT', 'ok'],
      ['ok', 'ok'],
    ]).toContainEqual(codes);
    const log = await all(one.log(id));
    expect(log).toHaveLength(codes.filter((code) => code === 'ok').length);
  });
});

test('aborting rejects with the reason of the caller and records nothing', async () => {
  await using fixture = new GitFixture();
  const repository = await fixture.open(fixture.repository({ a: '1' }));
  const id = await begin(repository);
  const reason = new Error('enough');
  const abort = new AbortController();
  const changes = scan({ a: '2' });
  const recording = repository.record(
    id,
    {
      ...request({ a: '2' }, changes),
      contents: () => {
        abort.abort(reason);
        return new ReadableStream({ start: (controller) => controller.error(new Error('cut')) });
      },
    },
    { signal: abort.signal },
  );
  await expect(recording).rejects.toBe(reason);
  expect((await repository.history(id)).tip.number).toBe(0);
});

test('diff shows nothing an attribute or configuration asks for', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ 'a.x': 'one\n' });
  fixture.git(root, 'config', 'diff.evil.textconv', `touch ${fixture.directory}/mark;cat`);
  fixture.git(root, 'config', 'diff.external', `touch ${fixture.directory}/mark`);
  const repository = await fixture.open(root);
  const id = await begin(repository);
  await record(repository, id, { 'a.x': 'two\n', '.gitattributes': '*.x diff=evil -text binary\n' });
  expect(await text(repository.diff(id, { paths: ['a.x'] }))).toContain('-one\n+two\n');
  expect(existsSync(`${fixture.directory}/mark`)).toBe(false);
  expect(await repository.changes(id)).toMatchObject([
    { path: '.gitattributes', status: 'added' },
    { path: 'a.x', status: 'modified', addedLines: 1, removedLines: 1, binary: false },
  ]);
});
