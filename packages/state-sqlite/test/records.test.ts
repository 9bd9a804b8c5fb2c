import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { fixtureRecord } from '@litterbox/conformance';
import { RepositoryId, SandboxId } from '@litterbox/core/provider';
import { agentDirectory } from '../src/index.ts';
import { StateFixture } from './state-fixture.ts';
import { WorkerProcess } from './worker-process.ts';

// What one process sees is the contract, in the kit: see conformance.test.ts. These are several at once.

test('eight processes with fifty compare-and-swaps each lose none', async () => {
  await using fixture = new StateFixture();
  const { state } = fixture.open();
  const { id } = await state.insert(fixtureRecord());
  const workers = Array.from({ length: 8 }, () => new WorkerProcess(fixture.directory, 'increase', id, '50'));
  expect(await Promise.all(workers.map((worker) => worker.says()))).toEqual(Array(8).fill('done'));
  expect(await state.get(id)).toMatchObject({ setupLog: '400', generation: 401 });
});

test('two processes that make the same slug at once: one gets it, the other one SANDBOX_EXISTS', async () => {
  await using fixture = new StateFixture();
  for (const name of ['a', 'b', 'c']) {
    const change = JSON.stringify({ repositoryId: RepositoryId.make(), slug: name });
    const workers = [1, 2].map(() => new WorkerProcess(fixture.directory, 'insert', change));
    const said = await Promise.all(workers.map((worker) => worker.says()));
    expect(said.filter((value) => typeof value === 'string')).toHaveLength(1);
    expect(said).toContainEqual(expect.objectContaining({ code: 'SANDBOX_EXISTS' }));
  }
});

test('events of several processes are numbered without gaps and read on from any number', async () => {
  await using fixture = new StateFixture();
  const { state } = fixture.open();
  const workers = Array.from({ length: 4 }, () => new WorkerProcess(fixture.directory, 'publish', '100'));
  await Promise.all(workers.map((worker) => worker.says()));
  const all = await state.events(0);
  expect(all.map((event) => event.sequence)).toEqual(Array.from({ length: 400 }, (_, index) => index + 1));
  expect(await state.events(398)).toEqual(all.slice(398));
  expect(await state.events(10, { limit: 2 })).toEqual(all.slice(10, 12));
  const event = { type: 'sandbox-created', sandbox: SandboxId.make(), data: { nested: [1, null, { a: 'b' }] } };
  expect(await state.publish(event)).toMatchObject({ ...event, sequence: 401 });
});

test('with a record goes what was kept of its agent, and nothing of another', async () => {
  await using fixture = new StateFixture();
  const { state } = fixture.open();
  const records = [await state.insert(fixtureRecord()), await state.insert(fixtureRecord())] as const;
  const [gone, kept] = records.map(({ id }) => agentDirectory(fixture.directory, id)) as [string, string];
  for (const directory of [gone, kept]) {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'log'), 'said');
  }
  await expect(state.remove(records[1].id, { signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow('no');
  await state.remove(records[0].id);
  await state.remove(records[0].id);
  expect([existsSync(gone), existsSync(join(kept, 'log'))]).toEqual([false, true]);
});
