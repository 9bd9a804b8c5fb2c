import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { IntegrationPlan, OfferedFile, SourceRepository } from '@litterbox/core/provider';
import { git } from '../src/index.ts';
import { begin, put, record, snapshot, GitFixture } from './git-fixture.ts';

const numbered = (count: number, change: Readonly<Record<number, string>> = {}) =>
  Array.from({ length: count }, (_, at) => `${change[at + 1] ?? `line ${at + 1}`}\n`).join('');
const ask = { integration: 'apply', arguments: [] as string[] } as const;

async function offered(repository: SourceRepository, plan: IntegrationPlan): Promise<Record<string, OfferedFile>> {
  const files: OfferedFile[] = [];
  for await (const file of repository.offered?.(plan) ?? []) files.push(file);
  return Object.fromEntries(files.map((file) => [file.path, file]));
}

describe('parts of an apply', () => {
  test('FC-413: take the changes that were chosen, and leave the rest in the sandbox', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ 'a.txt': numbered(40), 'b.txt': 'b\n' });
    const repository = await fixture.open(root);
    const id = await begin(repository);
    const agents = numbered(40, { 1: 'ONE', 3: 'THREE\nand more', 20: 'TWENTY', 40: 'FORTY' });
    await record(repository, id, { 'a.txt': agents, 'b.txt': 'B\n' });
    const { 'a.txt': file } = await offered(repository, await repository.plan(id, ask));
    expect(file?.hunks.map(({ firstChange }) => firstChange)).toEqual([0, 2, 3]);
    expect(file?.hunks[0]?.lines.map((line) => Buffer.from(line).toString()).slice(0, 3)).toEqual([
      '-line 1',
      '+ONE',
      ' line 2',
    ]);
    const part = { path: 'a.txt', digest: file?.digest ?? '', changes: [3, 1] };
    const plan = await repository.plan(id, { ...ask, parts: [part] });
    expect(plan.changes.map(({ path, addedLines }) => [path, addedLines])).toEqual([['a.txt', 3]]);
    expect((await repository.execute(plan, { autostash: false })).outcome).toBe('staged');
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe(numbered(40, { 3: 'THREE\nand more', 40: 'FORTY' }));
    expect(fixture.git(root, 'status', '--porcelain')).toBe('M  a.txt\n');
    fixture.git(root, 'commit', '-qm', 'some');

    // What the branch has is not offered again, and all of the rest makes the file whole.
    const { 'a.txt': left } = await offered(repository, await repository.plan(id, ask));
    expect(left?.hunks.map(({ firstChange }) => firstChange)).toEqual([0, 1]);
    const rest = { path: 'a.txt', digest: left?.digest ?? '', changes: [0, 1] };
    await repository.execute(await repository.plan(id, { ...ask, paths: ['b.txt'], parts: [rest] }), {
      autostash: false,
    });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe(agents);
    fixture.git(root, 'commit', '-qm', 'the rest');
    expect(await repository.isMerged(id)).toBe(true);
    fixture.git(root, 'fsck', '--strict', '--full');
  });

  test('FC-495: the number of programs is that of one path, however many are taken', async () => {
    await using fixture = new GitFixture();
    const names = Array.from({ length: 40 }, (_, at) => `d${at % 3}/f${at}`);
    const root = fixture.repository({ 'd0/f0': 'was\n' });
    const log = join(fixture.directory, 'programs');
    const gitBinary = join(fixture.directory, 'counted-git');
    writeFileSync(gitBinary, `#!/bin/sh\necho >> '${log}'\nexec /usr/bin/git "$@"\n`, { mode: 0o755 });
    const { state: stateDirectory, environment } = fixture;
    await using control = git({ stateDirectory, environment, gitBinary });
    const repository = await control.open(root);
    const id = await begin(repository);
    await record(repository, id, { ...Object.fromEntries(names.map((name) => [name, 'is\n'])), left: 'l\n' });
    const programsOf = async (paths: readonly string[], files: number) => {
      writeFileSync(log, '');
      expect((await repository.plan(id, { ...ask, paths })).changes).toHaveLength(files);
      return readFileSync(log).length;
    };
    const one = await programsOf(['d0/f0'], 1);
    expect(one).toBeGreaterThan(0);
    expect(await programsOf(names, 40)).toBe(one);
    expect(await programsOf(['d0', 'd1/', 'd2/f2'], 28)).toBe(one);
    await expect(programsOf([...names, 'd0/f', 'nowhere'], 0)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('FC-513: more paths than a command line holds are taken, each once', async () => {
    await using fixture = new GitFixture();
    const repository = await fixture.open(fixture.repository({ 'a.txt': 'was\n' }));
    const id = await begin(repository);
    const deep = Array.from({ length: 15 }, () => 'x'.repeat(240)).join('/');
    const names = Array.from({ length: 700 }, (_, at) => `${deep}/f${at}`);
    await record(repository, id, Object.fromEntries(['a.txt', ...names].map((name) => [name, 'is\n'])));
    const { changes } = await repository.plan(id, { ...ask, paths: [...names, deep] });
    expect(new Set(changes.map(({ path }) => path))).toEqual(new Set(names));
    expect(changes).toHaveLength(names.length);
  });

  test('are those of the sandbox too, as the page shows them: one is taken and committed, then another', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ 'a.txt': numbered(40) });
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, { 'a.txt': numbered(40, { 2: 'TWO', 20: 'TWENTY', 38: 'LATE' }) });
    const { 'a.txt': file } = await offered(repository, await repository.plan(id, ask));
    const take = async (...changes: number[]) => {
      const part = { path: 'a.txt', digest: file?.digest ?? '', changes };
      await repository.execute(await repository.plan(id, { ...ask, parts: [part] }), { autostash: false });
      fixture.git(root, 'commit', '-qam', 'taken');
      return readFileSync(join(root, 'a.txt'), 'utf8');
    };
    expect(await take(1)).toBe(numbered(40, { 20: 'TWENTY' }));
    put(root, 'a.txt', `more\n${numbered(40, { 20: 'TWENTY' })}`);
    fixture.git(root, 'commit', '-qam', 'mine');
    expect(await take(2)).toBe(`more\n${numbered(40, { 20: 'TWENTY', 38: 'LATE' })}`);
    expect(await take(0, 1)).toBe(`more\n${numbered(40, { 2: 'TWO', 20: 'TWENTY', 38: 'LATE' })}`);
    expect(await repository.isMerged(id)).toBe(true);
    // Where the person changed those lines themselves it is a conflict, as of the whole.
    put(root, 'a.txt', numbered(40, { 2: 'mine' }));
    fixture.git(root, 'commit', '-qam', 'other');
    await record(repository, id, { 'a.txt': numbered(40, { 2: 'TWO again', 20: 'TWENTY', 38: 'LATE' }) });
    const all = await repository.plan(id, ask);
    expect(all.conflicts).toEqual(['a.txt']);
    expect((await offered(repository, all))['a.txt']?.digest).toBeUndefined();
  });

  test('FC-414: are found where the branch moved the lines, and refused where it changed them', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ 'a.txt': numbered(40) });
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, { 'a.txt': numbered(40, { 5: 'FIVE', 30: 'THIRTY' }) });
    const { 'a.txt': file } = await offered(repository, await repository.plan(id, ask));
    const part = { path: 'a.txt', digest: file?.digest ?? '', changes: [1] };
    put(root, 'a.txt', `more\n${numbered(40)}`);
    fixture.git(root, 'commit', '-qam', 'above');
    await repository.execute(await repository.plan(id, { ...ask, parts: [part] }), { autostash: false });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe(`more\n${numbered(40, { 30: 'THIRTY' })}`);
    fixture.git(root, 'commit', '-qm', 'taken');
    expect((await repository.plan(id, { ...ask, parts: [part] })).upToDate).toBe(true);
    const wrong = { ...part, changes: [0], digest: '0'.repeat(64) };
    await expect(repository.plan(id, { ...ask, parts: [wrong] })).rejects.toMatchObject({
      code: 'CHANGED_SINCE_SHOWN',
    });
    await expect(repository.plan(id, { ...ask, parts: [{ ...part, path: 'elsewhere' }] })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    // Changes that are none of them.
    const { 'a.txt': now } = await offered(repository, await repository.plan(id, ask));
    const none = { path: 'a.txt', digest: now?.digest ?? '', changes: [7] };
    await expect(repository.plan(id, { ...ask, parts: [none] })).rejects.toMatchObject({
      code: 'CHANGED_SINCE_SHOWN',
    });
  });

  test('FC-415: are not offered of what is whole: new, gone, binary, of another mode, a pointer, in conflict', async () => {
    await using fixture = new GitFixture();
    const pointer = (size: number) =>
      `version https://git-lfs.github.com/spec/v1\noid sha256:${'1'.repeat(64)}\nsize ${size}\n`;
    const base = { gone: 'x\n', mode: 'x\n', binary: 'a\0b', 'big.psd': pointer(1), both: 'x\n', none: 'x' };
    const root = fixture.repository(base);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    const { gone: _gone, ...left } = base;
    const agents = { ...left, 'new': 'n\n', binary: 'a\0c', 'big.psd': pointer(2), both: 'y\n', none: 'x\ny' };
    await record(repository, id, {
      ...agents,
      mode: { type: 'file', content: Buffer.from('x\ny\n'), executable: true },
    });
    put(root, 'both', 'z\n');
    fixture.git(root, 'commit', '-qam', 'meanwhile');
    const files = await offered(repository, await repository.plan(id, ask));
    expect(Object.entries(files).flatMap(([path, { digest }]) => (digest === undefined ? [] : [path]))).toEqual([
      'none',
    ]);
    expect(Object.keys(files).sort()).toEqual(['big.psd', 'binary', 'both', 'gone', 'mode', 'new', 'none']);
    expect(files['new']?.hunks).toHaveLength(1);
    expect(files['binary']?.hunks).toEqual([]);
    // A file without a newline at its end keeps its end.
    const part = { path: 'none', digest: files['none']?.digest ?? '', changes: [0] };
    await repository.execute(await repository.plan(id, { ...ask, parts: [part] }), { autostash: false });
    expect(readFileSync(join(root, 'none'), 'utf8')).toBe('x\ny');
  });
});

test('AX166: parts lead to no file but those that an apply would change', async () => {
  await using fixture = new GitFixture();
  const root = fixture.repository({ 'dir/a.txt': numbered(20) });
  const repository = await fixture.open(root);
  const id = await begin(repository);
  await record(repository, id, { 'dir/a.txt': numbered(20, { 2: 'TWO', 19: 'NINETEEN' }) });
  const { 'dir/a.txt': file } = await offered(repository, await repository.plan(id, ask));
  const digest = file?.digest ?? '';
  const before = snapshot(root);
  for (const path of [
    '.git/config',
    '../outside',
    `${root}/dir/a.txt`,
    'dir',
    'dir/a.txt/x',
    'dir/*',
    ':/dir/a.txt',
    '',
  ]) {
    const parts = [{ path, digest, changes: [0] }];
    await expect(repository.plan(id, { ...ask, parts })).rejects.toThrow();
  }
  for (const changes of [[2], [1_000_000_000], [-1], [0.5]]) {
    const plan = repository.plan(id, { ...ask, parts: [{ path: 'dir/a.txt', digest, changes }] });
    if (changes[0] === -1 || changes[0] === 0.5)
      await plan; // the operation refuses them; here they are none
    else await expect(plan).rejects.toMatchObject({ code: 'CHANGED_SINCE_SHOWN' });
  }
  expect(snapshot(root)).toEqual(before);
});

describe('field cases of parts', () => {
  const taking = async (base: string, agents: string, changes: readonly number[], name = 'a.txt') => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ [name]: base });
    // What a person sets for their own diffs decides nothing here.
    for (const setting of [
      'diff.noprefix=true',
      'diff.interHunkContext=50',
      'color.ui=always',
      'diff.algorithm=histogram',
      'core.quotePath=false',
      'diff.external=false',
      'core.whitespace=cr-at-eol',
      'diff.context=0',
    ])
      fixture.git(root, 'config', ...(setting.split('=') as [string, string]));
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, { [name]: agents });
    const { [name]: file } = await offered(repository, await repository.plan(id, ask));
    const part = { path: name, digest: file?.digest ?? '', changes };
    await repository.execute(await repository.plan(id, { ...ask, parts: [part] }), { autostash: false });
    fixture.git(root, 'fsck', '--strict', '--full');
    return readFileSync(join(root, name), 'utf8');
  };

  test.each([
    ['the end is another one', 'x\ny\nend', 'X\ny\nend\n', [0], 'X\ny\nend'],
    ['the end is taken alone', 'x\ny\nend', 'X\ny\nend\n', [1], 'x\ny\nend\n'],
    ['a line stands before the end', 'x\ny\nend', 'X\ny\nmore\nend\n', [1], 'x\ny\nmore\nend\n'],
    ['the end goes', 'x\ny\nend\n', 'X\ny\nend', [1], 'x\ny\nend'],
  ])(
    'FC-411: a file without a newline at its end is what was chosen, where %s',
    async (_name, base, agents, changes, is) => {
      expect(await taking(base, agents, changes)).toBe(is);
    },
  );

  test('FC-412: ends of lines stay what they are, mixed ones too', async () => {
    const base = `one\r\n${numbered(9)}last\r\n`;
    const agents = `ONE\r\n${numbered(9)}LAST\n`;
    expect(await taking(base, agents, [0])).toBe(`ONE\r\n${numbered(9)}last\r\n`);
    expect(await taking(base, agents, [1])).toBe(`one\r\n${numbered(9)}LAST\n`);
  });

  test.each(['with blank.txt', ':(glob)*', '[a]b?.txt', '-p', 'd\u00e9/\u2215"q".txt', 'tab\there', 'new\nline'])(
    'FC-416: a file has any name: %j',
    async (name) => {
      const path = name.includes('/') ? name : `dir/${name}`;
      expect(await taking(numbered(20), numbered(20, { 2: 'TWO', 19: 'NINETEEN' }), [1], path)).toBe(
        numbered(20, { 19: 'NINETEEN' }),
      );
    },
  );
});

describe('an apply of what is there already', () => {
  const BASE = { 'a.txt': 'a\n', 'b.txt': 'b\n', 'gone.txt': 'g\n' };
  const AGENT = { 'a.txt': 'A\n', 'b.txt': 'B\n', 'dir/new.txt': 'n\n' };
  const started = async (fixture: GitFixture) => {
    const root = fixture.repository(BASE);
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, AGENT);
    return { root, repository, id };
  };

  test('FC-418: does nothing the second time, staged or taken out of the index again', async () => {
    await using fixture = new GitFixture();
    const { root, repository, id } = await started(fixture);
    await repository.execute(await repository.plan(id, ask), { autostash: false });
    for (const state of [
      'M  a.txt\nM  b.txt\nA  dir/new.txt\nD  gone.txt\n',
      ' M a.txt\n M b.txt\n D gone.txt\n?? dir/\n',
    ]) {
      expect(fixture.git(root, 'status', '--porcelain')).toBe(state);
      const plan = await repository.plan(id, ask);
      expect(plan).toMatchObject({ upToDate: true, dirtyOverlap: [], changes: [] });
      expect([...(plan.already ?? [])].sort()).toEqual(['a.txt', 'b.txt', 'dir/new.txt', 'gone.txt']);
      expect((await repository.execute(plan, { autostash: false })).outcome).toBe('up-to-date');
      expect(fixture.git(root, 'status', '--porcelain')).toBe(state);
      fixture.git(root, 'reset', '-q');
    }
  });

  test('takes what is left, leaves an edit of the same file to the person, and asks for it', async () => {
    await using fixture = new GitFixture();
    const { root, repository, id } = await started(fixture);
    await repository.execute(await repository.plan(id, { ...ask, paths: ['a.txt'] }), { autostash: false });
    await record(repository, id, { ...AGENT, 'b.txt': 'BB\n' });
    const plan = await repository.plan(id, ask);
    expect(plan.already).toEqual(['a.txt']);
    await repository.execute(plan, { autostash: false });
    expect(fixture.git(root, 'status', '--porcelain')).toBe('M  a.txt\nM  b.txt\nA  dir/new.txt\nD  gone.txt\n');
    put(root, 'a.txt', 'mine\n');
    expect((await repository.plan(id, ask)).dirtyOverlap).toEqual(['a.txt']);
    // What was there when it was planned, and is not any more, was never agreed to.
    put(root, 'a.txt', 'A\n');
    const all = await repository.plan(id, ask);
    expect(all.upToDate).toBe(true);
    rmSync(join(root, 'dir'), { recursive: true });
    fixture.git(root, 'reset', '-q', '--', 'dir');
    await expect(repository.execute(all, { autostash: false })).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  test('merges over what is staged as it is merged, and refuses what is there beside the index', async () => {
    await using fixture = new GitFixture();
    const { root, repository, id } = await started(fixture);
    await repository.execute(await repository.plan(id, ask), { autostash: false });
    const merge = { integration: 'merge', arguments: [] as string[] } as const;
    fixture.git(root, 'reset', '-q', 'a.txt');
    expect((await repository.plan(id, merge)).dirtyOverlap).toEqual(['a.txt']);
    fixture.git(root, 'add', 'a.txt');
    const plan = await repository.plan(id, merge);
    expect(plan).toMatchObject({ upToDate: false, dirtyOverlap: [] });
    expect(plan.changes).toHaveLength(4);
    expect((await repository.execute(plan, { autostash: false })).outcome).toBe('committed');
    expect(fixture.git(root, 'status', '--porcelain')).toBe('');
  });

  test('puts edits aside and back with autostash, whatever is there already', async () => {
    await using fixture = new GitFixture();
    const { root, repository, id } = await started(fixture);
    await repository.execute(await repository.plan(id, { ...ask, paths: ['a.txt', 'dir'] }), { autostash: false });
    put(root, 'b.txt', 'b\nmine\n');
    fixture.git(root, 'reset', '-q', '--', 'dir');
    const result = await repository.execute(await repository.plan(id, ask), { autostash: true });
    expect(result.conflicts).toEqual(['b.txt']);
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('A\n');
    expect(readFileSync(join(root, 'dir/new.txt'), 'utf8')).toBe('n\n');
  });
});
