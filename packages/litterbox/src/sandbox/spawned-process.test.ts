import { expect, test } from '@jest/globals';
import { inMemory } from '../../test/in-memory.ts';

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test('a command is talked to while it runs, and recorded as a run is', async () => {
  const { fixture, sandbox } = await inMemory();
  await using _fixture = fixture;
  await using spawned = await sandbox.spawn('cat >new; echo out; echo err >&2; exit 3', { message: 'Talk' });
  const writer = spawned.stdin.getWriter();
  await writer.write('typed ');
  await writer.write(Uint8Array.of(0xc3, 0xbc, 0x0a));
  await writer.close();
  const [stdout, stderr, ended] = await Promise.all([textOf(spawned.stdout), textOf(spawned.stderr), spawned.wait()]);
  expect([stdout, stderr]).toEqual(['out\n', 'err\n']);
  expect(ended).toMatchObject({ exitCode: 3, recorded: { revision: { number: 1 } }, hints: [] });
  expect(ended.dropped).toEqual({ stdout: 0, stderr: 0 });
  expect(fixture.look('a', 'new')).toBe('typed ü\n');
  expect(fixture.subjects('a')).toEqual(['Talk']);
  expect((await fixture.audited()).at(-1)).toBe('sandbox-run: ok');
  expect(await spawned.wait()).toBe(ended);
  await spawned.kill(); // nothing happens any more
  await expect(spawned.kill('TERM' as never)).rejects.toMatchObject({ code: 'ARG_RANGE' });
});

test('nobody has to wait: what it changed is recorded when it has ended', async () => {
  const { fixture, sandbox } = await inMemory();
  await using _fixture = fixture;
  {
    await using spawned = await sandbox.spawn(['sh', '-c', 'echo x >new'], { stdin: 'none' });
    expect(await textOf(spawned.stdout)).toBe('');
  }
  expect(fixture.subjects('a').length).toBe(1);
  await expect(sandbox.spawn('true', { stdin: 'text' as never })).rejects.toMatchObject({ code: 'ARG_RANGE' });
  await expect(sandbox.spawn('true', { nothing: 1 } as never)).rejects.toMatchObject({ code: 'ARG_UNKNOWN' });
});

test('kill, an aborted signal and disposing end it, and its changes are recorded', async () => {
  const { fixture, sandbox } = await inMemory();
  await using _fixture = fixture;
  const started = async (name: string, signal?: AbortSignal) => {
    const spawned = await sandbox.spawn(`echo x >${name}; echo on; sleep 1000`, { ...(signal && { signal }) });
    const reader = spawned.stdout.getReader();
    await reader.read();
    reader.releaseLock();
    return spawned;
  };
  const killed = await started('killed');
  await killed.kill('SIGKILL');
  expect(await killed.wait()).toMatchObject({ exitCode: 137, signal: 'SIGKILL' });

  const ending = new AbortController();
  const aborted = await started('aborted', ending.signal);
  ending.abort(new Error('enough'));
  await expect(aborted.wait()).rejects.toThrow('enough');
  await expect(textOf(aborted.stdout)).rejects.toThrow('enough');

  const left = await started('left');
  await left[Symbol.asyncDispose]();
  expect(await left.wait()).toMatchObject({ exitCode: 137 });
  expect(await textOf(left.stdout)).toBe('');
  expect(fixture.subjects('a').length).toBe(3);
  expect(fixture.look('a', 'left')).toBe('x\n');
  await expect(sandbox.spawn('true', { signal: ending.signal })).rejects.toThrow('enough');
});

test('FC-347: who waits without reading does not wait for ever, and hears how much is gone', async () => {
  const { fixture, sandbox } = await inMemory({
    programs: {
      async talk(process, [count = '0']) {
        for (let at = 0; at < Number(count); at += 1) await process.files.get(1)?.write(new Uint8Array(2 ** 16));
        await process.files.get(2)?.write(new TextEncoder().encode('done\n'));
        return 0;
      },
    },
  });
  await using _fixture = fixture;
  await using spawned = await sandbox.spawn(['talk', '40'], { stdin: 'none' });
  const { exitCode, dropped } = await spawned.wait();
  expect(exitCode).toBe(0);
  const kept = (await textOf(spawned.stdout)).length;
  expect(kept).toBeGreaterThanOrEqual(2 ** 20);
  expect(kept + dropped.stdout).toBe(40 * 2 ** 16);
  expect([dropped.stderr, await textOf(spawned.stderr)]).toEqual([0, 'done\n']);

  // One stream that is thrown away, and one that is read slowly.
  await using other = await sandbox.spawn(['talk', '40'], { stdin: 'none' });
  await other.stdout.cancel();
  expect(await textOf(other.stderr)).toBe('done\n');
  expect((await other.wait()).dropped).toEqual({ stdout: 0, stderr: 0 });
});

test('a stream that nobody reads holds the command back', async () => {
  const written: number[] = [];
  let start = () => {};
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  const { fixture, sandbox } = await inMemory({
    programs: {
      async talk(process) {
        start();
        for (; written.length < 100; written.push(0)) await process.files.get(1)?.write(new Uint8Array(2 ** 16));
        return 0;
      },
    },
  });
  await using _fixture = fixture;
  await using spawned = await sandbox.spawn(['talk']);
  await started;
  for (let turn = 0; turn < 500; turn += 1) await new Promise(setImmediate);
  expect(written.length).toBeLessThan(30);
  let bytes = 0;
  for await (const chunk of spawned.stdout) bytes += chunk.length;
  expect(bytes).toBe(100 * 2 ** 16);
  expect((await spawned.wait()).dropped.stdout).toBe(0);
});

test('FC-348: what it left in the background does not keep it from ending, and lives on', async () => {
  const { fixture, sandbox } = await inMemory();
  await using _fixture = fixture;
  await using spawned = await sandbox.spawn('{ cat; echo late; } & echo on');
  const [stdout, ended] = await Promise.all([textOf(spawned.stdout), spawned.wait()]);
  expect([stdout, ended.exitCode]).toEqual(['on\n', 0]);
  expect((await sandbox.run('true')).exitCode).toBe(0);
});
