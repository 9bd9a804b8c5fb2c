import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { type ByteStream, isLitterboxError, type OpenPort, type SandboxRuntime } from '@litterbox/core/provider';
import { collected, joined } from '../collected.ts';
import { eventually } from '../eventually.ts';
import type { Check } from './suite.ts';
import { tcpClientCommand } from './tcp-client.ts';
import { tcpServer } from './tcp-server.ts';

const PORT = 3128;

/** `listen`: TCP connections from programs inside to this process. A runtime that cannot has no such member, and nothing is asked of it. */
export function listening(check: Check): void {
  check(
    'listen leads from inside to this process: every byte arrives, and each direction ends by itself',
    async ({ create, sh }) => {
      const runtime = await create();
      if (!runtime.listen) return;
      await sh(runtime, 'head -c 3000001 /dev/urandom >~/sent');
      const streams = new Streams();
      await using _port = await runtime.listen(PORT, streams.add);
      const { stdout: addresses } = await sh(runtime, 'echo 127.0.0.1; ! grep -q . /proc/net/if_inet6 || echo ::1');
      for (const address of addresses.trim().split('\n')) {
        // Who asks ends first: all of it is here before a byte goes back.
        const [asked, echoed] = await Promise.all([
          run(
            runtime,
            tcpClientCommand('ask', PORT, 'cat ~/sent', address),
            '"$@" >~/back; cmp ~/sent ~/back && echo same',
          ),
          streams.next().then(async (stream) => {
            const bytes = await all(stream);
            await say(stream, bytes);
            return bytes.length;
          }),
        ]);
        assert.deepEqual([echoed, asked], [3_000_001, 'same\n'], address);
        // Who is asked ends first: what the program says after that arrives.
        const [, heard] = await Promise.all([
          run(runtime, tcpClientCommand('talk', PORT, 'got=$(cat); echo "heard $got"', address)),
          streams.next().then(async (stream) => {
            await say(stream, new TextEncoder().encode('hello\n'));
            return new TextDecoder().decode(await all(stream));
          }),
        ]);
        assert.equal(heard, 'heard hello\n', address);
      }
    },
  );

  check(
    'listen: who is let go outside is gone inside, and the port is gone with all its connections when it is disposed',
    async ({ create }) => {
      const runtime = await create();
      if (!runtime.listen) return;
      const streams = new Streams();
      const port = await runtime.listen(PORT, streams.add);
      const told = tcpClientCommand('talk', PORT, 'cat >&2; echo ended >&2');
      const [first, one] = await Promise.all([runtime.spawn({ argv: told }), streams.next()]);
      const writer = one.writable.getWriter();
      await writer.write(new TextEncoder().encode('one\n'));
      await one[Symbol.asyncDispose]();
      await one[Symbol.asyncDispose]();
      assert.equal((await collected(first)).stderr, 'one\nended\n');
      const [second, two] = await Promise.all([runtime.spawn({ argv: told }), streams.next()]);
      assert.equal(await hasEnded(port), false, 'positive control: it listens');
      await port[Symbol.asyncDispose]();
      await port[Symbol.asyncDispose]();
      assert.equal(await hasEnded(port), true, 'who listened is told');
      streams.late = greets('a closed port');
      assert.equal(await asked(runtime), 'refused');
      assert.match((await collected(second)).stderr, /ended\n$/);
      await all(two).catch(() => undefined); // it ends here too
      await using _again = await runtime.listen(PORT, greets('again'));
      assert.equal(await asked(runtime), 'hello from again\n', 'the number is free again');
    },
  );

  check('listen: another sandbox does not reach it, and the same port of two is each its own', async ({ create }) => {
    const [first, second] = await Promise.all([create(), create()]);
    if (!first.listen || !second.listen) return;
    await using _one = await first.listen(PORT, greets('first'));
    assert.equal(await asked(first), 'hello from first\n', 'positive control: it answers its own sandbox');
    assert.equal(await asked(second), 'refused');
    await using _two = await second.listen(PORT, greets('second'));
    assert.equal(await asked(second), 'hello from second\n');
    assert.equal(await asked(first), 'hello from first\n');
  });

  check(
    'listen refuses taken and impossible ports by name; connections wait during a pause, and stop ends it',
    async ({ create, paused }) => {
      const runtime = await create();
      if (!runtime.listen) return;
      const listen = runtime.listen.bind(runtime);
      const refuses = async (port: number, code: Parameters<typeof isLitterboxError>[1]) =>
        await assert.rejects(
          listen(port, () => {}),
          (error) => isLitterboxError(error, code),
          String(port),
        );
      for (const port of [0, -1, 1.5, 65_536, Number.NaN]) await refuses(port, 'INVALID_ARGUMENT');
      await using _server = await tcpServer(runtime, 8080);
      await refuses(8080, 'PORT_TAKEN');
      const streams = new Streams();
      await using port = await listen(PORT, streams.add);
      await refuses(PORT, 'PORT_TAKEN');
      const echo = tcpClientCommand('talk', PORT, 'cat');
      const [, open] = await Promise.all([runtime.spawn({ argv: echo }), streams.next()]);
      const writer = open.writable.getWriter();
      const reader = open.readable.getReader();
      const isPaused = await paused(runtime);
      if (isPaused) await refuses(8081, 'SANDBOX_PAUSED');
      await writer.write(new TextEncoder().encode('x'));
      if (isPaused) await runtime.resume();
      assert.deepEqual((await reader.read()).value, Uint8Array.of(120));
      assert.equal(await hasEnded(port), false, 'a pause ends nothing');
      await runtime.stop();
      await port.ended;
      await reader.read().catch(() => undefined); // it has ended
      await refuses(8081, 'SANDBOX_STOPPED');
      streams.late = greets('a stopped sandbox');
      await runtime.start();
      const said = await eventually(
        async () => await asked(runtime).catch(String),
        (text) => text === 'refused' || text.startsWith('hello'),
      );
      assert.equal(said, 'refused');
      await using _again = await listen(PORT, greets('again'));
      assert.equal(await asked(runtime), 'hello from again\n');
    },
  );
}

/** Connections in the order in which they come. */
class Streams {
  /** Answers those that must not come any more. */
  late: ((stream: ByteStream) => void) | undefined;
  readonly #come: ByteStream[] = [];
  #wake = () => {};

  readonly add = (stream: ByteStream): void => {
    if (this.late) return this.late(stream);
    this.#come.push(stream);
    this.#wake();
  };

  async next(): Promise<ByteStream> {
    for (;;) {
      const stream = this.#come.shift();
      if (stream) return stream;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

async function hasEnded({ ended }: OpenPort): Promise<boolean> {
  return await Promise.race([ended.then(() => true), setImmediate(false)]);
}

function greets(name: string): (stream: ByteStream) => void {
  return (stream) =>
    void (async () => {
      await all(stream);
      await say(stream, new TextEncoder().encode(`hello from ${name}\n`));
    })().catch(() => undefined); // who asked has left
}

/** What a program inside gets from the port. */
async function asked(runtime: SandboxRuntime): Promise<string> {
  const said = await run(runtime, tcpClientCommand('ask', PORT, 'echo hello'), '"$@" || :');
  return said === '' ? 'refused' : said;
}

async function run(runtime: SandboxRuntime, command: readonly [string, ...string[]], script = '"$@"'): Promise<string> {
  return (await collected(await runtime.spawn({ argv: ['sh', '-c', script, 'sh', ...command] }))).stdout;
}

async function say({ writable }: ByteStream, bytes: Uint8Array): Promise<void> {
  const writer = writable.getWriter();
  await writer.write(bytes);
  await writer.close();
}

async function all({ readable }: ByteStream): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readable as unknown as AsyncIterable<Uint8Array>) chunks.push(new Uint8Array(chunk));
  return joined(chunks);
}
