import { describe, expect, it } from '@jest/globals';
import type { Sandbox } from 'litterbox';
import { AgentsFixture, ExecClient } from './agents-fixture.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const address = (path: string) => `file://${path}`;

/** The arguments of each process in there, with a blank behind each. Not every image has a program that lists them. */
async function programsIn(sandbox: Sandbox): Promise<readonly string[]> {
  const list = "for f in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$f; echo; done 2>/dev/null";
  return (await sandbox.run(['sh', '-c', list])).stdout.split('\n');
}

describe("Codex's exec server", () => {
  it('runs programs in the sandbox, tells their output live, and records each with the call that it was', async () => {
    await using fixture = new AgentsFixture();
    const { sandbox, url } = await fixture.seated();
    await using client = await ExecClient.ready(url);
    await client.start('a', 'echo out; echo err >&2; echo made >made.txt; exit 3');
    expect(await client.told('process/exited', 'a')).toMatchObject({ exitCode: 3, sandboxDenied: false });
    await client.told('process/closed', 'a');
    expect(client.output('a', 'stdout')).toBe('out\nerr\n');
    const sequences = client.heard.map(({ params }) => params['seq']);
    expect(sequences).toEqual([...sequences].sort());
    const [revision] = await sandbox.log();
    expect(revision?.subject).toBe('codex: echo out; echo err >&2; echo made >made.txt; exit 3');
    expect(Object.fromEntries(revision?.trailers ?? [])).toMatchObject({
      'Litterbox-Call': 'call_a',
      'Litterbox-Exit-Code': '3',
    });
    expect(fixture.git('status', '--porcelain')).toBe('');
    expect((await fixture.litterbox.audit())[0]).toMatchObject({
      operation: 'sandbox-run',
      actor: 'codex',
      input: { callId: 'call_a' },
    });
  });

  it('FC-330: gives output and errors of a call as they came, and apart of what is no call', async () => {
    await using fixture = new AgentsFixture();
    const { url } = await fixture.seated();
    await using client = await ExecClient.ready(url);
    const order = Array.from({ length: 200 }, (_, index) => `out ${index}\nerr ${index}\n`).join('');
    const command = 'i=0; while [ $i -lt 200 ]; do echo out $i; echo err $i >&2; i=$((i + 1)); done';
    await client.start('a', command);
    await client.start('own', 'echo out; echo err >&2', { metadata: null });
    for (const id of ['a', 'own']) await client.told('process/closed', id);
    expect(client.output('a', 'stdout')).toBe(order);
    expect([client.output('own', 'stdout'), client.output('own', 'stderr')]).toEqual(['out\n', 'err\n']);
  });

  it('FC-331: a shell is no login shell, which would lose the PATH of the sandbox; other programs have their words', async () => {
    await using fixture = new AgentsFixture();
    const { url, sandbox } = await fixture.seated();
    await using client = await ExecClient.ready(url);
    await sandbox.run(`echo 'PATH=/nowhere; echo login' >~/.profile`);
    await client.start('a', 'echo "$PATH"');
    await client.start('wc', '', { argv: ['wc', '-lc', 'app.txt'] });
    for (const id of ['a', 'wc']) await client.told('process/closed', id);
    expect(client.output('a', 'stdout')).toBe((await sandbox.run('echo "$PATH"')).stdout);
    expect(client.output('wc', 'stdout')).toMatch(/^ *1 +4 app\.txt\n$/); // busybox lines them up
  });

  it('gives programs input and terminals, interrupts and ends them', async () => {
    await using fixture = new AgentsFixture();
    const { url } = await fixture.seated();
    await using client = await ExecClient.ready(url);
    await client.start('tty', 'read x; echo "got $x"; test -t 1 && stty size', { tty: true });
    expect(await client.ask('process/write', { processId: 'tty', chunk: base64('abc\n') })).toEqual({
      status: 'accepted',
    });
    await client.told('process/closed', 'tty');
    expect(client.output('tty', 'pty')).toContain('got abc\r\n40 120\r\n');

    await client.start('pipe', 'cat', { pipeStdin: true });
    for (const writeId of ['1', '1', '2'])
      await client.ask('process/write', { processId: 'pipe', chunk: base64(`${writeId}\n`), writeId });
    await client.told('process/output', 'pipe', () => client.output('pipe') === '1\n2\n');
    expect(await client.ask('process/terminate', { processId: 'pipe' })).toEqual({ running: true });
    await client.told('process/closed', 'pipe');
    expect(await client.ask('process/terminate', { processId: 'pipe' })).toEqual({ running: false });

    await client.start(
      'none',
      'cat; echo ended; trap "echo caught; exit 7" INT; echo ready; while :; do sleep 0.1; done',
    );
    await client.told('process/output', 'none', () => client.output('none').endsWith('ready\n'));
    expect(await client.ask('process/write', { processId: 'none', chunk: base64('x') })).toEqual({
      status: 'stdinClosed',
    });
    expect(await client.ask('process/write', { processId: 'other', chunk: base64('x') })).toEqual({
      status: 'unknownProcess',
    });
    await client.ask('process/signal', { processId: 'none', signal: 'interrupt' });
    expect(await client.told('process/exited', 'none')).toMatchObject({ exitCode: 7 });
  });

  it('reads and changes files, and says what is not there in the way that Codex goes on from', async () => {
    await using fixture = new AgentsFixture();
    const { sandbox, url } = await fixture.seated('/home/me/project'); // as on an engine, whose workspace is elsewhere
    await using client = await ExecClient.ready(url);
    const path = (name: string) => ({ path: address(`/home/me/project/${name}`), sandbox: null });
    await expect(client.ask('fs/getMetadata', path('.git'))).rejects.toThrow('-32004: ');
    await expect(client.ask('fs/readFile', path('app.txt/below'))).rejects.toThrow('-32004: ');
    expect(await client.ask('fs/getMetadata', path('app.txt'))).toMatchObject({
      isFile: true,
      isDirectory: false,
      isSymlink: false,
      size: 4,
    });
    await client.ask('fs/createDirectory', { ...path('a/b'), recursive: true });
    await expect(client.ask('fs/createDirectory', path('a/b'))).rejects.toThrow('-32603: ');
    await client.ask('fs/writeFile', { ...path('a/b/ü c.txt'.replaceAll(' ', '%20')), dataBase64: base64('new\n') });
    await client.ask('fs/copy', {
      sourcePath: path('a').path,
      destinationPath: path('.hidden').path,
      recursive: true,
    });
    expect((await client.ask('fs/readDirectory', path('')))['entries']).toEqual([
      { fileName: '.hidden', isDirectory: true, isFile: false },
      { fileName: 'a', isDirectory: true, isFile: false },
      { fileName: 'app.txt', isDirectory: false, isFile: true },
      { fileName: 'test.sh', isDirectory: false, isFile: true },
    ]);
    await expect(client.ask('fs/remove', path('a'))).rejects.toThrow('-32603: ');
    await client.ask('fs/remove', { ...path('a'), recursive: true });
    await client.ask('fs/remove', { ...path('a'), force: true });
    expect(await client.ask('fs/readFile', path('.hidden/b/%C3%BC%20c.txt'))).toEqual({ dataBase64: base64('new\n') });
    expect((await sandbox.log()).map(({ subject }) => subject)).toEqual([
      'remove: a',
      'copy: a .hidden',
      'write: a/b/ü c.txt',
    ]);
    await expect(client.ask('fs/remove', { ...path(''), recursive: true })).rejects.toThrow('cannot be removed');
    await expect(client.ask('fs/writeFile', { ...path('.git/config'), dataBase64: '' })).rejects.toThrow('.git');
    await expect(client.ask('fs/readFile', { path: 'https://example.org/a' })).rejects.toThrow('-32602: ');
  });

  it('gives commands to bash where the PATH inside has one, wherever that lies', async () => {
    await using fixture = new AgentsFixture();
    const { sandbox } = await fixture.seated();
    const { exitCode } = await sandbox.run(['sh', '-c', 'command -v bash']);
    expect(await sandbox.shell()).toBe(exitCode === 0 ? 'bash' : 'sh');
  });

  it('walks a directory as Codex looks for skills of the project', async () => {
    await using fixture = new AgentsFixture();
    const { sandbox, url } = await fixture.seated('/home/me/project');
    const made =
      'mkdir -p s/a/sub s/b s/.hid; touch s/a/SKILL.md s/a/sub/z s/.hid/h s/.dot; ln -s a s/l; ln -s no s/broken; ln -s .. s/b/up';
    expect((await sandbox.run(made)).exitCode).toBe(0);
    await using client = await ExecClient.ready(url);
    const options = {
      maxDepth: 6,
      maxDirectories: 2000,
      maxEntries: 20_000,
      followDirectorySymlinks: true,
      pruneHiddenDirectories: true,
    };
    const walked = async (more: object, name = 's') => {
      const path = address(`/home/me/project/${name}`);
      const { entries, truncated } = await client.ask('fs/walk', {
        path,
        options: { ...options, ...more },
        sandbox: null,
      });
      const found = entries as readonly { readonly path: string; readonly kind: string }[];
      return { found: found.map((one) => `${one.path.slice(path.length + 1)} ${one.kind}`), truncated };
    };
    const near = ['.dot file', '.hid directory', 'a directory', 'b directory', 'l directory'];
    const below = ['a/SKILL.md file', 'a/sub directory', 'b/up directory', 'l/SKILL.md file', 'l/sub directory'];
    expect(await walked({})).toEqual({ found: [...near, ...below, 'a/sub/z file', 'l/sub/z file'], truncated: false });
    expect(await walked({ maxDepth: 0 })).toEqual({ found: near, truncated: false });
    expect(await walked({ maxEntries: 2 })).toEqual({ found: near.slice(0, 2), truncated: true });
    expect(await walked({ maxDirectories: 1 })).toEqual({ found: near, truncated: true });
    expect(await walked({ followDirectorySymlinks: false, pruneHiddenDirectories: false })).toEqual({
      found: [...near.slice(0, 4), '.hid/h file', 'a/SKILL.md file', 'a/sub directory', 'a/sub/z file'],
      truncated: false,
    });
    await expect(walked({}, 'none')).rejects.toThrow('-32004: ');
  });

  it('serves nobody without the address, no page of a browser, and nothing before it is initialized', async () => {
    await using fixture = new AgentsFixture();
    const { url } = await fixture.seated();
    await expect(ExecClient.open(url.slice(0, -1))).rejects.toThrow('401');
    await expect(ExecClient.open(new URL('/', url).href)).rejects.toThrow('401');
    await expect(ExecClient.open(url, { origin: 'http://127.0.0.1' })).rejects.toThrow('401');
    await using client = await ExecClient.open(url);
    await expect(client.start('a', 'true')).rejects.toThrow('-32600: ');
  });

  it('runs nothing where Codex wants a wall of its own, which nobody would keep up inside', async () => {
    await using fixture = new AgentsFixture();
    const { sandbox, url } = await fixture.seated();
    await using client = await ExecClient.ready(url);
    const wall = { permissions: { type: 'managed', file_system: { type: 'restricted', entries: [] } } };
    await expect(client.start('a', 'touch made', { sandbox: wall })).rejects.toThrow('danger-full-access');
    await expect(sandbox.files.stat('made')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await client.start('b', 'touch made', { sandbox: { permissions: { type: 'disabled' } } });
    await client.told('process/exited', 'b');
    expect(await sandbox.files.stat('made')).toMatchObject({ type: 'file' });
  });

  it('a client that comes back finds its programs and what they said; without it they end', async () => {
    await using fixture = new AgentsFixture();
    const { sandbox, url } = await fixture.seated();
    const first = await ExecClient.ready(url);
    await first.start('a', 'echo one; read x; echo "two $x"; touch recorded', { pipeStdin: true });
    await first.told('process/output', 'a');
    await expect(ExecClient.ready(url, first.sessionId)).rejects.toThrow('-32600: '); // it is connected
    await first[Symbol.asyncDispose]();
    await using second = await ExecClient.ready(url, first.sessionId);
    expect(await second.ask('process/read', { processId: 'a', afterSeq: 0 })).toMatchObject({
      chunks: [{ seq: 1, stream: 'stdout', chunk: base64('one\n') }],
      nextSeq: 2,
      exited: false,
      closed: false,
    });
    await second.ask('process/write', { processId: 'a', chunk: base64('x\n'), writeId: '1' });
    await second.told('process/closed', 'a');
    expect(await second.ask('process/read', { processId: 'a', afterSeq: 1, waitMs: 1000 })).toMatchObject({
      chunks: [{ seq: 2, chunk: base64('two x\n') }],
      exited: true,
      exitCode: 0,
      closed: true,
    });
    expect((await sandbox.log()).length).toBe(1);
  });

  it('ends what still runs once the seat is given up, and records what it did', async () => {
    await using fixture = new AgentsFixture();
    const { sandbox, url } = await fixture.seated();
    await using client = await ExecClient.ready(url);
    await client.start('a', 'echo made >made.txt; echo ready; sleep 1000; touch late');
    await client.told('process/output', 'a');
    await fixture.giveUp();
    expect((await sandbox.log()).map(({ subject }) => subject)).toEqual([expect.stringContaining('codex: echo made')]);
    expect(await programsIn(sandbox)).not.toContain('sleep 1000 ');
  });

  it('a command is over once its own program is, whatever it left in the background, which works on', async () => {
    await using fixture = new AgentsFixture();
    const { sandbox, url } = await fixture.seated();
    await using client = await ExecClient.ready(url);
    await client.start('a', 'sleep 314 & echo up');
    expect(await client.told('process/exited', 'a')).toMatchObject({ exitCode: 0 });
    await client.told('process/closed', 'a');
    expect(client.output('a')).toBe('up\n');
    expect(await programsIn(sandbox)).toContain('sleep 314 ');
  });

  it('tells long output whole, in order and once, while other calls go on', async () => {
    await using fixture = new AgentsFixture();
    const { url } = await fixture.seated();
    await using client = await ExecClient.ready(url);
    const lines = 1_000_000;
    await client.start('long', `echo ready; until [ -e go ]; do sleep 0.05; done; seq ${lines}`);
    await client.told('process/output', 'long');
    await client.start('other', 'touch go; echo other');
    await client.told('process/closed', 'other');
    expect(client.output('other')).toBe('other\n');
    await client.told('process/closed', 'long');
    const output = client.output('long');
    expect([output.length, output.slice(-14)]).toEqual(['ready\n'.length + 6_888_896, '999999\n1000000\n'.slice(-14)]);
  });

  it('answers what is no message and what is unknown, and goes on', async () => {
    await using fixture = new AgentsFixture();
    const { url } = await fixture.seated();
    await using client = await ExecClient.ready(url);
    client.send('{');
    client.send({ id: 'a string', method: 'fs/walk' });
    await expect(client.ask('http/request', {})).rejects.toThrow('-32601: ');
    await expect(client.ask('process/start', { processId: 'a' })).rejects.toThrow('-32602: ');
    expect(await client.ask('environmentConfig/read', {})).toMatchObject({ config: { layers: [] } });
  });
});
