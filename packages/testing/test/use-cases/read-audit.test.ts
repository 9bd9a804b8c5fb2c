import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { useCaseFixture } from '../../src/index.ts';
import { made } from '../made.ts';

const failed = new Error('no');

test('the newest entries come first, of all or of one sandbox', async () => {
  await using fixture = useCaseFixture();
  await made(fixture, 'a');
  await made(fixture, 'b');
  const record = await fixture.findSandbox.find('a');
  expect(await fixture.readAudit.entries({})).toHaveLength(2);
  expect(await fixture.readAudit.entries({ limit: 1 })).toHaveLength(1);
  const [only] = await fixture.readAudit.entries({ sandbox: 'a' });
  expect(only?.sandbox).toBe(record.id);
  expect(await fixture.readAudit.verify()).toEqual({ entries: 4 });
});

test('a log of a sandbox that is not there is SANDBOX_NOT_FOUND', async () => {
  await using fixture = useCaseFixture();
  await expect(fixture.readAudit.entries({ sandbox: 'a' })).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' });
});

test('what only reads is in the log when an agent asks for it', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  expect(await fixture.auditRead.ofRepository('sandbox-list', async () => 'all')).toBe('all');
  expect(await fixture.auditRead.ofSandbox('sandbox-diff', 'a', async ({ slug }) => slug)).toBe('a');
  await expect(fixture.auditRead.ofSandbox('sandbox-diff', 'a', () => Promise.reject(failed))).rejects.toBe(failed);
  expect((await fixture.audited()).slice(1)).toEqual(['sandbox-list: ok', 'sandbox-diff: ok', 'sandbox-diff: error']);
});

test('a call that was refused before it began is in the log once', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const refused = new LitterboxError('ARG_TYPE', 'no', { operation: 'test' });
  await fixture.auditRead.recordRefusal('sandbox-run', refused);
  expect((await fixture.readAudit.entries({ limit: 1 }))[0]?.result).toEqual({ code: 'ARG_TYPE' });
  const error: unknown = await fixture.deleteSandbox.delete('b', {}).catch((cause: unknown) => cause);
  await fixture.auditRead.recordRefusal('sandbox-delete', error);
  const audited: unknown = await fixture.auditRead
    .ofSandbox('x', 'a', () => Promise.reject(failed))
    .catch((cause: unknown) => cause);
  const before = await fixture.audited();
  await fixture.auditRead.recordRefusal('x', audited);
  expect(await fixture.audited()).toEqual(before);
});

test('a refusal without a repository is written down all the same', async () => {
  await using fixture = useCaseFixture({ sourceControl: { open: () => Promise.reject(failed) } });
  await fixture.auditRead.recordRefusal('sandbox-run', new Error('another'));
  expect(await fixture.audited()).toEqual(['sandbox-run: error']);
});
