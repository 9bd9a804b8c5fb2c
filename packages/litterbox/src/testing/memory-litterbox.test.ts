import { expect, test } from '@jest/globals';
import { memoryLitterbox, type ScriptedCommand } from '../testing.ts';

test('the main job without a machine: create, run, look, merge', async () => {
  const seen: ScriptedCommand['command'][] = [];
  await using litterbox = memoryLitterbox({
    files: { 'src/login.js': 'old\n', 'logo.png': Uint8Array.of(0xff, 0) },
    run({ command, files }) {
      seen.push(command);
      if (command !== 'npm test') return undefined;
      files.write('report/out.txt', `tested ${files.read('src/login.js')}`);
      return { exitCode: 1, stdout: 'ok 1\n', stderr: 'not ok 2\n' };
    },
  });
  const { repository } = litterbox;
  const sandbox = await litterbox.create({ name: 'fix', labels: { task: 'login' } });
  await sandbox.files.write('src/login.js', 'new\n', { message: 'Check the password' });
  const ran = await sandbox.run('npm test');
  expect(ran).toMatchObject({ exitCode: 1, stdout: 'ok 1\n', stderr: 'not ok 2\n', timedOut: false, shell: 'bash' });
  expect(ran.recorded.revision?.number).toBe(2);
  expect((await sandbox.run('cat report/out.txt; echo more >>src/login.js')).stdout).toBe('tested new\n');
  expect(seen).toEqual(['npm test', 'cat report/out.txt; echo more >>src/login.js']);
  expect(await sandbox.files.read('logo.png')).toEqual(Uint8Array.of(0xff, 0));
  expect(await sandbox.diff()).toContain('+new');
  expect((await sandbox.changes()).map(({ path }) => path)).toEqual(['report/out.txt', 'src/login.js']);
  expect((await sandbox.log()).map(({ subject }) => subject).at(-1)).toBe('Check the password');
  expect((await litterbox.list('repository', { labels: { task: 'login' } })).map(({ name }) => name)).toEqual(['fix']);
  expect(await litterbox.list('repository', { labels: { task: 'other' } })).toEqual([]);

  expect(repository.read('src/login.js')).toBe('old\n');
  await sandbox.apply({ paths: ['report/out.txt'] });
  expect(repository.paths()).toEqual(['logo.png', 'report/out.txt', 'src/login.js']);
  repository.commit('The report');
  await sandbox.merge();
  expect(repository.read('src/login.js')).toBe('new\nmore\n');
  expect(repository.readBytes('logo.png')).toEqual(Uint8Array.of(0xff, 0));
  expect(repository.log().at(-1)).toBe('one');
  expect(await litterbox.list()).toEqual([]);
});

test('a program with arguments is asked for as well, with its directory, variables and input', async () => {
  await using litterbox = memoryLitterbox({
    files: { 'below/a.txt': 'a\n' },
    async run({ command, text, cwd, env, files, stdin, print, printError }) {
      if (text !== 'npm run build') return undefined;
      await print('building\n');
      await printError('slow\n');
      files.write('tool', '#!/bin/sh\necho made\n', { executable: true });
      files.remove('a.txt');
      return JSON.stringify([command, cwd, env['MODE'], await stdin(), files.list()]);
    },
  });
  const sandbox = await litterbox.create();
  const heard: string[] = [];
  const { stdout, stderr, exitCode } = await sandbox.run(['npm', 'run', 'build'], {
    cwd: 'below',
    env: { MODE: 'fast' },
    stdin: 'typed',
    onStdout: (text) => void heard.push(text),
  });
  const answer = ['building\n', JSON.stringify([['npm', 'run', 'build'], '/src/below', 'fast', 'typed', ['tool']])];
  expect({ stdout, stderr, exitCode }).toEqual({ stdout: answer.join(''), stderr: 'slow\n', exitCode: 0 });
  expect(heard.join('')).toBe(stdout);
  expect((await sandbox.run('./below/tool')).stdout).toBe('made\n');
  expect((await sandbox.run(['cargo', 'test'])).exitCode).toBe(127);
  expect((await sandbox.run(['cat', 'below/a.txt'])).stderr).toContain('No such file');

  const spawned = await sandbox.spawn(['npm', 'run', 'build'], { cwd: 'below' });
  await spawned.stdin.close();
  expect((await spawned.wait()).exitCode).toBe(0);
});

test('without a repository a sandbox begins with files', async () => {
  await using litterbox = memoryLitterbox({ repo: false });
  const sandbox = await litterbox.create({ name: 'given', files: { 'a/b': 'one\n', c: Uint8Array.of(0xff) } });
  await sandbox.run('echo two >>a/b');
  expect((await sandbox.changes()).map(({ path, status }) => [path, status])).toEqual([['a/b', 'modified']]);
  const archive = Buffer.from(await new Response(await sandbox.files.archive()).arrayBuffer());
  expect(archive.toString()).toContain('one\ntwo\n');
  await expect(sandbox.merge()).rejects.toMatchObject({ code: 'NO_REPOSITORY' });
  await expect(litterbox.create({ files: { a: '', 'a/b': '' } })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  await sandbox.delete({ force: true });
  expect(() => memoryLitterbox({ repo: false, files: { a: '' } })).toThrow('Without a repository');
});

test('forks, ephemeral sandboxes, snapshots and restore are as they are on a machine', async () => {
  const litterbox = memoryLitterbox({ files: { a: 'one\n' } });
  const sandbox = await litterbox.create({ name: 'first', ephemeral: true });
  await sandbox.run('echo two >>a');
  const fork = await sandbox.fork({ name: 'second' });
  await sandbox.snapshot({ label: 'before' });
  await fork.run('echo three >>a');
  await sandbox.undo();
  expect(await sandbox.files.readText('a')).toBe('one\n');
  expect(await fork.files.readText('a')).toBe('one\ntwo\nthree\n');
  await sandbox.restoreSnapshot('before');
  expect(await sandbox.files.readText('a')).toBe('one\ntwo\n');
  await sandbox[Symbol.asyncDispose]();
  expect((await litterbox.list()).map(({ name }) => name)).toEqual(['second']);
  await expect(fork.delete()).rejects.toMatchObject({ code: 'UNMERGED_WORK' });
  await fork.delete({ force: true });
  expect(await litterbox.list()).toEqual([]);
  expect((await litterbox.probe()).map(({ provider, report }) => [provider, report.usable])).toEqual([
    ['memory', true],
  ]);
  await litterbox[Symbol.asyncDispose]();
});

test('a snapshot has an id, of which other sandboxes are made', async () => {
  await using litterbox = memoryLitterbox({ files: { a: 'one\n' } });
  const first = await litterbox.create({ name: 'first' });
  await first.run('echo two >>a');
  const { id } = await first.snapshot();
  expect((await first.snapshots()).map((snapshot) => snapshot.id)).toEqual([id]);
  await first.run('echo three >>a');
  const second = await litterbox.create({ from: id, name: 'second', labels: { of: 'first' } });
  expect([second.name, second.created.warnings, await second.created.leftOut]).toEqual([
    'second',
    [],
    { paths: [], total: 0 },
  ]);
  expect(await second.files.readText('a')).toBe('one\ntwo\n');
  expect(await first.files.readText('a')).toBe('one\ntwo\nthree\n');
  await expect(litterbox.create({ from: id, memoryBytes: 2 ** 30 })).rejects.toThrow('memoryBytes');
  await expect(litterbox.create({ from: `${id}x` })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(litterbox.create({ from: 'snapshot:s1' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await first.delete({ force: true });
  await expect(litterbox.create({ from: id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('ephemeral forks of a sandbox that is kept go with their object or the Litterbox', async () => {
  const litterbox = memoryLitterbox({ repo: false });
  const base = await litterbox.create({ name: 'base', files: { a: 'one\n' } });
  const names = async () => (await litterbox.list()).map(({ name }) => name);
  {
    await using fork = await base.fork({ name: 'one', ephemeral: true, labels: { of: 'base' } });
    await fork.files.write('a', 'two\n');
    expect((await litterbox.list('repository', { labels: { of: 'base' } })).map(({ name }) => name)).toEqual(['one']);
    await (await (await litterbox.open('one')).refresh())[Symbol.asyncDispose](); // an object that does not hold it
    expect(await names()).toEqual(['base', 'one']);
  }
  expect(await names()).toEqual(['base']);
  await base.forks(2, { ephemeral: true });
  await (await litterbox.open('base')).fork({ name: 'four', ephemeral: true });
  expect(await names()).toEqual(['base', 'base-2', 'base-3', 'four']);
  await litterbox[Symbol.asyncDispose]();
});

test('a script that waits for ever is ended by its time limit and by an abort', async () => {
  await using litterbox = memoryLitterbox({ run: () => new Promise<never>(() => {}) });
  const sandbox = await litterbox.create();
  expect(await sandbox.run('sleep', { timeoutMs: 20 })).toMatchObject({ timedOut: true });
  const reason = new Error('enough');
  await expect(sandbox.run('sleep', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});

test('a script that throws fails the command, and disposing tells the error', async () => {
  const litterbox = memoryLitterbox({
    run() {
      throw new Error('my bug');
    },
  });
  const sandbox = await litterbox.create();
  expect(await sandbox.run('anything')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('my bug') });
  await expect(litterbox[Symbol.asyncDispose]()).rejects.toThrow('my bug');
});

test('hostile paths and wrong options are refused as on a machine', async () => {
  await using litterbox = memoryLitterbox();
  await expect(litterbox.create({ nothing: 1 } as never)).rejects.toMatchObject({ code: 'ARG_UNKNOWN' });
  const sandbox = await litterbox.create();
  await expect(sandbox.files.write('.git/config', 'x')).rejects.toMatchObject({ code: 'PATH_GIT_DIR' });
  await expect(sandbox.files.read('absent')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(litterbox.open('nobody')).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' });
});

test('a command is kept only where a program can keep it', async () => {
  await using litterbox = memoryLitterbox();
  const sandbox = await litterbox.create();
  await expect(sandbox.spawn('sleep 1', { keep: true })).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  await expect(sandbox.kept('none').status()).rejects.toMatchObject({ code: 'SERVICE_NOT_FOUND' });
});
