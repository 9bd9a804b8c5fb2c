import assert from 'node:assert/strict';
import { isLitterboxError } from '@litterbox/core/provider';
import { collected } from '../collected.ts';
import { eventually } from '../eventually.ts';
import type { Check } from './suite.ts';

/** Longer than what a busy machine lets a program wait. */
const PAUSE_MS = 300;

/** Pausing, stopping and going on. */
export function runStates(check: Check): void {
  check(
    'a paused sandbox does nothing, keeps its processes, and refuses new ones in under a second',
    async ({ create, sh, provider, paused }) => {
      const runtime = await create();
      await using writer = await runtime.spawn({ argv: ['sh', '-c', 'while :; do echo x >>ticks; sleep 0.02; done'] });
      const size = async () => Number((await sh(runtime, 'wc -c <ticks || echo 0')).stdout);
      await eventually(size, (bytes) => bytes > 0);
      if (!(await paused(runtime))) return;
      await runtime.pause();
      const started = performance.now();
      await assert.rejects(runtime.spawn({ argv: ['true'] }), (error) => isLitterboxError(error, 'SANDBOX_PAUSED'));
      const tookMs = Math.round(performance.now() - started);
      assert.ok(
        tookMs < 1000,
        `it was refused after ${tookMs} ms: on a machine that does much else, run this test alone`,
      );
      const states = [];
      for await (const { id, state } of provider.list()) if (id === runtime.id) states.push(state);
      assert.deepEqual(states, ['paused']);
      await runtime.resume();
      await runtime.resume();
      const before = await size();
      await eventually(size, (bytes) => bytes > before);
      await writer[Symbol.asyncDispose]();
    },
  );

  check('a pause holds for other instances too, and any of them can end it', async (fixture) => {
    const { create, another, sh, paused } = fixture;
    const runtime = await create();
    await using other = await (await another()).open(runtime.id);
    if (!(await paused(runtime))) return;
    await assert.rejects(other.spawn({ argv: ['true'] }), (error) => isLitterboxError(error, 'SANDBOX_PAUSED'));
    await other.resume();
    assert.equal((await sh(runtime, 'echo on')).stdout, 'on\n');
  });

  check(
    'three cycles of pause and resume, and of stop and start, with writes between, lose nothing',
    async ({ create, sh, paused }) => {
      const runtime = await create();
      for (let cycle = 1; cycle <= 3; cycle += 1) {
        await sh(runtime, `echo ${cycle} >>file; echo ${cycle} >>~/file`);
        if (await paused(runtime)) await runtime.resume();
        await sh(runtime, `echo ${cycle} >>file`);
        await runtime.stop();
        await runtime.start();
      }
      assert.equal((await sh(runtime, 'cat file ~/file')).stdout, '1\n1\n2\n2\n3\n3\n1\n2\n3\n');
    },
  );

  check(
    'stop() ends all processes, is idempotent, forgets no processor time, and new ones are refused until start()',
    async ({ create, another, sh, provider }) => {
      const runtime = await create();
      const process = await runtime.spawn({ argv: ['sleep', '1000'] });
      const outcome = process.exit.then(
        ({ code }) => code !== 0,
        () => true,
      );
      const { cpuMs: used } = await runtime.usage();
      await (await (await another()).open(runtime.id)).stop();
      await runtime.stop();
      assert.equal(await outcome, true);
      await process[Symbol.asyncDispose]();
      await assert.rejects(runtime.spawn({ argv: ['true'] }), (error) => isLitterboxError(error, 'SANDBOX_STOPPED'));
      const states = [];
      for await (const { id, state } of provider.list()) if (id === runtime.id) states.push(state);
      assert.deepEqual(states, ['stopped']);
      const rested = await runtime.usage();
      assert.deepEqual([rested.isCpuLeast, used === undefined], [undefined, rested.cpuMs === undefined]);
      await runtime.start();
      await runtime.start();
      assert.equal((await sh(runtime, 'cat README')).stdout, 'read me\n');
      if (used === undefined) return;
      const times = [used, rested.cpuMs ?? 0, (await runtime.usage()).cpuMs ?? 0];
      assert.deepEqual(
        times,
        times.toSorted((one, other) => one - other),
      );
    },
  );

  check('a paused sandbox can be closed, opened, stopped and removed', async (fixture) => {
    const { create, another, provider, paused } = fixture;
    const runtime = await create();
    await using process = await runtime.spawn({ argv: ['sleep', '1000'] });
    if (!(await paused(runtime))) return;
    await process[Symbol.asyncDispose]();
    await runtime[Symbol.asyncDispose]();
    await using other = await (await another()).open(runtime.id);
    await other.stop();
    await other.start();
    await other.pause();
    await provider.remove(runtime.id);
    for await (const { id } of provider.list()) assert.notEqual(id, runtime.id);
  });

  check('what is paused stands still with its memory, and goes on where it was', async (fixture) => {
    const { create, sh, paused } = fixture;
    const runtime = await create();
    // Each tick is a count that lives in memory alone, and the clock of the machine in hundredths of a second.
    await using ticking = await runtime.spawn({
      argv: [
        'sh',
        '-c',
        'i=0; while :; do i=$((i+1)); read -r up _ </proc/uptime; echo "$i $up" >>ticks; sleep 0.02; done',
      ],
    });
    const ticks = async () =>
      (await sh(runtime, 'cat ticks 2>/dev/null; :')).stdout.split('\n').flatMap((line) => {
        const [count = '', up = ''] = line.split(' ');
        return up === '' ? [] : [{ count: Number(count), atMs: Number(up) * 1000 }];
      });
    const before = (await eventually(ticks, (seen) => seen.length > 5)).length;
    if (!(await paused(runtime))) return;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    await runtime.resume();
    const seen = await eventually(ticks, ({ length }) => length > before + 5);
    const gaps = seen.map(({ atMs }, index) => atMs - (seen[index - 1]?.atMs ?? atMs));
    assert.ok(
      Math.max(...gaps) >= PAUSE_MS * 0.9,
      `the longest gap is ${Math.max(...gaps)} ms, the pause was ${PAUSE_MS}`,
    );
    assert.deepEqual(
      seen.map(({ count }) => count),
      seen.map((_tick, index) => index + 1),
    );
    await ticking[Symbol.asyncDispose]();
  });

  check('a paused sandbox cannot be scanned, nor a stopped one', async ({ create, paused }) => {
    const runtime = await create();
    const scan = async () => {
      for await (const _change of (await runtime.scan(undefined)).changes);
    };
    if (await paused(runtime)) {
      await assert.rejects(scan(), (error) => isLitterboxError(error, 'SANDBOX_PAUSED'));
      await runtime.resume();
    }
    await scan();
    await runtime.stop();
    await assert.rejects(scan(), (error) => isLitterboxError(error, 'SANDBOX_STOPPED'));
    await runtime.start();
    await scan();
  });

  check('ten quick pauses by two instances lose no byte of a stream', async ({ create, another, paused }) => {
    const runtime = await create();
    if (!(await paused(runtime))) return;
    await runtime.resume();
    await using other = await (await another()).open(runtime.id);
    await using cat = await runtime.spawn({ argv: ['cat'], stdin: 'pipe' });
    const output = collected(cat);
    const lines: string[] = [];
    for (let cycle = 0; cycle < 10; cycle += 1) {
      const [pausing, resuming] = cycle % 2 === 0 ? [runtime, other] : [other, runtime];
      const line = `${cycle} ${'x'.repeat(5000)}\n`;
      lines.push(line);
      const writing = cat.write(new TextEncoder().encode(line));
      await pausing.pause();
      await resuming.resume();
      await writing;
    }
    await cat.closeStdin();
    const { stdout, exit } = await output;
    assert.ok(stdout === lines.join(''), `${stdout.length} characters came`);
    assert.equal(exit.code, 0);
  });
}
