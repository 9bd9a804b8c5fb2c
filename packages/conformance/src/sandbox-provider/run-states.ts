import assert from 'node:assert/strict';
import { isLitterboxError } from '@litterbox/core/provider';
import { eventually } from '../eventually.ts';
import type { Check } from './suite.ts';

/** Pausing, stopping and going on. */
export function runStates(check: Check): void {
  check(
    'a paused sandbox does nothing, keeps its processes, and refuses new ones in under a second',
    async ({ create, sh, provider }) => {
      const runtime = await create();
      await using writer = await runtime.spawn({ argv: ['sh', '-c', 'while :; do echo x >>ticks; sleep 0.02; done'] });
      const size = async () => Number((await sh(runtime, 'wc -c <ticks || echo 0')).stdout);
      await eventually(size, (bytes) => bytes > 0);
      await runtime.pause();
      await runtime.pause();
      const started = performance.now();
      await assert.rejects(runtime.spawn({ argv: ['true'] }), (error) => isLitterboxError(error, 'SANDBOX_PAUSED'));
      assert.ok(performance.now() - started < 1000);
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

  check('a pause holds for other instances too, and any of them can end it', async ({ create, another, sh }) => {
    const runtime = await create();
    await using other = await (await another()).open(runtime.id);
    await runtime.pause();
    await assert.rejects(other.spawn({ argv: ['true'] }), (error) => isLitterboxError(error, 'SANDBOX_PAUSED'));
    await other.resume();
    assert.equal((await sh(runtime, 'echo on')).stdout, 'on\n');
  });

  check(
    'three cycles of pause and resume, and of stop and start, with writes between, lose nothing',
    async ({ create, sh }) => {
      const runtime = await create();
      for (let cycle = 1; cycle <= 3; cycle += 1) {
        await sh(runtime, `echo ${cycle} >>file; echo ${cycle} >>~/file`);
        await runtime.pause();
        await runtime.resume();
        await sh(runtime, `echo ${cycle} >>file`);
        await runtime.stop();
        await runtime.start();
      }
      assert.equal((await sh(runtime, 'cat file ~/file')).stdout, '1\n1\n2\n2\n3\n3\n1\n2\n3\n');
    },
  );

  check(
    'stop() ends all processes, is idempotent, and new ones are refused until start()',
    async ({ create, another, sh, provider }) => {
      const runtime = await create();
      const process = await runtime.spawn({ argv: ['sleep', '1000'] });
      const outcome = process.exit.then(
        ({ code }) => code !== 0,
        () => true,
      );
      await (await (await another()).open(runtime.id)).stop();
      await runtime.stop();
      assert.equal(await outcome, true);
      await process[Symbol.asyncDispose]();
      await assert.rejects(runtime.spawn({ argv: ['true'] }), (error) => isLitterboxError(error, 'SANDBOX_STOPPED'));
      const states = [];
      for await (const { id, state } of provider.list()) if (id === runtime.id) states.push(state);
      assert.deepEqual(states, ['stopped']);
      await runtime.start();
      await runtime.start();
      assert.equal((await sh(runtime, 'cat README')).stdout, 'read me\n');
    },
  );

  check('a paused sandbox can be closed, opened, stopped and removed', async ({ create, another, provider }) => {
    const runtime = await create();
    await using process = await runtime.spawn({ argv: ['sleep', '1000'] });
    await runtime.pause();
    await process[Symbol.asyncDispose]();
    await runtime[Symbol.asyncDispose]();
    await using other = await (await another()).open(runtime.id);
    await other.stop();
    await other.start();
    await other.pause();
    await provider.remove(runtime.id);
    for await (const { id } of provider.list()) assert.notEqual(id, runtime.id);
  });
}
