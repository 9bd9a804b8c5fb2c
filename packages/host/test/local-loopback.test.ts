import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readdir, readlink } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import {
  type ByteStream,
  isLitterboxError,
  type NamespaceLoopback,
  type NetworkNamespace,
} from '@litterbox/core/provider';
import { localHost } from '../src/index.ts';

const host = localHost();
const isRoot = process.getuid?.() === 0;
const PORT = 3128;
const TAKEN = 8080;

/** The only program in the namespace: one that listens on ::1 alone. */
const INSIDE = `require('node:net').createServer().listen(${TAKEN}, '::1', () => console.log('ready'));`;
let inside: ChildProcess;
let namespace: NetworkNamespace;
const open: AsyncDisposable[] = [];

beforeAll(async () => {
  const user = isRoot ? [] : ['--user', '--map-root-user'];
  const argv = [...user, '--net', 'sh', '-c', 'ip link set lo up && exec "$0" --eval "$1"', process.execPath, INSIDE];
  inside = spawn('unshare', argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: inside.stdout as NodeJS.ReadableStream }))
    if (line === 'ready') break;
  const process_ = `/proc/${inside.pid}`;
  const path = `${process_}/ns/net`;
  namespace = { path, identity: await readlink(path), ...(!isRoot && { userNamespace: `${process_}/ns/user` }) };
});
afterAll(() => void inside.kill('SIGKILL'));
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

function entered(changes: Partial<NetworkNamespace> = {}): NamespaceLoopback {
  const loopback = host.loopback?.({ ...namespace, ...changes });
  if (!loopback) throw new Error('This machine has no loopback.');
  open.push(loopback);
  return loopback;
}

async function visit(loopback: NamespaceLoopback): Promise<ByteStream> {
  const stream = await loopback.connect(PORT);
  open.push(stream);
  return stream;
}

async function say({ writable }: ByteStream, text: string): Promise<void> {
  const writer = writable.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
}

/** All that comes; `reset` when that is how it ends. */
async function heard({ readable }: ByteStream): Promise<string> {
  let text = '';
  try {
    for await (const chunk of readable.pipeThrough(
      new TextDecoderStream() as never,
    ) as unknown as AsyncIterable<string>)
      text += chunk;
    return text;
  } catch {
    return 'reset';
  }
}

/** What a visitor who says so much hears; one that is reset may be so before or after it is connected. */
async function answered(loopback: NamespaceLoopback, text = ''): Promise<string> {
  let stream: ByteStream;
  try {
    stream = await visit(loopback);
  } catch (error) {
    if (!String(error).includes('ECONNRESET')) throw error;
    return 'reset';
  }
  await say(stream, text).catch(() => undefined); // it was reset meanwhile
  return await heard(stream);
}

async function refusal(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => 'nothing was refused',
    (error: unknown) => (isLitterboxError(error) ? error.code : error),
  );
}

describe('the loopback of a namespace, listened on', () => {
  it('carries both ways, each direction ending by itself, and no program of ours is in the namespace', async () => {
    const loopback = entered();
    const port = await loopback.listen(PORT, (stream) => {
      void heard(stream)
        .then((text) => say(stream, `heard ${text}`))
        .catch(() => undefined); // the visitor has left
    });
    const others: string[] = [];
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name)))
      if ((await readlink(`/proc/${pid}/ns/net`).catch(() => '')) === namespace.identity) others.push(pid);
    expect(others).toEqual([String(inside.pid)]);
    const stream = await visit(loopback);
    await say(stream, 'hello');
    expect(await heard(stream)).toBe('heard hello');
    await port[Symbol.asyncDispose]();
    await port[Symbol.asyncDispose]();
    expect(await refusal(loopback.connect(PORT))).toBe('UNAVAILABLE');
  });

  it('sixty-four at once: one more is reset, and there is room again when one has left', async () => {
    const loopback = entered();
    let accepted = 0;
    open.push(
      await loopback.listen(PORT, (stream) => {
        accepted += 1;
        void heard(stream)
          .then(() => say(stream, 'bye'))
          .catch(() => undefined); // as are the sixty-three at the end
      }),
    );
    const streams: ByteStream[] = [];
    while (streams.length < 64) streams.push(await visit(loopback));
    await eventually(
      async () => accepted,
      (count) => count === 64,
    );
    expect(await answered(loopback)).toBe('reset');
    expect(accepted).toBe(64);
    const [first] = streams;
    if (!first) throw new Error('unreachable');
    await say(first, 'hello');
    expect(await heard(first)).toBe('bye');
    await eventually(
      async () => await answered(loopback, 'hello'),
      (text) => text === 'bye',
    );
  });

  it('refuses what is taken on one address alone, and then has neither', async () => {
    const loopback = entered();
    expect(await refusal(loopback.listen(TAKEN, () => {}))).toBe('PORT_TAKEN');
    const tables = execFileSync('cat', [`/proc/${inside.pid}/net/tcp`], { encoding: 'latin1' });
    expect(tables).not.toContain(`:${TAKEN.toString(16).toUpperCase()} `);
  });

  it('another namespace by that name is not entered', async () => {
    expect(await refusal(entered({ identity: 'net:[1]' }).listen(PORT, () => {}))).toBe('UNAVAILABLE');
    expect(await refusal(entered({ path: '/proc/self/no-such' }).listen(PORT, () => {}))).toBe('UNAVAILABLE');
  });

  it('a call that is aborted leaves no port, and one that comes too late is DISPOSED', async () => {
    const loopback = entered();
    const reason = new Error('enough');
    expect(await refusal(loopback.listen(PORT, () => {}, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    const abort = new AbortController();
    const listening = refusal(loopback.listen(PORT, () => {}, { signal: abort.signal }));
    abort.abort(reason);
    expect(await listening).toBe(reason);
    expect(await refusal(loopback.connect(PORT))).toBe('UNAVAILABLE');
    await loopback[Symbol.asyncDispose]();
    expect(await refusal(loopback.listen(PORT, () => {}))).toBe('DISPOSED');
  });

  it('resets whom nobody takes, and ends with the loopback that it belongs to', async () => {
    const [owner, visitor] = [entered(), entered()];
    await owner.listen(PORT, () => {
      throw new Error('nobody is here');
    });
    expect(await answered(visitor)).toBe('reset');
    await owner[Symbol.asyncDispose]();
    expect(await refusal(visitor.connect(PORT))).toBe('UNAVAILABLE');
  });

  it('is gone with the program that listens, however that ends', async () => {
    const source = new URL('../src/index.ts', import.meta.url).href;
    const script = `import { localHost } from ${JSON.stringify(source)};
await localHost().loopback(${JSON.stringify(namespace)}).listen(${PORT}, () => {});
console.log('listening');`;
    const argv = ['--no-warnings', '--conditions=@litterbox/source', '--input-type=module', '--eval', script];
    const other = spawn(process.execPath, argv, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env['PATH'] },
    });
    const gone = new Promise((resolve) => other.once('exit', resolve));
    for await (const line of createInterface({ input: other.stdout as NodeJS.ReadableStream }))
      if (line === 'listening') break;
    const loopback = entered();
    await visit(loopback);
    other.kill('SIGKILL');
    await gone;
    expect(await refusal(loopback.connect(PORT))).toBe('UNAVAILABLE');
  });
});
