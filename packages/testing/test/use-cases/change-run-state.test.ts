import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { testWorld } from '../../src/index.ts';
import { inState, made } from '../made.ts';

const failed = new Error('no');

test('a sandbox is paused, stopped and resumed, and the record says so', async () => {
  await using world = testWorld();
  await made(world);
  for (const [wanted, runtime] of [
    ['paused', 'paused'],
    ['ready', 'running'],
    ['stopped', 'stopped'],
    ['ready', 'running'],
  ] as const) {
    const { record, isChanged } = await world.changeRunState.execute('a', wanted);
    expect(record.state).toBe(wanted);
    expect(isChanged).toBe(true);
    expect(world.left().runtimes).toEqual([runtime]);
  }
  expect(world.told().slice(1)).toEqual(['sandbox-paused', 'sandbox-resumed', 'sandbox-stopped', 'sandbox-resumed']);
  expect(world.left().journal).toEqual([]);
});

test('what it is already changes nothing, and nothing is audited', async () => {
  await using world = testWorld();
  await made(world);
  expect((await world.changeRunState.execute('a', 'ready')).isChanged).toBe(false);
  expect(await world.audited()).toEqual(['sandbox-create: ok']);
});

test('the runtime has the last word: one that somebody else froze is resumed', async () => {
  await using world = testWorld();
  await made(world);
  const [sandbox] = world.ground.sandboxes.sandboxes.values();
  if (sandbox) sandbox.state = 'paused';
  expect((await world.changeRunState.execute('a', 'ready')).isChanged).toBe(true);
  expect(world.left().runtimes).toEqual(['running']);
});

test('a pause waits for nobody: a command that runs is what is paused', async () => {
  await using world = testWorld();
  const { id } = await made(world);
  await using _ = await world.state.lease(`sandbox:${id}`, 'run');
  expect((await world.changeRunState.execute('a', 'paused')).record.state).toBe('paused');
});

test('a sandbox whose setup failed is not made ready by resuming it', async () => {
  await using world = testWorld();
  await made(world);
  await inState(world, 'a', 'setup-failed');
  const { record, isChanged } = await world.changeRunState.execute('a', 'ready');
  expect(record.state).toBe('setup-failed');
  expect(isChanged).toBe(false);
});

for (const state of ['creating', 'deleting'] as const)
  test(`a sandbox that is ${state} is SANDBOX_BUSY`, async () => {
    await using world = testWorld();
    await made(world);
    await inState(world, 'a', state);
    await expect(world.changeRunState.execute('a', 'paused')).rejects.toMatchObject({ code: 'SANDBOX_BUSY' });
  });

test('a runtime that cannot be paused leaves the record as it was, and an audited error', async () => {
  await using world = testWorld({ runtime: { pause: () => Promise.reject(failed) } });
  await made(world);
  await expect(world.changeRunState.execute('a', 'paused')).rejects.toBe(failed);
  expect(world.left().records).toEqual(['a: ready']);
  expect((await world.audited()).at(-1)).toBe('sandbox-paused: error');
});

test('a failure in a sandbox that was deleted meanwhile is SANDBOX_DELETING', async () => {
  await using world = testWorld({
    runtime: {
      async pause() {
        await inState(world, 'a', 'deleting');
        throw failed;
      },
    },
  });
  await made(world);
  await expect(world.changeRunState.execute('a', 'paused')).rejects.toMatchObject({ code: 'SANDBOX_DELETING' });
});

test('a deletion that began meanwhile is not written over', async () => {
  await using world = testWorld({
    runtime: (real) => ({
      async pause() {
        await real.pause();
        await inState(world, 'a', 'deleting');
      },
    }),
  });
  await made(world);
  await world.changeRunState.execute('a', 'paused');
  expect(world.left().records).toEqual(['a: deleting']);
});

test('a runtime that is gone is SANDBOX_RUNTIME_MISSING', async () => {
  const world = testWorld();
  await made(world);
  world.ground.sandboxes.sandboxes.clear();
  await using next = world.restarted();
  await expect(next.changeRunState.execute('a', 'stopped')).rejects.toMatchObject({ code: 'SANDBOX_RUNTIME_MISSING' });
});

test('all of them: those that can be are, the others are left out', async () => {
  await using world = testWorld();
  for (const name of ['a', 'b', 'c']) await made(world, name);
  await inState(world, 'c', 'setup-failed');
  const results = await world.changeRunState.all(await world.listSandboxes.records('repository'), 'paused');
  expect(results.map(({ record }) => record.slug)).toEqual(['a', 'b']);
  expect(world.left().runtimes).toEqual(['paused', 'paused', 'running']);
});

test('a provider that is down is told as it is', async () => {
  const down = new LitterboxError('UNAVAILABLE', 'down', { operation: 'test' });
  await using world = testWorld({
    provider: {
      // oxlint-disable-next-line require-yield
      async *list() {
        throw down;
      },
    },
  });
  await made(world);
  await expect(world.changeRunState.execute('a', 'ready')).rejects.toBe(down);
});
