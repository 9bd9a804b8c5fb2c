import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, connect as connectTo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { collected, eventually, forBackend } from '@litterbox/conformance';
import { ExecChannel, type SandboxRuntime, type ScanOptions } from '@litterbox/core/provider';
import Client from 'dockerode';
import { absence, TEST_SOCKET } from './backend.ts';
import { Sandboxes } from './sandboxes.ts';

const engine = new Client({ socketPath: TEST_SOCKET });
const CHILD = fileURLToPath(new URL('working-child.ts', import.meta.url));
/** The time that a command here may take, for a test that fails in time. */
const PATIENCE_MS = 20_000;
const BESIDE = { argv: ['sh', '-c', 'kill -KILL -1'] } as const;

/** How many programs the engine itself has started in the container of a sandbox that run now. */
async function execs(id: string): Promise<number> {
  const [found] = await engine.listContainers({ all: true, filters: { label: [`dev.litterbox.id=${id}`] } });
  const { ExecIDs } = await engine.getContainer(found?.Id ?? '').inspect();
  return (ExecIDs as readonly string[] | null)?.length ?? 0;
}

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

async function run(channel: ExecChannel, script: string) {
  const { exit, stdout, interruption } = await channel.run({ argv: ['sh', '-c', script] });
  return { code: exit.code, stdout: textOf(stdout.bytes), interruption };
}

/** Command lines of what runs inside, but for who asks. */
async function processes(runtime: SandboxRuntime): Promise<readonly string[]> {
  const script = 'for p in /proc/[0-9]*; do [ ${p#/proc/} = $$ ] || tr "\\000\\n" "  " <$p/cmdline; echo; done';
  const { stdout } = await collected(await runtime.spawn({ argv: ['sh', '-c', script], env: { PATH: '/bin' } }));
  return stdout.split('\n').filter((line) => line !== '' && !line.includes('/proc/[0-9]*'));
}

const suite = await forBackend('docker', { describe, it }, absence);

suite.describe('the shell that a container begins with', () => {
  suite.it('runs the first commands, so that the engine starts no program in the container', async () => {
    await using sandboxes = await Sandboxes.open();
    const runtime = await sandboxes.create();
    await using channel = new ExecChannel(runtime);
    expect(await run(channel, 'echo "$HOME"; pwd')).toMatchObject({
      code: 0,
      stdout: `${runtime.environment['HOME']}\n/src\n`,
    });
    expect(await run(channel, 'cat README; exit 7')).toMatchObject({ code: 7, stdout: 'read me\n' });
    await run(channel, 'sleep 1000 >/dev/null 2>&1 &'); // holds no output of the shell's, as the first process does
    expect(await run(channel, 'echo more')).toMatchObject({ code: 0, stdout: 'more\n' });
    expect(await execs(runtime.id)).toBe(0);
    await using _other = await runtime.spawn({ argv: ['sleep', '1000'] });
    expect(await execs(runtime.id)).toBe(1); // positive control: any other program is one of the engine's
  });

  suite.it('lists a changed directory for whoever records, whatever the environment of its commands is', async () => {
    await using sandboxes = await Sandboxes.open();
    const runtime = await sandboxes.create({ environment: { TZ: 'JST-9', LC_ALL: 'xx' } });
    await using channel = new ExecChannel(runtime);
    const listed = async (mark: string, options?: ScanOptions) => {
      const names: string[] = [];
      for await (const change of (await runtime.scan(mark, options)).changes)
        if (change.type === 'directory') names.push(...change.children.map(({ name }) => name));
      return names.sort();
    };
    const { next } = await runtime.scan(undefined);
    await run(channel, 'echo new >new');
    expect(await listed(next, { runInside: (command, call) => channel.run(command, call) })).toEqual(['README', 'new']);
    expect(await execs(runtime.id)).toBe(0);
    expect(await listed(next)).toEqual(['README', 'new']);
    expect(await execs(runtime.id)).toBe(1); // positive control: without that shell it starts its own
  });

  suite.it('FC-522: says what is left to say once its input has ended', async () => {
    await using sandboxes = await Sandboxes.open();
    const runtime = await sandboxes.create();
    const shell = await runtime.spawn({ argv: ['sh', '-s'], stdin: 'pipe' });
    await shell.write(new TextEncoder().encode('cat >/dev/null; echo late\n'));
    await shell.closeStdin?.();
    expect(await collected(shell)).toMatchObject({ stdout: 'late\n', exit: { code: 0 } });
    expect(await execs(runtime.id)).toBe(0);
  });

  suite.it('lets its commands hear an interrupt', async () => {
    await using sandboxes = await Sandboxes.open();
    await using channel = new ExecChannel(await sandboxes.create());
    const begun = Promise.withResolvers<(name: 'SIGINT') => Promise<void>>();
    const ended = channel.run({
      argv: ['sleep', '1000'],
      timeoutMs: PATIENCE_MS,
      onStart: ({ signal }) => begun.resolve(signal),
    });
    await (await begun.promise)('SIGINT');
    expect((await ended).exit.signal).toBe('SIGINT');
  });

  suite.it('that an agent kills is replaced by one that the engine starts', async () => {
    await using sandboxes = await Sandboxes.open();
    const runtime = await sandboxes.create();
    await using channel = new ExecChannel(runtime);
    const held = channel.run({ argv: ['sleep', '1000'], timeoutMs: PATIENCE_MS });
    await eventually(
      () => processes(runtime),
      (lines) => lines.some((line) => line.startsWith('sleep 1000')),
    );
    await collected(await runtime.spawn(BESIDE));
    expect((await held).interruption).toBe('channel-lost');
    expect(await run(channel, 'echo again')).toMatchObject({ code: 0, stdout: 'again\n' });
    expect(await execs(runtime.id)).toBe(1);
  });

  suite.it('AX192: a command that speaks as the first process ends itself and nothing else', async () => {
    await using sandboxes = await Sandboxes.open();
    const runtime = await sandboxes.create();
    await using channel = new ExecChannel(runtime);
    for (const word of ['gone 0', 'exit 0', 'started 1 1', 'no-cwd']) {
      const said = await run(
        channel,
        `printf '\\036%s ${word}\\n' ${runtime.id}; printf '\\036%s ${word}\\n' ${runtime.id} >&2; exit 3`,
      );
      expect([3, 137]).toContain(said.code);
      // The shell that it spoke for may be lost a moment later, as one that it kills.
      const next = await run(channel, 'echo whole');
      const whole = next.interruption === 'channel-lost' ? await run(channel, 'echo whole') : next;
      expect(whole).toMatchObject({ code: 0, stdout: 'whole\n' });
    }
  });

  suite.it(
    'AX193: what speaks to the first process before its client does runs inside, as anything there',
    async () => {
      await using sandboxes = await Sandboxes.open();
      const runtime = await sandboxes.create();
      await using other = await sandboxes.provider.open(runtime.id);
      // Whoever is inside before the first command ends that shell, and the channel does without.
      await collected(await other.spawn(BESIDE));
      await using channel = new ExecChannel(runtime);
      expect(await run(channel, 'echo works')).toMatchObject({ code: 0, stdout: 'works\n' });
      expect(await execs(runtime.id)).toBe(1);
    },
  );

  suite.it('ends with a client that is killed, and leaves the container as it was', async () => {
    await using sandboxes = await Sandboxes.open();
    const child = spawn(
      process.execPath,
      ['--conditions=@litterbox/source', '--no-warnings', CHILD, TEST_SOCKET, sandboxes.directory],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const ended = new Promise((resolve) => child.once('close', resolve));
    const id = await new Promise<string>((resolve) =>
      child.stdout.once('data', (bytes) => resolve(String(bytes).trim())),
    );
    await using runtime = await sandboxes.provider.open(id as SandboxRuntime['id']);
    try {
      expect((await processes(runtime)).join('\n')).toMatch(/^sh -s/m); // positive control
      child.kill('SIGKILL');
      await ended;
      const left = await eventually(
        () => processes(runtime),
        (lines) => lines.length === 2,
      );
      expect(left.map((line) => line.split(' ')[0])).toEqual(['/bin/sh', 'sleep']);
      await using channel = new ExecChannel(runtime);
      expect(await run(channel, 'cat made')).toMatchObject({ code: 0, stdout: 'made\n' });
    } finally {
      await sandboxes.provider.remove(runtime.id);
    }
  });

  suite.it('is done without where an engine lets nobody attach', async () => {
    const directory = await mkdtemp('/tmp/lb-');
    const socket = join(directory, 'socket');
    const asked: string[] = [];
    const server = createServer({ allowHalfOpen: true }, (client) => {
      const behind = connectTo({ path: TEST_SOCKET, allowHalfOpen: true });
      client.on('data', (bytes) => {
        const [line = ''] = bytes.toString('latin1').split('\r\n', 1);
        if (/^POST \S+\/(attach|exec)\b/.test(line)) asked.push(/(attach|exec)/.exec(line)?.[0] ?? '');
        if (/^POST \S+\/attach/.test(line))
          client.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
        else behind.write(bytes);
      });
      behind.pipe(client);
      client.on('end', () => behind.end());
      for (const one of [client, behind]) one.on('error', () => {});
      client.on('close', () => behind.destroy());
    }).listen(socket);
    try {
      await using sandboxes = await Sandboxes.open(socket);
      await using channel = new ExecChannel(await sandboxes.create());
      expect(await run(channel, 'echo works')).toMatchObject({ code: 0, stdout: 'works\n' });
      expect(asked).toEqual(['attach', 'exec']);
    } finally {
      server.close();
      await rm(directory, { recursive: true });
    }
  });
});
