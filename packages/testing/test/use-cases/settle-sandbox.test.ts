import { expect, test } from '@jest/globals';
import { useCaseFixture } from '../../src/index.ts';
import { inState, made } from '../made.ts';

const failed = new Error('no');

test('what no call has recorded is recorded', async () => {
  await using fixture = useCaseFixture();
  const record = await made(fixture);
  fixture.scribble('a', 'late', 'x');
  await fixture.settleSandbox.settle(record);
  expect(fixture.subjects('a')).toHaveLength(1);
});

test('one that is at rest, gone or missing has nothing that could be looked into', async () => {
  const fixture = useCaseFixture();
  const record = await made(fixture);
  for (const state of ['paused', 'stopped', 'deleting', 'setup-failed'] as const) {
    await inState(fixture, 'a', state);
    await fixture.settleSandbox.settle(record);
  }
  await inState(fixture, 'a', 'ready');
  fixture.shelves.sandboxes.sandboxes.clear();
  await using next = fixture.restarted();
  await next.settleSandbox.settle(record);
  await next.state.remove(record.id);
  await next.settleSandbox.settle(record);
  expect(next.subjects('a')).toEqual([]);
});

test('a pause that comes between is no failure', async () => {
  await using fixture = useCaseFixture();
  const record = await made(fixture);
  const [sandbox] = fixture.shelves.sandboxes.sandboxes.values();
  if (sandbox) sandbox.state = 'paused';
  await fixture.settleSandbox.settle(record);
});

test('any other failure is told', async () => {
  await using fixture = useCaseFixture({ runtime: { scan: () => Promise.reject(failed) } });
  const record = await made(fixture);
  await expect(fixture.settleSandbox.settle(record)).rejects.toBe(failed);
});
