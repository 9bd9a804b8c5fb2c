import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { testWorld } from '../../src/index.ts';
import { made } from '../made.ts';

const failed = new Error('no');

test('the newest entries come first, of all or of one sandbox', async () => {
  await using world = testWorld();
  await made(world, 'a');
  await made(world, 'b');
  const record = await world.findSandbox.execute('a');
  expect(await world.readAudit.entries({})).toHaveLength(2);
  expect(await world.readAudit.entries({ limit: 1 })).toHaveLength(1);
  const [only] = await world.readAudit.entries({ sandbox: 'a' });
  expect(only?.sandbox).toBe(record.id);
  expect(await world.readAudit.verify()).toEqual({ entries: 4 });
});

test('a log of a sandbox that is not there is SANDBOX_NOT_FOUND', async () => {
  await using world = testWorld();
  await expect(world.readAudit.entries({ sandbox: 'a' })).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' });
});

test('what only reads is in the log when an agent asks for it', async () => {
  await using world = testWorld();
  await made(world);
  expect(await world.auditRead.ofRepository('sandbox-list', async () => 'all')).toBe('all');
  expect(await world.auditRead.ofSandbox('sandbox-diff', 'a', async ({ slug }) => slug)).toBe('a');
  await expect(world.auditRead.ofSandbox('sandbox-diff', 'a', () => Promise.reject(failed))).rejects.toBe(failed);
  expect((await world.audited()).slice(1)).toEqual(['sandbox-list: ok', 'sandbox-diff: ok', 'sandbox-diff: error']);
});

test('a call that was refused before it began is in the log once', async () => {
  await using world = testWorld();
  await made(world);
  const refused = new LitterboxError('ARG_TYPE', 'no', { operation: 'test' });
  await world.auditRead.refused('sandbox-run', refused);
  expect((await world.readAudit.entries({ limit: 1 }))[0]?.result).toEqual({ code: 'ARG_TYPE' });
  const error: unknown = await world.deleteSandbox.execute('b', {}).catch((cause: unknown) => cause);
  await world.auditRead.refused('sandbox-delete', error);
  const audited: unknown = await world.auditRead
    .ofSandbox('x', 'a', () => Promise.reject(failed))
    .catch((cause: unknown) => cause);
  const before = await world.audited();
  await world.auditRead.refused('x', audited);
  expect(await world.audited()).toEqual(before);
});

test('a refusal without a repository is written down all the same', async () => {
  await using world = testWorld({ sourceControl: { open: () => Promise.reject(failed) } });
  await world.auditRead.refused('sandbox-run', new Error('another'));
  expect(await world.audited()).toEqual(['sandbox-run: error']);
});
