import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { SandboxId } from '@litterbox/core/provider';
import { StateFixture } from './state-fixture.ts';
import { WORKER, WorkerProcess } from './worker-process.ts';

test('what a killed process began is found interrupted, what a living one began is not', async () => {
  await using fixture = new StateFixture();
  const { state } = fixture.open();
  await using worker = new WorkerProcess(fixture.directory, 'begin');
  await worker.says();
  const mine = await state.begin({ operation: 'sandbox-delete', sandbox: SandboxId.make(), step: 'stop' });
  expect(await state.interrupted()).toEqual([]);
  worker.child.kill('SIGSTOP');
  expect(await state.interrupted()).toEqual([]);
  await worker.kill();
  const [found, ...others] = await state.interrupted();
  expect(others).toEqual([]);
  expect(found).toMatchObject({ operation: 'sandbox-create', step: 'record' });

  // Whoever takes the next step owns it.
  await state.step(found?.id ?? '', 'undo');
  expect(await state.interrupted()).toEqual([]);
  await state.end(found?.id ?? '');
  await state.step(mine.id, 'remove');
  await state.end(mine.id);
  await state.end(mine.id);
  await expect(state.step(mine.id, 'more')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await state.interrupted()).toEqual([]);
});

test.each([
  ['losable', [1, 1]],
  ['durable', [2, 3]],
])('what is %s waits for the disk that often', async (how, expected) => {
  await using fixture = new StateFixture();
  fixture.open();
  const trace = join(fixture.parent, 'trace');
  const node = [process.execPath, '--conditions=@litterbox/source', '--no-warnings', WORKER];
  const traced = ['-f', '-qq', '-e', 'trace=fsync,fdatasync,access', '-o', trace];
  execFileSync('strace', [...traced, ...node, fixture.directory, 'make', how], { env: { PATH: process.env['PATH'] } });
  const [, begun = '', ended = ''] = /\/begins(.*)\/goes-on(.*)\/ends/s.exec(readFileSync(trace, 'utf8')) ?? [];
  expect([begun, ended].map((calls) => calls.match(/f(data)?sync\(/g)?.length)).toEqual(expected);
});
