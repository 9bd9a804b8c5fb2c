import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { eventually, fixtureRecord } from '@litterbox/conformance';
import { StateFixture } from './state-fixture.ts';
import { WorkerProcess } from './worker-process.ts';

test('who waits too long is told which process holds it, this one or another', async () => {
  await using fixture = new StateFixture();
  const { state } = fixture.open();
  await using worker = new WorkerProcess(fixture.directory, 'hold', 'sandbox:1', 'run: npm test');
  expect(await worker.says()).toBe('held');
  await expect(state.lease('sandbox:1', 'mine', { waitMs: 100 })).rejects.toMatchObject({
    code: 'BUSY',
    message: `"sandbox:1" is in use by process ${worker.pid} (run: npm test) and was not free within 100 ms.`,
    details: { hint: expect.stringContaining(`ps ${worker.pid}`), facts: { holderPid: worker.pid } },
  });
  await using _ = await state.lease('sandbox:2', 'the first');
  await expect(state.lease('sandbox:2', 'mine', { waitMs: 20 })).rejects.toMatchObject({
    code: 'BUSY',
    details: { facts: { holderPid: process.pid, holderPurpose: 'the first' } },
  });
});

test('closing a store leaves the lock of another one in this process, which other processes see', async () => {
  await using fixture = new StateFixture();
  const one = fixture.open().state;
  const two = fixture.open().state;
  await using _ = await one.lease('a', 'first');
  await expect(two.lease('a', 'second', { waitMs: 30 })).rejects.toMatchObject({ code: 'BUSY' });
  await two[Symbol.asyncDispose]();
  await using worker = new WorkerProcess(fixture.directory, 'take', 'a', '50');
  expect(await worker.says()).toMatchObject({
    code: 'BUSY',
    facts: { holderPid: process.pid, holderPurpose: 'first' },
  });
});

test('the lease of a process that was killed is free within a second', async () => {
  await using fixture = new StateFixture();
  const { state } = fixture.open();
  await using worker = new WorkerProcess(fixture.directory, 'hold', 'a', 'hold');
  await worker.says();
  const waiting = state.lease('a', 'next');
  await setTimeout(100);
  await worker.kill();
  const killedAt = performance.now();
  await using _ = await waiting;
  expect(performance.now() - killedAt).toBeLessThan(1000);
});

test('a holder that is stopped keeps its lease; who waits learns its process id', async () => {
  await using fixture = new StateFixture();
  const { state } = fixture.open();
  await using worker = new WorkerProcess(fixture.directory, 'hold', 'a', 'stopped one');
  await worker.says();
  worker.child.kill('SIGSTOP');
  await expect(state.lease('a', 'next', { waitMs: 300 })).rejects.toMatchObject({
    code: 'BUSY',
    details: { facts: { holderPid: worker.pid, holderPurpose: 'stopped one' } },
  });
  // It stops nobody from reading or writing records.
  expect(await state.list()).toEqual([]);
  worker.child.kill('SIGCONT');
});

test('a wait for another process ends with the reason of its caller', async () => {
  await using fixture = new StateFixture();
  const { state } = fixture.open();
  await using worker = new WorkerProcess(fixture.directory, 'hold', 'b', 'hold');
  await worker.says();
  const signal = AbortSignal.timeout(50);
  const error: unknown = await state.lease('b', 'mine', { signal }).catch((cause: unknown) => cause);
  expect(error).toBe(signal.reason);
});

test('processes that take turns are never in at the same time, and none starves', async () => {
  await using fixture = new StateFixture();
  const { state } = fixture.open();
  await state.list();
  const file = join(fixture.parent, 'count');
  writeFileSync(file, '0');
  const workers = Array.from({ length: 6 }, () => new WorkerProcess(fixture.directory, 'count', 'a', file, '50'));
  const done = Promise.all(workers.map((worker) => worker.says()));
  const counting = new AbortController();
  // A crowd in this process, which would keep the lease for itself if it did not let others in.
  const crowd = Array.from({ length: 4 }, async () => {
    while (!counting.signal.aborted) {
      await using _ = await state.lease('a', 'crowd', { waitMs: 60_000 });
      await setTimeout(0);
    }
  });
  expect(await done).toEqual(Array(6).fill('done'));
  counting.abort();
  await Promise.all(crowd);
  expect(readFileSync(file, 'utf8')).toBe('300');
});

test('a lock file that somebody removed does not let two in for long', async () => {
  await using fixture = new StateFixture();
  const { state } = fixture.open();
  await (await state.lease('a', 'first'))[Symbol.asyncDispose]();
  rmSync(join(fixture.directory, 'locks'), { recursive: true });
  const { mkdirSync } = await import('node:fs');
  mkdirSync(join(fixture.directory, 'locks'));
  await using _ = await state.lease('a', 'second');
  await using worker = new WorkerProcess(fixture.directory, 'take', 'a', '50');
  expect(await worker.says()).toMatchObject({ code: 'BUSY' });
});

test('a sandbox that is gone leaves no lock, and who waited for it gets one that excludes', async () => {
  await using fixture = new StateFixture();
  const { state } = fixture.open();
  const { id } = await state.insert(fixtureRecord());
  const lease = await state.lease(`sandbox:${id}`, 'delete');
  await using worker = new WorkerProcess(fixture.directory, 'hold', `sandbox:${id}`, 'run');
  await eventually(
    async () => readdirSync(join(fixture.directory, 'locks')).some((name) => name.endsWith('.waiting')),
    (isWaiting) => isWaiting,
  );
  await state.remove(id);
  await lease[Symbol.asyncDispose]();
  expect(await worker.says()).toBe('held');
  await expect(state.lease(`sandbox:${id}`, 'mine', { waitMs: 50 })).rejects.toMatchObject({ code: 'BUSY' });

  const other = await state.insert(fixtureRecord());
  const before = readdirSync(join(fixture.directory, 'locks')).length;
  const last = await state.lease(`sandbox:${other.id}`, 'delete');
  await state.remove(other.id);
  await last[Symbol.asyncDispose]();
  expect(readdirSync(join(fixture.directory, 'locks'))).toHaveLength(before);
});

test('a lease costs less than 0.3 ms', async () => {
  await using fixture = new StateFixture();
  const { state } = fixture.open();
  const times: number[] = [];
  for (let count = 0; count < 300; count += 1) {
    const before = performance.now();
    await (await state.lease('a', 'measure'))[Symbol.asyncDispose]();
    times.push(performance.now() - before);
  }
  times.sort((a, b) => a - b);
  expect(times[150]).toBeLessThan(0.3);
});
