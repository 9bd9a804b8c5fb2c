import assert from 'node:assert/strict';
import { type ByteStream, isLitterboxError, type SandboxRuntime } from '@litterbox/core/provider';
import { joined } from '../collected.ts';
import { eventually } from '../eventually.ts';
import type { Check } from './suite.ts';
import { tcpServer } from './tcp-server.ts';

/**
 * `connect`: TCP connections from outside to programs inside. A runtime that cannot has no such member, and nothing is asked of it.
 * Tests that share a sandbox use ports of their own, because a port that was let go a moment ago may not be free yet.
 */
export function connections(check: Check): void {
  check('connect reaches a server on 127.0.0.1, on ::1, and on every address', async ({ shared }) => {
    const runtime = await shared();
    if (!runtime.connect) return;
    await using _four = await tcpServer(runtime, 8081, { address: '127.0.0.1', name: 'four' });
    await using _six = await tcpServer(runtime, 8082, { address: '::1', name: 'six' });
    await using _any = await tcpServer(runtime, 8083, { address: '0.0.0.0', name: 'any' });
    assert.equal(await answer(runtime, 8081, 'hello\n'), 'hello from four\n');
    assert.equal(await answer(runtime, 8082, 'hello\n'), 'hello from six\n');
    assert.equal(await answer(runtime, 8083, 'hello\n'), 'hello from any\n');
  });

  check(
    'a server has any port that it wants: those that the machine keeps for root are free inside',
    async ({ shared }) => {
      const runtime = await shared();
      await using _low = await tcpServer(runtime, 80, { name: 'low' });
      if (runtime.connect) assert.equal(await answer(runtime, 80, 'hello\n'), 'hello from low\n');
    },
  );

  check('the same port of two sandboxes leads to each its own', async ({ create }) => {
    const [first, second] = await Promise.all([create(), create()]);
    if (!first.connect) return;
    await using _one = await tcpServer(first, 8080, { name: 'first' });
    await using _two = await tcpServer(second, 8080, { name: 'second' });
    assert.equal(await answer(first, 8080, 'hello\n'), 'hello from first\n');
    assert.equal(await answer(second, 8080, 'hello\n'), 'hello from second\n');
  });

  check('nothing that listens is UNAVAILABLE, and the machine itself is not what answers', async ({ shared, host }) => {
    const runtime = await shared();
    const { connect } = runtime;
    if (!connect) return;
    const port = 20_000 + Math.floor(Math.random() * 40_000);
    await using _outside = await tcpServer(host, port, { name: 'outside' });
    await using control = await host.connect({ host: '127.0.0.1', port });
    assert.equal(await text(control, 'hello\n'), 'hello from outside\n', 'positive control: it listens outside');
    await assert.rejects(connect.call(runtime, port), (error) => isLitterboxError(error, 'UNAVAILABLE'));
  });

  check('each direction of a connection ends by itself, and every byte arrives', async ({ shared }) => {
    const runtime = await shared();
    if (!runtime.connect) return;
    await using _server = await tcpServer(runtime, 8084);
    const bytes = new Uint8Array(3 * 2 ** 20 + 1).map((_, index) => index % 251);
    await using echo = await runtime.connect(8084);
    const back = all(echo);
    const writer = echo.writable.getWriter();
    await writer.write(new TextEncoder().encode('echo\n'));
    for (let at = 0; at < bytes.length; at += 50_000) await writer.write(bytes.slice(at, at + 50_000));
    await writer.close();
    assert.deepEqual(await back, bytes);
    assert.equal((await answer(runtime, 8084, `count\n${'x'.repeat(100_000)}`)).trim(), '100000');
  });

  check('sixty connections, as many at once as the server takes', async ({ shared, sh }) => {
    const runtime = await shared();
    if (!runtime.connect) return;
    await using _server = await tcpServer(runtime, 8085, { name: 'one' });
    // The nc of busybox lets no more than one wait.
    const { exit } = await sh(runtime, 'command -v perl || command -v python3');
    const width = exit.code === 0 ? 60 : 1;
    const answers: string[] = [];
    while (answers.length < 60)
      answers.push(...(await Promise.all(Array.from({ length: width }, () => answer(runtime, 8085, 'hello\n')))));
    assert.deepEqual([...new Set(answers)], ['hello from one\n']);
  });

  check(
    'connect refuses while the sandbox is paused or stopped; an open connection goes on after a pause',
    async ({ create, paused }) => {
      const runtime = await create();
      const { connect } = runtime;
      if (!connect) return;
      await using _server = await tcpServer(runtime, 8080);
      await using open = await connect.call(runtime, 8080);
      if (await paused(runtime)) {
        await assert.rejects(connect.call(runtime, 8080), (error) => isLitterboxError(error, 'SANDBOX_PAUSED'));
        await runtime.resume();
      }
      assert.equal(await text(open, 'hello\n'), 'hello from server\n');
      await runtime.stop();
      await assert.rejects(connect.call(runtime, 8080), (error) => isLitterboxError(error, 'SANDBOX_STOPPED'));
      await runtime.start();
      await using _again = await tcpServer(runtime, 8080, { name: 'again' });
      const said = await eventually(
        async () => await answer(runtime, 8080, 'hello\n').catch(String),
        (got) => got === 'hello from again\n',
      );
      assert.equal(said, 'hello from again\n');
    },
  );

  check(
    'what does not read holds the writer back, and who leaves is gone for the other side',
    async ({ shared, sh }) => {
      const runtime = await shared();
      if (!runtime.connect) return;
      await using server = await tcpServer(runtime, 8086);
      const stream = await runtime.connect(8086);
      const writer = stream.writable.getWriter();
      // The first line says what to do: nothing that reads.
      await writer.write(new TextEncoder().encode('sleep\n'));
      let written = 0;
      const writing = (async () => {
        for (; written < 1024; written += 1) await writer.write(new Uint8Array(2 ** 16));
      })().catch(() => undefined);
      let last = -1;
      await eventually(
        async () => {
          const before = last;
          last = written;
          await sh(runtime, 'sleep 0.1');
          return before === written;
        },
        (isStill) => isStill,
      );
      assert.ok(written < 1024, 'sixty-four mebibytes were taken although nobody reads them');
      await stream[Symbol.asyncDispose]();
      await stream[Symbol.asyncDispose]();
      await writing;
      await server[Symbol.asyncDispose]();
      // A program in the server's background that was killed may be closing what it listened on.
      await eventually(
        async () => (await sh(runtime, "cat /proc/net/tcp /proc/net/tcp6 | grep -c ':1F96 .* 0A '")).stdout,
        (listening) => listening === '0\n',
      );
      await assert.rejects(
        async () => assert.equal(await answer(runtime, 8086, 'hello\n'), 'hello from server\n'),
        (error) => isLitterboxError(error, 'UNAVAILABLE'),
      );
    },
  );
}

async function answer(runtime: SandboxRuntime, port: number, request: string): Promise<string> {
  const stream = await runtime.connect?.(port);
  assert.ok(stream);
  await using _open = stream;
  return await text(stream, request);
}

async function text(stream: ByteStream, request = ''): Promise<string> {
  const writer = stream.writable.getWriter();
  if (request !== '') await writer.write(new TextEncoder().encode(request));
  await writer.close();
  return new TextDecoder().decode(await all(stream));
}

async function all({ readable }: ByteStream): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readable as unknown as AsyncIterable<Uint8Array>) chunks.push(new Uint8Array(chunk));
  return joined(chunks);
}
