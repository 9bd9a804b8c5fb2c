import { expect, test } from '@jest/globals';
import { testWorld, type TestWorld } from '../../src/index.ts';
import { inState, made } from '../made.ts';

const failed = new Error('no');
const look = (world: TestWorld, see: () => Promise<unknown>, signal?: AbortSignal) =>
  world.inspectSandbox.execute({ sandbox: 'a', operation: 'sandbox-look', input: {}, look: see }, { signal });

test('any number look at once, while somebody is at work, and each is audited', async () => {
  await using world = testWorld();
  const { id } = await made(world);
  await using _ = await world.state.lease(`sandbox:${id}`, 'run');
  expect(await Promise.all([look(world, async () => 1), look(world, async () => 2)])).toEqual([1, 2]);
  expect((await world.audited()).slice(1)).toEqual(['sandbox-look: ok', 'sandbox-look: ok']);
});

test('a failure is told, and audited', async () => {
  await using world = testWorld();
  await made(world);
  await expect(look(world, () => Promise.reject(failed))).rejects.toBe(failed);
  expect((await world.audited()).at(-1)).toBe('sandbox-look: error');
});

test('a failure in a sandbox that was deleted meanwhile is that', async () => {
  await using world = testWorld();
  const { id } = await made(world);
  const see = async () => {
    await inState(world, 'a', 'deleting');
    throw failed;
  };
  await expect(look(world, see)).rejects.toMatchObject({ code: 'SANDBOX_DELETING' });
  await inState(world, 'a', 'ready');
  const gone = async () => {
    await world.state.remove(id);
    throw failed;
  };
  await expect(look(world, gone)).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' });
});

test('an abort is told as the reason of the caller', async () => {
  await using world = testWorld();
  await made(world);
  const controller = new AbortController();
  const see = async () => {
    controller.abort(failed);
    throw new Error('something else');
  };
  await expect(look(world, see, controller.signal)).rejects.toBe(failed);
});

test('a paused sandbox is not looked into, and the refusal is audited', async () => {
  await using world = testWorld();
  await made(world);
  await world.changeRunState.execute('a', 'paused');
  await expect(look(world, async () => {})).rejects.toMatchObject({ code: 'SANDBOX_PAUSED' });
  expect((await world.audited()).at(-1)).toBe('sandbox-look: error');
});
