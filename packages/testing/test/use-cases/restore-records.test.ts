import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { testWorld } from '../../src/index.ts';
import { changed, made } from '../made.ts';

async function restored(world: ReturnType<typeof testWorld>): Promise<readonly string[]> {
  return await world.restoreRecords.execute(await world.openRepository.execute());
}

/** The state file is gone; what it kept of sandboxes is. */
function lose(world: ReturnType<typeof testWorld>): void {
  world.ground.records.records = [];
}

test('with one record there is nothing to do, whatever is missing', async () => {
  await using world = testWorld();
  await made(world);
  const { id } = await made(world, 'b');
  await world.state.remove(id);
  expect(await restored(world)).toEqual([]);
});

test('records are made anew from histories and runtimes, and work goes on', async () => {
  await using world = testWorld();
  const before = await changed(world, 'a');
  await changed(world, 'b');
  await world.changeRunState.execute('b', 'paused');
  lose(world);
  expect(await restored(world)).toEqual([
    'The record of a was lost and is made anew; the sandbox is ready.',
    'The record of b was lost and is made anew; the sandbox is paused.',
  ]);
  const after = await world.findSandbox.execute('a');
  expect(after.id).toBe(before.id);
  expect(after.baseCommit).toBe(before.baseCommit);
  expect(after.workdir).toBe('/src');
  expect(after.mark).toBeUndefined();
  await world.runCommand.execute({ sandbox: 'a', command: 'echo more >more' });
  expect(world.subjects('a').at(-1)).toBe('run: echo more >more');
});

test('one without a runtime is as one whose runtime is missing', async () => {
  const world = testWorld();
  await changed(world);
  lose(world);
  world.ground.sandboxes.sandboxes.clear();
  await using next = world.restarted();
  expect(await restored(next)).toHaveLength(1);
  expect((await next.listSandboxes.execute('repository'))[0]?.state).toBe('missing');
});

test('one whose runtime is broken gets a record too', async () => {
  await using world = testWorld();
  await made(world);
  lose(world);
  for (const sandbox of world.ground.sandboxes.sandboxes.values()) sandbox.state = 'broken';
  expect(await restored(world)).toHaveLength(1);
});

test("what is being prepared for the pool is nobody's sandbox", async () => {
  await using world = testWorld();
  const { id, repositoryId } = await made(world);
  lose(world);
  world.ground.records.pool.push({
    sandbox: { id, repositoryId, provider: 'memory', fingerprint: 'f0', state: 'filling', createdAtMs: 0 },
    owner: { isAlive: true },
  });
  expect(await restored(world)).toEqual([]);
});

test('one that was prepared and is known to nobody gets no record', async () => {
  await using world = testWorld();
  await made(world);
  lose(world);
  for (const sandbox of world.ground.sandboxes.sandboxes.values()) sandbox.isPooled = true;
  expect(await restored(world)).toEqual([]);
});

test('one that cannot be made anew is told, and the others are', async () => {
  const world = testWorld();
  await made(world, 'a');
  await made(world, 'b');
  lose(world);
  const [first] = world.ground.sandboxes.sandboxes.keys();
  const down = new LitterboxError('UNAVAILABLE', 'down', { operation: 'test' });
  await using next = world.restarted({
    provider: (real) => ({ open: (id, options) => (id === first ? Promise.reject(down) : real.open(id, options)) }),
  });
  expect(await restored(next)).toEqual([
    'The record of a was lost and could not be made anew: down',
    'The record of b was lost and is made anew; the sandbox is ready.',
  ]);
});
