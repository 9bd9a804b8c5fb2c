import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Experimental_SandboxSession } from 'ai';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { RepositoryFixture } from '@litterbox/testing';
import { createLitterbox, type Litterbox, type Sandbox } from 'litterbox';
import { sandboxSession } from '../src/index.ts';

describe('field cases of sandboxes in frameworks', () => {
  let fixture: RepositoryFixture;
  let litterbox: Litterbox;
  let sandbox: Sandbox;
  let session: Experimental_SandboxSession;

  beforeAll(async () => {
    fixture = new RepositoryFixture();
    const { repository: repo, stateDirectory } = fixture;
    litterbox = fixture.use(createLitterbox({ repo, stateDirectory, providers: [overlayfs] }));
    sandbox = await litterbox.create({ name: 'field', timeoutMs: 20_000, ephemeral: true });
    session = await sandboxSession(sandbox);
  });

  afterAll(async () => await fixture[Symbol.asyncDispose]());

  it('FC-370: a command that fails is a result with its output', async () => {
    expect(await session.run({ command: 'echo out; echo err >&2; exit 7' })).toEqual({
      exitCode: 7,
      stdout: 'out\n',
      stderr: 'err\n',
    });
  });

  it('FC-371: nothing of a command runs on after its time limit', async () => {
    const impatient = await litterbox.create({ name: 'impatient', timeoutMs: 1_000, ephemeral: true });
    const { run } = await sandboxSession(impatient);
    const { exitCode, stderr } = await run({ command: 'sleep 1000 & (setsid sleep 1001 &) ; echo on; sleep 1002' });
    expect(exitCode).toBe(137);
    expect(stderr).toContain('Its time limit ended it');
    const left = 'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -c "sleep 100[012]" || true';
    expect((await impatient.run(left, { timeoutMs: 60_000 })).stdout).toBe('0\n');
  });

  it('FC-372: calls beside a long command wait for their turn, and none comes back before its end', async () => {
    const [long, ...short] = await Promise.all([
      session.run({ command: 'sleep 2; echo long >>order; echo done' }),
      ...['a', 'b', 'c'].map(async (name) => await session.run({ command: `echo ${name} >>order` })),
    ]);
    expect(long).toMatchObject({ exitCode: 0, stdout: 'done\n' });
    expect(short.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    expect(await session.readTextFile({ path: 'order' })).toBe('long\na\nb\nc\n');
  });

  it('FC-373: output ends where the command ended it', async () => {
    for (const command of ['printf hello', "printf 'hello\\n'", 'printf 0', ':'])
      expect(await session.run({ command })).toEqual({
        exitCode: 0,
        stdout: command === ':' ? '' : command.slice(7).replaceAll("'", '').replace('\\n', '\n'),
        stderr: '',
      });
  });

  it('FC-374: output of any bytes is text that JSON keeps', async () => {
    const { stdout } = await session.run({ command: "printf 'caf\\351 \\355\\240\\200'" });
    expect(stdout).toMatch(/^caf\uFFFD \uFFFD+$/);
    expect(stdout.isWellFormed()).toBe(true);
  });

  it('FC-375: a command that reads its input meets the end of it', async () => {
    const { exitCode, stdout } = await session.run({
      command: 'cat; read answer || echo none; [ -t 0 ] || echo quiet',
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'none\nquiet\n' });
  });

  it('FC-376: no path is text of a command', async () => {
    const path = `'; touch injected; $(touch injected) "#\n.txt`;
    await session.writeTextFile({ path, content: 'x' });
    expect(await session.readTextFile({ path })).toBe('x');
    expect(await session.stat({ path })).toEqual({ type: 'file', size: 1 });
    expect((await session.listDirectory({ path: '.' }))?.map(({ name }) => name)).toContain(path);
    expect(await session.deleteFile({ path })).toBe(true);
    expect(await session.stat({ path: 'injected' })).toBeNull();
  });

  it('FC-377: content arrives as it is', async () => {
    const content = `const action = 'resize'; "\\n" \`$HOME\` $(id) %s \\'' \u2028 ü\r\n\0end`;
    await session.writeTextFile({ path: 'content', content });
    expect(await session.readTextFile({ path: 'content' })).toBe(content);
    expect((await session.run({ command: 'wc -c <content' })).stdout.trim()).toBe(
      String(new TextEncoder().encode(content).length),
    );
  });

  it('FC-378: a command is text for a shell', async () => {
    const { stdout } = await session.run({
      command: 'mkdir -p out && echo {a,b} | tee out/list | tr a-z A-Z; [[ -s out/list ]]',
    });
    expect(stdout).toBe('A B\n');
  });

  it('FC-379: many are made at once, a create that fails leaves nothing, and none is left', async () => {
    const names = ['one', 'two', 'three', 'four', 'five', 'six'];
    const made = await Promise.allSettled([
      ...names.map(async (name) => await litterbox.create({ name, labels: { test: 'many' } })),
      litterbox.create({ name: 'failing', setup: 'exit 3', rollback: true, labels: { test: 'many' } }),
    ]);
    expect(made.map(({ status }) => status)).toEqual([...names.map(() => 'fulfilled'), 'rejected']);
    const listed = async () => await litterbox.list('repository', { labels: { test: 'many' } });
    expect(new Set((await listed()).map(({ name }) => name))).toEqual(new Set(names));
    for (const name of names) await litterbox.delete(name, { force: true });
    expect(await listed()).toEqual([]);
  });
});
