import { expect, test } from '@jest/globals';
import { testWorld } from '../../src/index.ts';
import { inState, made } from '../made.ts';

const failed = new Error('no');

test('what no call has recorded is recorded', async () => {
  await using world = testWorld();
  const record = await made(world);
  world.scribble('a', 'late', 'x');
  await world.settleSandbox.execute(record);
  expect(world.subjects('a')).toHaveLength(1);
});

test('one that is at rest, gone or missing has nothing that could be looked into', async () => {
  const world = testWorld();
  const record = await made(world);
  for (const state of ['paused', 'stopped', 'deleting', 'setup-failed'] as const) {
    await inState(world, 'a', state);
    await world.settleSandbox.execute(record);
  }
  await inState(world, 'a', 'ready');
  world.ground.sandboxes.sandboxes.clear();
  await using next = world.restarted();
  await next.settleSandbox.execute(record);
  await next.state.remove(record.id);
  await next.settleSandbox.execute(record);
  expect(next.subjects('a')).toEqual([]);
});

test('a pause that comes between is no failure', async () => {
  await using world = testWorld();
  const record = await made(world);
  const [sandbox] = world.ground.sandboxes.sandboxes.values();
  if (sandbox) sandbox.state = 'paused';
  await world.settleSandbox.execute(record);
});

test('any other failure is told', async () => {
  await using world = testWorld({ runtime: { scan: () => Promise.reject(failed) } });
  const record = await made(world);
  await expect(world.settleSandbox.execute(record)).rejects.toBe(failed);
});
