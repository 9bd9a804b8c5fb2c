import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from '@jest/globals';
import { StateFixture } from './state-fixture.ts';
import { WorkerProcess } from './worker-process.ts';

const START = { operation: 'sandbox-run', actor: 'cli', input: { command: 'npm test' } };

test('what a killed process left open is ended as unknown, once, in the chain', async () => {
  await using fixture = new StateFixture();
  const { audit } = fixture.open();
  await using worker = new WorkerProcess(fixture.directory, 'begin');
  await worker.says();
  expect(await audit.entries({})).toMatchObject([{ outcome: 'running' }]);
  await worker.kill();
  const [entry] = await audit.entries({});
  expect(entry).toMatchObject({ outcome: 'unknown', result: {} });
  expect(await audit.entries({})).toEqual([entry]);
  expect(await audit.verify()).toEqual({ entries: 2 });
});

test('processes that write at the same time make one chain', async () => {
  await using fixture = new StateFixture();
  const { audit } = fixture.open();
  const workers = Array.from({ length: 4 }, () => new WorkerProcess(fixture.directory, 'audit', '100'));
  const done = Promise.all(workers.map((worker) => worker.says()));
  const writing = new AbortController();
  const verifier = (async () => {
    while (!writing.signal.aborted) await audit.verify();
  })();
  await done;
  writing.abort();
  await verifier;
  expect(await audit.verify()).toEqual({ entries: 800 });
});

describe('a changed log', () => {
  const tampering: Readonly<
    Record<string, { readonly how: string; readonly first: number; readonly message: string }>
  > = {
    'a changed body': {
      how: `UPDATE audit SET body = replace(body, 'npm test', 'rm -rf /') WHERE sequence = 3`,
      first: 3,
      message: 'entry 3 is not what was written',
    },
    'a changed hash': { how: `UPDATE audit SET hash = hash || '0' WHERE sequence = 4`, first: 4, message: 'entry 4' },
    'a removed entry': { how: 'DELETE FROM audit WHERE sequence = 5', first: 5, message: 'entry 5 is missing' },
    'removed and renumbered entries': {
      how: `DELETE FROM audit WHERE sequence = 5; UPDATE audit SET sequence = sequence - 1 WHERE sequence > 5`,
      first: 5,
      message: 'entry 5',
    },
    'two entries in another order': {
      how: `UPDATE audit SET sequence = 100 WHERE sequence = 3; UPDATE audit SET sequence = 3 WHERE sequence = 5;
              UPDATE audit SET sequence = 5 WHERE sequence = 100`,
      first: 3,
      message: 'entry 3',
    },
    'a removed end': {
      how: 'DELETE FROM audit WHERE sequence > 6',
      first: 7,
      message: 'the log ends after entry 6, but entry 8 was written',
    },
    'a removed end with the head in the table set back': {
      how: `DELETE FROM audit WHERE sequence > 6;
              UPDATE audit_head SET (sequence, hash) = (SELECT sequence, hash FROM audit WHERE sequence = 6)`,
      first: 7,
      message: 'the log ends after entry 6, but entry 8 was written',
    },
    'everything removed': {
      how: `DELETE FROM audit; UPDATE audit_head SET sequence = 0, hash = ''`,
      first: 1,
      message: 'the log ends after entry 0, but entry 8 was written',
    },
  };
  for (const [name, { how, first, message }] of Object.entries(tampering)) {
    test(`${name} shows`, async () => {
      await using fixture = new StateFixture();
      const written = fixture.open().audit;
      for (let count = 0; count < 4; count += 1) await (await written.start(START))('ok', { count });
      await fixture.close(); // the mark in audit.head is written behind the last answer
      const database = new DatabaseSync(join(fixture.directory, 'state.db'));
      database.exec(how);
      database.close();
      await expect(fixture.open().audit.verify()).rejects.toMatchObject({
        code: 'AUDIT_TAMPERED',
        message: expect.stringContaining(message),
        details: { facts: { sequence: first }, hint: expect.any(String) },
      });
    });
  }

  test('a removed or replaced head file shows, also after more was written', async () => {
    await using fixture = new StateFixture();
    const { audit } = fixture.open();
    await (await audit.start(START))('ok', {});
    await fixture.close();
    const path = join(fixture.directory, 'audit.head');
    const good = readFileSync(path);
    rmSync(path);
    const again = fixture.open().audit;
    await (await again.start(START))('ok', {});
    await expect(again.verify()).rejects.toMatchObject({ code: 'AUDIT_TAMPERED' });
    await fixture.close();
    writeFileSync(path, good);
    expect(await fixture.open().audit.verify()).toEqual({ entries: 4 });
    writeFileSync(path, good.toString().replace(/[0-9a-f]{64}/, 'a'.repeat(64)));
    await expect(fixture.open().audit.verify()).rejects.toMatchObject({ code: 'AUDIT_TAMPERED' });
  });
});
