import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readdir, readlink } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import {
  type ByteStream,
  type Host,
  isLitterboxError,
  type NamespaceLoopback,
  type NetworkNamespace,
} from '@litterbox/core/provider';
import { eventually } from './eventually.ts';
import type { TestRunner } from './runner.ts';

/** What {@link describeLoopback} needs to know of a host. */
export interface LoopbackOptions {
  readonly name: string;
  readonly runner: TestRunner;
  /** A host whose machine is the one that the tests run on, and who has `loopback`. */
  readonly open: () => Promise<Host>;
  /** Whether it listens with no program of its own in the namespace. */
  readonly leavesNamespace: boolean;
  /** Milliseconds per test. @defaultValue 60_000 */
  readonly timeoutMs?: number;
}

const PORT = 3128;
const TAKEN = 8080;
/** The only program in the namespace: one that listens on ::1 alone. */
const INSIDE = `require('node:net').createServer().listen(${TAKEN}, '::1', () => console.log('ready'));`;

/** A network namespace with a program in it, and ways into it. */
class Namespace implements AsyncDisposable {
  readonly inside: ChildProcess;
  readonly namespace: NetworkNamespace;
  readonly #host: Host;
  readonly #open: AsyncDisposable[] = [];

  private constructor(host: Host, inside: ChildProcess, namespace: NetworkNamespace) {
    this.#host = host;
    this.inside = inside;
    this.namespace = namespace;
  }

  static async make(host: Host): Promise<Namespace> {
    const isRoot = process.getuid?.() === 0;
    const user = isRoot ? [] : ['--user', '--map-root-user'];
    const argv = [...user, '--net', 'sh', '-c', 'ip link set lo up && exec "$0" --eval "$1"', process.execPath, INSIDE];
    const inside = spawn('unshare', argv, { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: inside.stdout as NodeJS.ReadableStream }))
      if (line === 'ready') break;
    const own = `/proc/${inside.pid}`;
    const path = `${own}/ns/net`;
    const identity = await readlink(path);
    return new Namespace(host, inside, { path, identity, ...(!isRoot && { userNamespace: `${own}/ns/user` }) });
  }

  entered(changes: Partial<NetworkNamespace> = {}): NamespaceLoopback {
    const loopback = this.#host.loopback?.({ ...this.namespace, ...changes });
    assert.ok(loopback, 'this host has no loopback');
    return this.keep(loopback);
  }

  keep<One extends AsyncDisposable>(one: One): One {
    this.#open.push(one);
    return one;
  }

  async visit(loopback: NamespaceLoopback): Promise<ByteStream> {
    return this.keep(await loopback.connect(PORT));
  }

  /** What a visitor who says so much hears; one that is reset may be so before or after it is connected. */
  async answered(loopback: NamespaceLoopback, text = ''): Promise<string> {
    let stream: ByteStream;
    try {
      stream = await this.visit(loopback);
    } catch (error) {
      if (!/ECONNRESET|reset/i.test(String(error))) throw error;
      return 'reset';
    }
    await say(stream, text).catch(() => undefined); // it was reset meanwhile
    return await heard(stream);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.#open.splice(0).reverse()) await one[Symbol.asyncDispose]();
    this.inside.kill('SIGKILL');
    await this.#host[Symbol.asyncDispose]();
  }
}

/** The contract of `NamespaceLoopback`, executable. */
export function describeLoopback({ name, runner, open, leavesNamespace, timeoutMs = 60_000 }: LoopbackOptions): void {
  const check = (title: string, body: (place: Namespace) => Promise<void>) =>
    runner.it(
      title,
      async () => {
        await using place = await Namespace.make(await open());
        await body(place);
      },
      timeoutMs,
    );

  runner.describe(`NamespaceLoopback contract: ${name}`, () => {
    check('connects to what listens on ::1 alone, and to nothing that does not listen', async (place) => {
      const loopback = place.entered();
      place.keep(await loopback.connect(TAKEN));
      assert.equal(await refusal(loopback.connect(PORT)), 'UNAVAILABLE');
    });

    check('listens: carries both ways, each direction ending by itself', async (place) => {
      const loopback = place.entered();
      const port = await loopback.listen(PORT, (stream) => {
        void heard(stream)
          .then((text) => say(stream, `heard ${text}`))
          .catch(() => undefined); // the visitor has left
      });
      if (leavesNamespace) {
        const others: string[] = [];
        for (const pid of (await readdir('/proc')).filter((one) => /^\d+$/.test(one)))
          if ((await readlink(`/proc/${pid}/ns/net`).catch(() => '')) === place.namespace.identity) others.push(pid);
        assert.deepEqual(others, [String(place.inside.pid)], 'no program of ours is in the namespace');
      }
      const stream = await place.visit(loopback);
      await say(stream, 'hello');
      assert.equal(await heard(stream), 'heard hello');
      await port[Symbol.asyncDispose]();
      await port[Symbol.asyncDispose]();
      assert.equal(await refusal(loopback.connect(PORT)), 'UNAVAILABLE');
    });

    check(
      'listens to sixty-four at once: one more is reset, and there is room again when one has left',
      async (place) => {
        const loopback = place.entered();
        let accepted = 0;
        place.keep(
          await loopback.listen(PORT, (stream) => {
            accepted += 1;
            void heard(stream)
              .then(() => say(stream, 'bye'))
              .catch(() => undefined); // as are the sixty-three at the end
          }),
        );
        const streams: ByteStream[] = [];
        while (streams.length < 64) streams.push(await place.visit(loopback));
        await eventually(
          async () => accepted,
          (count) => count === 64,
        );
        assert.equal(await place.answered(loopback), 'reset');
        assert.equal(accepted, 64);
        const [first] = streams as [ByteStream];
        await say(first, 'hello');
        assert.equal(await heard(first), 'bye');
        await eventually(
          async () => await place.answered(loopback, 'hello'),
          (text) => text === 'bye',
        );
      },
    );

    check('listens: refuses what is taken on one address alone, and then has neither', async (place) => {
      const loopback = place.entered();
      assert.equal(await refusal(loopback.listen(TAKEN, () => {})), 'PORT_TAKEN');
      const tables = execFileSync('cat', [`/proc/${place.inside.pid}/net/tcp`], { encoding: 'latin1' });
      assert.ok(!tables.includes(`:${TAKEN.toString(16).toUpperCase()} `), tables);
    });

    check('what was written arrives although the stream is let go at once, on either side', async (place) => {
      const loopback = place.entered();
      const words = 'the last words '.repeat(10_000);
      const taken: ByteStream[] = [];
      place.keep(await loopback.listen(PORT, (stream) => void taken.push(stream)));
      for (const isTaker of [true, false]) {
        const visitor = await place.visit(loopback);
        const [taker] = await eventually(
          async () => taken.splice(0),
          ({ length }) => length === 1,
        );
        assert.ok(taker);
        const [leaving, staying] = isTaker ? [place.keep(taker), visitor] : [visitor, place.keep(taker)];
        await leaving.writable.getWriter().write(new TextEncoder().encode(words));
        await leaving[Symbol.asyncDispose]();
        assert.equal((await heard(staying)).length, words.length);
      }
    });

    check('another namespace by that name is not entered', async (place) => {
      assert.equal(await refusal(place.entered({ identity: 'net:[1]' }).listen(PORT, () => {})), 'UNAVAILABLE');
      assert.equal(await refusal(place.entered({ identity: 'net:[1]' }).connect(TAKEN)), 'UNAVAILABLE');
      assert.equal(await refusal(place.entered({ path: '/proc/self/no-such' }).listen(PORT, () => {})), 'UNAVAILABLE');
    });

    check('a call that is aborted leaves no port, and one that comes too late is DISPOSED', async (place) => {
      const loopback = place.entered();
      const reason = new Error('enough');
      assert.equal(await refusal(loopback.listen(PORT, () => {}, { signal: AbortSignal.abort(reason) })), reason);
      const abort = new AbortController();
      const listening = refusal(loopback.listen(PORT, () => {}, { signal: abort.signal }));
      abort.abort(reason);
      assert.equal(await listening, reason);
      assert.equal(await refusal(loopback.connect(PORT)), 'UNAVAILABLE');
      await loopback[Symbol.asyncDispose]();
      assert.equal(await refusal(loopback.listen(PORT, () => {})), 'DISPOSED');
    });

    check('listens: resets whom nobody takes, and ends with the loopback that it belongs to', async (place) => {
      const [owner, visitor] = [place.entered(), place.entered()];
      await owner.listen(PORT, () => {
        throw new Error('nobody is here');
      });
      assert.equal(await place.answered(visitor), 'reset');
      await owner[Symbol.asyncDispose]();
      assert.equal(await refusal(visitor.connect(PORT)), 'UNAVAILABLE');
    });
  });
}

async function say({ writable }: ByteStream, text: string): Promise<void> {
  const writer = writable.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
}

/** All that comes; `reset` when that is how it ends. */
async function heard({ readable }: ByteStream): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    const reader = readable.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read())
      text += decoder.decode(next.value, { stream: true });
    return text;
  } catch {
    return 'reset';
  }
}

async function refusal(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => 'nothing was refused',
    (error: unknown) => (isLitterboxError(error) ? error.code : error),
  );
}
