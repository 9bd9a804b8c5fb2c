import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { RepositoryFixture } from '@litterbox/testing';
import type { Sandbox } from 'e2b';
import { createLitterbox, type Litterbox } from 'litterbox';
import { served } from './served.ts';

/** Polls without a limit of its own: the test has one. */
async function eventually(isSo: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 50));
}

describe('the official client and real sandboxes', () => {
  let fixture: RepositoryFixture;
  let litterbox: Litterbox;
  let opened: Awaited<ReturnType<typeof served>>;
  let sandbox: Sandbox;

  beforeAll(async () => {
    fixture = new RepositoryFixture();
    const { repository: repo, stateDirectory } = fixture;
    litterbox = fixture.use(createLitterbox({ repo, stateDirectory, providers: [overlayfs] }));
    opened = await served(litterbox);
    sandbox = await opened.client.Sandbox.create();
  });

  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
    for (const { name } of await litterbox.list()) await litterbox.delete(name, { force: true });
    await fixture[Symbol.asyncDispose]();
  });

  it('a command in the background is talked to, found again, and killed', async () => {
    const heard: string[] = [];
    const handle = await sandbox.commands.run('while read line; do echo "got $line"; done; echo end >&2', {
      background: true,
      stdin: true,
      onStdout: (text) => void heard.push(text),
    });
    await handle.sendStdin('one\n');
    await eventually(() => heard.join('') === 'got one\n');
    expect(await sandbox.commands.list()).toMatchObject([{ pid: handle.pid, cmd: '/bin/bash', cwd: '/home/user' }]);
    await handle.closeStdin();
    expect(await handle.wait()).toMatchObject({ exitCode: 0, stdout: 'got one\n', stderr: 'end\n' });

    const long = await sandbox.commands.run('sleep 1000', { background: true });
    expect(await sandbox.commands.kill(long.pid)).toBe(true);
    await expect(long.wait()).rejects.toMatchObject({ exitCode: -1, error: 'signal: killed' });
    expect(await sandbox.commands.kill(long.pid)).toBe(false);
    expect(await sandbox.commands.list()).toEqual([]);
  });

  it('FC-463: a directory of more names than one answer takes is an error, and no shorter list', async () => {
    await sandbox.commands.run('mkdir -p many/below; cd many/below; seq 10000 | xargs touch');
    await expect(sandbox.files.list('many', { depth: 2 })).rejects.toThrow(/more than 10000 names/);
    await sandbox.files.remove('many');
  });

  it('output is UTF-8 and bytes in their order, whatever its chunks', async () => {
    const text = 'äöü€😀';
    const { stdout } = await sandbox.commands.run(`for i in $(seq 20000); do echo ${text}; done`);
    expect(stdout).toBe(`${text}\n`.repeat(20_000));
  });

  it('what it did is one diff, and a person takes it', async () => {
    await sandbox.files.write('made.txt', 'made\n');
    await sandbox.commands.run('echo more >>made.txt');
    const { name = '' } = await sandbox.getInfo();
    const same = await litterbox.open(name);
    expect(await same.diff()).toContain('+made\n+more');
    expect((await same.log()).map(({ subject }) => subject)[0]).toContain('echo more >>made.txt');
  });

  it('files are looked at, moved, made and removed', async () => {
    const { files } = sandbox;
    await files.write('look/run.sh', '#!/bin/sh\n');
    await sandbox.commands.run('chmod 750 look/run.sh; ln -s run.sh look/link; ln -s nowhere look/broken');
    expect(await files.getInfo('look/run.sh')).toMatchObject({
      name: 'run.sh',
      type: 'file',
      path: '/home/user/look/run.sh',
      size: 10,
      mode: 0o750,
      permissions: '-rwxr-x---',
      owner: expect.stringMatching(/./),
    });
    expect(await files.getInfo('look/link')).toMatchObject({ type: 'file', symlinkTarget: 'run.sh' });
    expect(await files.getInfo('look/broken')).toMatchObject({ type: 'symlink', symlinkTarget: 'nowhere' });
    expect((await files.list('/home/user/look')).map(({ name }) => name).sort()).toEqual(['broken', 'link', 'run.sh']);
    expect(await files.makeDir('deep/er')).toBe(true);
    expect(await files.makeDir('deep/er')).toBe(false);
    await files.rename('look/run.sh', 'deep/moved/run.sh');
    expect(await files.exists('look/run.sh')).toBe(false);
    expect((await files.list('deep', { depth: 3 })).map(({ path }) => path).sort()).toEqual([
      '/home/user/deep/er',
      '/home/user/deep/moved',
      '/home/user/deep/moved/run.sh',
    ]);
    await expect(files.rename('missing', 'x')).rejects.toMatchObject({ name: 'FileNotFoundError' });
    await expect(files.rename('look/link', 'deep')).rejects.toMatchObject({ name: 'InvalidArgumentError' });
    await files.remove('deep');
    await files.remove('deep');
    expect(await files.exists('deep')).toBe(false);
    await expect(files.read('look')).rejects.toMatchObject({ name: 'InvalidArgumentError' });
    await expect(files.list('missing')).rejects.toMatchObject({ name: 'FileNotFoundError' });
    await expect(files.write('.git/config', 'x')).rejects.toThrow('403');
  });

  it('files stream, packed or not, and by signed addresses', async () => {
    const bytes = new Uint8Array(3 * 2 ** 20).map((_, at) => at % 251);
    const stream = () => new Blob([bytes]).stream();
    await sandbox.files.write('/tmp/streamed', stream());
    await sandbox.files.write('/tmp/packed', bytes.buffer, { gzip: true });
    const isSame = (read: ArrayBuffer | Uint8Array) => Buffer.compare(Buffer.from(read as Uint8Array), bytes) === 0;
    expect(isSame(await sandbox.files.read('/tmp/streamed', { format: 'bytes' }))).toBe(true);
    const read = await sandbox.files.read('/tmp/packed', { format: 'stream' });
    expect(isSame(await new Response(read).arrayBuffer())).toBe(true);
    expect(await sandbox.files.read('/dev/null').catch(({ name }) => name)).toBe('InvalidArgumentError');

    const form = new FormData();
    form.append('file', new Blob(['signed']), 'x');
    const up = await sandbox.uploadUrl('/tmp/signed', { useSignatureExpiration: 60 });
    expect((await fetch(up, { method: 'POST', body: form })).status).toBe(200);
    const down = await sandbox.downloadUrl('/tmp/signed');
    expect(await (await fetch(down)).text()).toBe('signed');
    expect((await fetch(down.replace('signed&', 'packed&').replace('%2Fsigned', '%2Fpacked'))).status).toBe(401);
    expect((await fetch(await sandbox.downloadUrl('/tmp/signed', { useSignatureExpiration: -1 }))).status).toBe(401);
    expect((await fetch(down, { method: 'POST', body: form })).status).toBe(401);
  });

  it('a watch tells what changes', async () => {
    const events: string[] = [];
    await sandbox.files.makeDir('watched');
    const watch = await sandbox.files.watchDir('watched', ({ name, type }) => void events.push(`${type} ${name}`));
    const heard = async (...wanted: string[]) => {
      await eventually(() => wanted.every((one) => events.includes(one)));
      events.length = 0;
    };
    await sandbox.files.write('watched/a', 'one');
    await heard('create a', 'write a');
    await sandbox.files.write('watched/a', 'two');
    await heard('write a');
    await sandbox.commands.run('mv watched/a watched/b; chmod 700 watched');
    await heard('rename a', 'create b');
    await sandbox.files.remove('watched/b');
    await heard('remove b');
    await watch.stop();
    await expect(sandbox.files.watchDir('missing', () => {})).rejects.toMatchObject({ name: 'FileNotFoundError' });
  });

  it('a terminal is one', async () => {
    let screen = '';
    const decoder = new TextDecoder();
    const terminal = await sandbox.pty.create({
      cols: 91,
      rows: 21,
      onData: (bytes) => void (screen += decoder.decode(bytes)),
    });
    await sandbox.pty.sendInput(terminal.pid, new TextEncoder().encode('stty size; tty\n'));
    await eventually(() => screen.includes('21 91') && screen.includes('/dev/pts/'));
    await sandbox.pty.resize(terminal.pid, { cols: 92, rows: 22 });
    await sandbox.pty.sendInput(terminal.pid, new TextEncoder().encode('stty size; exit\n'));
    await terminal.wait();
    expect(screen).toContain('22 92');
  });

  it('forks are sandboxes of their own', async () => {
    await sandbox.files.write('/tmp/before', 'kept');
    const [fork] = await sandbox.fork({ count: 1 });
    if (!fork || fork instanceof Error) throw fork ?? new Error('There is no fork.');
    await fork.files.write('only-here', 'x');
    expect(await sandbox.files.exists('only-here')).toBe(false);
    expect(await fork.kill()).toBe(true);
  });

  it('a snapshot is a template', async () => {
    await sandbox.files.write('/home/agent/state', 'one');
    const { snapshotId, names } = await sandbox.createSnapshot({ name: 'step-one' });
    expect(names).toEqual(['step-one']);
    await sandbox.files.write('/home/agent/state', 'two');
    const { Sandbox: Made } = opened.client;
    const made = await Made.create(snapshotId, { metadata: { from: 'snapshot' } });
    expect(await made.files.read('/home/agent/state')).toBe('one');
    expect(await sandbox.listSnapshots().nextItems()).toEqual([{ snapshotId, names }]);
    await expect(Made.create(snapshotId, { envs: { A: 'b' } })).rejects.toThrow('environment');
    await made.kill();
    expect(await Made.deleteSnapshot(snapshotId)).toBe(true);
    expect(await Made.deleteSnapshot(snapshotId)).toBe(false);
    await expect(Made.create(snapshotId)).rejects.toThrow('There is no snapshot');
  });

  it('what cannot be honoured is refused by name', async () => {
    const { Sandbox: Made } = opened.client;
    await expect(Made.create('other')).rejects.toThrow('There is no template "other".');
    await expect(Made.create({ allowInternetAccess: true })).rejects.toThrow('network.allowOut');
    await expect(Made.create({ metadata: { 'e2b/x': '1' } })).rejects.toThrow('are taken');
    await expect(Made.create({ metadata: { 'two words': '1' } })).rejects.toThrow('labels');
    await expect(Made.create({ volumeMounts: { '/x': 'y' } })).rejects.toThrow('volumeMounts');
    await expect(Made.create({ envs: { LD_PRELOAD: 'x' } })).rejects.toThrow('LD_PRELOAD');
    await expect(Made.create({ timeoutMs: 1e10 })).rejects.toThrow('400');
    await expect(sandbox.commands.run('true', { user: 'root' })).rejects.toThrow('Leave the user out');
    await expect(sandbox.files.read('made.txt', { user: 'root' })).rejects.toThrow('Leave the user out');
    await expect(sandbox.getMetrics()).rejects.toThrow('501');
    await expect(sandbox.files.write('x', 'x', { metadata: { a: 'b' } })).rejects.toMatchObject({
      name: 'TemplateError',
    });
    expect((await litterbox.list()).length).toBe(1);
  });

  it('FC-390: a command is found by its number after its client has gone, and ends with all it started at its time limit', async () => {
    await sandbox.commands.run('mkfifo /tmp/gate');
    const left = await sandbox.commands.run('read line </tmp/gate; echo "$line"; exit 4', {
      background: true,
      timeoutMs: 0,
    });
    await left.disconnect();
    const again = await sandbox.commands.connect(left.pid, { timeoutMs: 0 });
    await sandbox.commands.run('echo opened >/tmp/gate');
    await expect(again.wait()).rejects.toMatchObject({ exitCode: 4, stdout: 'opened\n' });

    await expect(sandbox.commands.run('sleep 987 & sleep 986', { timeoutMs: 500 })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    const count = 'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -c "sleep 98[67]" || true';
    await eventually(async () => (await sandbox.commands.run(count)).stdout === '0\n');
  });

  it('FC-392: to connect never takes time from a sandbox', async () => {
    const { endAt } = await sandbox.getInfo();
    await opened.client.Sandbox.connect(sandbox.sandboxId, { timeoutMs: 1_000 });
    expect((await sandbox.getInfo()).endAt).toEqual(endAt);
    await opened.client.Sandbox.connect(sandbox.sandboxId, { timeoutMs: 3_600_000 });
    expect((await sandbox.getInfo()).endAt.getTime()).toBeGreaterThan(endAt.getTime());
  });

  it('FC-393: files and processes are there after each pause', async () => {
    const waiting = await sandbox.commands.run('while [ ! -e /tmp/enough ]; do sleep 0.1; done; echo woke >woke', {
      background: true,
      timeoutMs: 0,
    });
    waiting.wait().catch(() => {});
    for (const round of ['one', 'two', 'three']) {
      await sandbox.files.write(`round-${round}`, round);
      expect(await sandbox.pause()).toBe(true);
      expect(await sandbox.pause()).toBe(false);
      expect(await sandbox.isRunning()).toBe(false);
      await expect(sandbox.commands.run('true')).rejects.toMatchObject({ name: 'SandboxNotFoundError' });
      await expect(sandbox.files.read('made.txt')).rejects.toMatchObject({ name: 'TimeoutError' });
      expect(await opened.client.Sandbox.list({ query: { state: ['paused'] } }).nextItems()).toHaveLength(1);
      await sandbox.connect();
      expect(await sandbox.files.read(`round-${round}`)).toBe(round);
    }
    expect((await sandbox.commands.run('cat round-*')).stdout).toBe('onethreetwo');
    expect((await sandbox.commands.list()).map(({ pid }) => pid)).toContain(waiting.pid);
    await sandbox.files.write('/tmp/enough', '');
    await eventually(async () => await sandbox.files.exists('woke'));
  });

  it('FC-394: a resume without a body resumes', async () => {
    await sandbox.pause({ keepMemory: false });
    const path = `/sandboxes/${sandbox.sandboxId}/resume`;
    const resumed = await fetch(`${opened.server.url}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': opened.options.apiKey },
    });
    expect([resumed.status, await sandbox.isRunning()]).toEqual([201, true]);
  });

  it('FC-395: a pause takes no time from a sandbox, and FC-397: one whose time is over is paused where that was asked for', async () => {
    const { Sandbox: Made } = opened.client;
    const kept = await Made.create({ timeoutMs: 2_000, lifecycle: { onTimeout: 'pause', autoResume: true } });
    await kept.files.write('kept', 'kept');
    const running = async () =>
      (await Made.list({ query: { state: ['running'] } }).nextItems()).map(({ sandboxId }) => sandboxId);
    await eventually(async () => !(await running()).includes(kept.sandboxId));
    expect((await kept.getInfo()).state).toBe('paused');
    expect(await kept.files.read('kept')).toBe('kept'); // this wakes it
    await kept.pause();
    await kept.connect({ timeoutMs: 60_000 });
    expect((await kept.getInfo()).endAt.getTime()).toBeGreaterThan(Date.now() + 30_000);
    await kept.kill();

    const gone = await Made.create({ timeoutMs: 1_000 });
    await eventually(async () => !(await running()).includes(gone.sandboxId));
    await expect(gone.commands.run('true')).rejects.toMatchObject({ name: 'SandboxNotFoundError' });
    await expect(Made.connect(gone.sandboxId)).rejects.toMatchObject({ name: 'SandboxNotFoundError' });
  });

  it('FC-396: a file of 20 MB arrives whole, and one that is too large is refused', async () => {
    const bytes = new Uint8Array(20_000_000).fill(7);
    await sandbox.files.write('/tmp/large', bytes.buffer);
    expect((await sandbox.commands.run('wc -c </tmp/large')).stdout.trim()).toBe('20000000');
    await expect(sandbox.files.write('/tmp/larger', new Uint8Array(2 ** 26 + 2 ** 20).buffer)).rejects.toThrow();
    expect(await sandbox.files.exists('/tmp/larger')).toBe(false);
  });

  it('FC-398: every call goes where the options say, and one server finds the sandboxes of another', async () => {
    await using other = await served(litterbox);
    const same = await other.client.Sandbox.connect(sandbox.sandboxId);
    expect(await same.files.read('made.txt')).toBe('made\nmore\n');
    // The other server knows the first time of it alone, and leaves it to the one that made it.
    const long = await opened.client.Sandbox.create({ timeoutMs: 1_000 });
    await long.setTimeout(3_600_000);
    const short = await other.client.Sandbox.create({ timeoutMs: 2_000 });
    const there = async () => (await other.client.Sandbox.list().nextItems()).map(({ sandboxId }) => sandboxId);
    await eventually(async () => !(await there()).includes(short.sandboxId));
    expect(await there()).toContain(long.sandboxId);
    await long.pause();
    await expect(long.setTimeout(1_000)).rejects.toThrow('its time stands still');
    await long.kill();
    expect(sandbox.getHost(3000)).toBe(`3000-${sandbox.sandboxId}.localhost:${new URL(opened.server.url).port}`);
  });

  it('FC-399: without its token nobody reaches a sandbox, whatever it was made with (AX151)', async () => {
    const { url } = opened.server;
    const { Sandbox: Made } = opened.client;
    const other = await Made.create({ secure: false });
    const call = async (path: string, headers: Record<string, string>, method = 'POST') =>
      (await fetch(`${url}${path}`, { method, headers, ...(method === 'POST' && { body: '{}' }) })).status;
    const json = { 'content-type': 'application/json' };
    const named = { ...json, 'E2b-Sandbox-Id': sandbox.sandboxId };
    const [token] = Object.entries(other).flatMap(([key, value]) => (key === 'envdAccessToken' ? [String(value)] : []));
    if (token === undefined) throw new Error('There is no token.');
    expect(await call('/process.Process/List', named)).toBe(401);
    expect(await call('/process.Process/List', { ...named, 'X-Access-Token': token })).toBe(401);
    expect(await call('/process.Process/List', { ...named, 'X-Access-Token': opened.options.apiKey })).toBe(401);
    expect(await call('/files?path=made.txt', { 'X-Access-Token': token }, 'GET')).toBe(401);
    expect(await call('/sandboxes', json)).toBe(401);
    expect(await call('/v2/sandboxes', { 'x-api-key': token }, 'GET')).toBe(401);
    const mine = await litterbox.create({ name: 'not-of-the-protocol' });
    expect(await Made.kill(mine.id)).toBe(false);
    expect((await litterbox.list()).map(({ name }) => name)).toContain('not-of-the-protocol');
    await mine.delete({ force: true });
    await other.kill();
  });

  it('AX152: a page of the web gets nothing, by its origin or by its name', async () => {
    const { url } = opened.server;
    const headers = { 'x-api-key': opened.options.apiKey };
    expect((await fetch(`${url}/sandboxes`, { headers: { ...headers, origin: 'https://example.org' } })).status).toBe(
      403,
    );
    const { port } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.end(
      `GET /sandboxes HTTP/1.1\r\nHost: evil.example:${port}\r\nX-API-KEY: ${opened.options.apiKey}\r\nConnection: close\r\n\r\n`,
    );
    let answer = '';
    socket.on('data', (bytes) => void (answer += bytes.toString()));
    await once(socket, 'close');
    expect(answer).toContain(' 403 ');
  });

  it('AX153: hostile messages are refused, and the server goes on', async () => {
    const { url } = opened.server;
    const [token] = Object.entries(sandbox).flatMap(([key, value]) =>
      key === 'envdAccessToken' ? [String(value)] : [],
    );
    const headers = { 'E2b-Sandbox-Id': sandbox.sandboxId, 'X-Access-Token': token ?? '' };
    const post = async (path: string, type: string, body: string | Uint8Array<ArrayBuffer>, more = {}) => {
      const answer = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': type, ...more },
        body,
      });
      return [answer.status, await answer.text()] as const;
    };
    const [json, stream] = ['application/json', 'application/connect+json'];
    expect((await post('/process.Process/List', json, '{'))[0]).toBe(400);
    expect((await post('/process.Process/constructor', json, '{}'))[0]).toBe(501);
    expect((await post('/process.Process/List', 'application/proto', '{}'))[0]).toBe(501);
    expect((await post('/filesystem.Filesystem/Stat', json, '['.repeat(1e6)))[0]).toBe(400);
    expect((await post('/filesystem.Filesystem/Stat', json, JSON.stringify({ path: 'a\0b' })))[0]).toBe(400);
    expect(
      (await post('/filesystem.Filesystem/Stat', json, JSON.stringify({ path: '../../../etc/shadow-of-nobody' })))[0],
    ).toBe(404);
    expect((await post('/process.Process/Start', stream, new Uint8Array([0, 255, 255, 255, 255])))[1]).toContain(
      'invalid_argument',
    );
    expect((await post('/process.Process/Start', stream, new Uint8Array([1, 0, 0, 0, 0])))[1]).toContain(
      'unimplemented',
    );
    expect(
      (await post('/files?path=/tmp/x', 'application/octet-stream', 'no gzip', { 'content-encoding': 'gzip' }))[0],
    ).toBe(400);
    expect((await post('/files?path=/tmp/x', 'multipart/form-data; boundary=x', '--y'))[0]).toBe(400);
    expect(
      (
        await post('/process.Process/SendInput', json, JSON.stringify({ process: { pid: 1 }, input: { stdin: '%' } }))
      )[0],
    ).toBe(400);
    expect((await sandbox.commands.run('echo on')).stdout).toBe('on\n');
  });

  it('AX154: a client that does not read holds its command back, and nothing else', async () => {
    const { url } = opened.server;
    const [token] = Object.entries(sandbox).flatMap(([key, value]) =>
      key === 'envdAccessToken' ? [String(value)] : [],
    );
    const message = Buffer.from(
      JSON.stringify({ process: { cmd: 'sh', args: ['-c', 'yes >/dev/stdout; :'] }, tag: 'yes' }),
    );
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.pause();
    socket.write(
      [
        'POST /process.Process/Start HTTP/1.1',
        `Host: ${new URL(url).host}`,
        `E2b-Sandbox-Id: ${sandbox.sandboxId}`,
        `X-Access-Token: ${token}`,
        'Content-Type: application/connect+json',
        `Content-Length: ${message.length + 5}`,
        '\r\n',
      ].join('\r\n'),
    );
    socket.write(Buffer.concat([head, message]));
    await eventually(async () => (await sandbox.commands.list()).some(({ tag }) => tag === 'yes'));
    // It prints for ever: only so much came as fits into pipes and buffers.
    const written = `for p in /proc/[0-9]*; do [ "$(cat $p/comm 2>/dev/null)" = yes ] && sed -n 's/^wchar: //p' $p/io; done; :`;
    const bytes = async () => Number((await sandbox.commands.run(written)).stdout);
    await eventually(async () => (await bytes()) > 2 ** 16);
    let before = 0;
    await eventually(async () => {
      const now = await bytes();
      const isHeld = now === before;
      before = now;
      return isHeld;
    });
    expect(before).toBeLessThan(32 * 2 ** 20);
    socket.destroy();
    for (const { pid, tag } of await sandbox.commands.list()) if (tag === 'yes') await sandbox.commands.kill(pid);
    await eventually(async () => (await sandbox.commands.list()).every(({ tag }) => tag !== 'yes'));
  });
});
