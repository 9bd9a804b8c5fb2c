import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { testWorld } from '../../src/index.ts';
import { inState, made } from '../made.ts';

const statesOf = async (world: ReturnType<typeof testWorld>) =>
  (await world.listSandboxes.execute('repository')).map(({ name, state }) => `${name}: ${state}`);

test('what there is, in the order in which it was made', async () => {
  await using world = testWorld();
  const record = await made(world, 'b');
  await made(world, 'a');
  const [first] = await world.listSandboxes.execute('repository');
  expect(first?.name).toBe('b');
  expect(first?.id).toBe(record.id);
  expect(first?.repository).toBe(world.person.root);
  expect(first?.isDegraded).toBe(false);
  expect(await statesOf(world)).toEqual(['b: ready', 'a: ready']);
});

test('the state is what record and runtime say together', async () => {
  await using world = testWorld();
  for (const name of ['paused', 'stopped', 'missing', 'broken', 'failed', 'creating', 'deleting'])
    await made(world, name);
  await world.changeRunState.execute('paused', 'paused');
  await world.changeRunState.execute('stopped', 'stopped');
  const records = await world.state.list();
  const idOf = (name: string) => records.find(({ slug }) => slug === name)?.id ?? records[0]?.id;
  const { sandboxes } = world.ground.sandboxes;
  for (const [id, sandbox] of sandboxes) {
    if (id === idOf('missing')) sandboxes.delete(id);
    if (id === idOf('broken')) sandbox.state = 'broken';
  }
  await inState(world, 'failed', 'setup-failed');
  await inState(world, 'creating', 'creating');
  await inState(world, 'deleting', 'deleting');
  expect(await statesOf(world)).toEqual([
    'paused: paused',
    'stopped: stopped',
    'missing: missing',
    'broken: error',
    'failed: setup-failed',
    'creating: creating',
    'deleting: deleting',
  ]);
});

test('a provider that cannot be asked shows as an error, not as nothing', async () => {
  const world = testWorld();
  await made(world);
  await using next = world.restarted({
    provider: {
      // oxlint-disable-next-line require-yield
      async *list() {
        throw new LitterboxError('UNAVAILABLE', 'down', { operation: 'test' });
      },
    },
  });
  expect(await statesOf(next)).toEqual(['a: error']);
});

test('a sandbox of a provider that this program does not have shows as an error', async () => {
  await using world = testWorld();
  await made(world);
  const [record] = world.ground.records.records;
  if (record) await world.state.update(record, { provider: 'docker' });
  expect(await statesOf(world)).toEqual(['a: error']);
});

test('an abort is no provider that is down', async () => {
  await using world = testWorld();
  await made(world);
  const reason = new Error('enough');
  const listing = world.listSandboxes.execute('repository', { signal: AbortSignal.abort(reason) });
  await expect(listing).rejects.toBe(reason);
});

test('those of all repositories need no repository', async () => {
  const world = testWorld();
  await made(world);
  await using next = world.restarted({ sourceControl: { open: () => Promise.reject(new Error('no')) } });
  expect((await next.listSandboxes.execute('all')).map(({ name }) => name)).toEqual(['a']);
});

test('a fork says what it is a copy of', async () => {
  await using world = testWorld();
  await made(world);
  await world.forkSandbox.execute('a', 'b');
  expect((await world.listSandboxes.execute('repository')).map(({ forkedFrom }) => forkedFrom)).toEqual([
    undefined,
    'a',
  ]);
});
