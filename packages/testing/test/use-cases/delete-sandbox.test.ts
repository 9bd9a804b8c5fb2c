import { expect, test } from '@jest/globals';
import { NOTHING_LEFT, testWorld } from '../../src/index.ts';
import { changed, inState, made } from '../made.ts';

const failed = new Error('no');
const fail = () => Promise.reject(failed);

test('a sandbox without work is deleted with all it holds', async () => {
  await using world = testWorld();
  await made(world);
  const record = await world.deleteSandbox.execute('a', {});
  expect(record.slug).toBe('a');
  expect(world.left()).toEqual(NOTHING_LEFT);
  expect(await world.audited()).toEqual(['sandbox-create: ok', 'sandbox-delete: ok']);
  expect(world.told()).toEqual(['sandbox-created', 'sandbox-deleted']);
});

test('one that is not there is SANDBOX_NOT_FOUND, with the names that are', async () => {
  await using world = testWorld();
  await made(world, 'b');
  await expect(world.deleteSandbox.execute('a', {})).rejects.toMatchObject({
    code: 'SANDBOX_NOT_FOUND',
    details: { hint: 'There are: b.' },
  });
});

test('work that is in no branch is UNMERGED_WORK; with force it goes', async () => {
  await using world = testWorld();
  await changed(world);
  await expect(world.deleteSandbox.execute('a', {})).rejects.toMatchObject({
    code: 'UNMERGED_WORK',
    message: expect.stringContaining('one file'),
  });
  expect(world.left().records).toEqual(['a: ready']);
  expect(await world.audited()).not.toContain('sandbox-delete: error');
  await world.deleteSandbox.execute('a', { force: true });
  expect(world.left()).toEqual(NOTHING_LEFT);
});

test('what no call has recorded yet counts as work', async () => {
  await using world = testWorld();
  await made(world);
  world.scribble('a', 'new', 'x');
  await expect(world.deleteSandbox.execute('a', {})).rejects.toMatchObject({ code: 'UNMERGED_WORK' });
  expect(world.subjects('a')).toEqual(['recovered: changes found before this call']);
});

test('work that is in the branch by now is no reason to keep it', async () => {
  await using world = testWorld();
  await changed(world);
  world.person.write('work', 'work\n');
  world.person.commit();
  await world.deleteSandbox.execute('a', {});
  expect(world.left()).toEqual(NOTHING_LEFT);
});

test('a sandbox in which a call is at work is SANDBOX_ACTIVE after two seconds, with who it is', async () => {
  await using world = testWorld();
  const { id } = await made(world);
  await using _ = await world.state.lease(`sandbox:${id}`, 'run: npm test');
  const deleting = world.deleteSandbox.execute('a', {});
  await world.clock.pass(2000);
  await expect(deleting).rejects.toMatchObject({
    code: 'SANDBOX_ACTIVE',
    message: expect.stringContaining('run: npm test'),
    details: { hint: expect.stringContaining('litterbox pause a --stop') },
  });
  expect(world.left().records).toEqual(['a: ready']);
});

test('with force it waits as long as any call does', async () => {
  await using world = testWorld();
  const { id } = await made(world);
  const lease = await world.state.lease(`sandbox:${id}`, 'run');
  const deleting = world.deleteSandbox.execute('a', { force: true });
  await world.clock.asleep();
  world.clock.advance(9_999);
  await lease[Symbol.asyncDispose]();
  await deleting;
  expect(world.left()).toEqual(NOTHING_LEFT);
});

test('one whose making was interrupted has no history, and goes', async () => {
  await using world = testWorld();
  const { id } = await made(world);
  await (await world.openRepository.execute()).remove(id);
  await inState(world, 'a', 'creating');
  await world.deleteSandbox.execute('a', {});
  expect(world.left()).toEqual(NOTHING_LEFT);
});

test('one that another program deleted meanwhile is as good as deleted here', async () => {
  await using world = testWorld();
  const { id } = await made(world);
  const lease = await world.state.lease(`sandbox:${id}`, 'delete');
  const deleting = world.deleteSandbox.execute('a', {});
  await world.clock.asleep();
  await world.state.remove(id);
  await lease[Symbol.asyncDispose]();
  expect((await deleting).id).toBe(id);
  expect(await world.audited()).toEqual(['sandbox-create: ok']);
});

test('a deletion whose runtime cannot be removed stays marked, and the next one goes on', async () => {
  let isDown = true;
  await using world = testWorld({
    provider: (real) => ({ remove: (...args) => (isDown ? fail() : real.remove(...args)) }),
  });
  await changed(world);
  await expect(world.deleteSandbox.execute('a', { force: true })).rejects.toBe(failed);
  expect(world.left().records).toEqual(['a: deleting']);
  expect(world.left().journal).toEqual(['sandbox-delete: runtime']);
  isDown = false;
  await world.deleteSandbox.execute('a', {}); // what is being deleted is not asked about again
  expect(world.left().records).toEqual([]);
  expect(world.left().histories).toEqual([]);
});

test('a deletion whose history cannot be removed keeps the record, by which it is found again', async () => {
  await using world = testWorld({ repository: { remove: fail } });
  await made(world);
  await expect(world.deleteSandbox.execute('a', {})).rejects.toBe(failed);
  expect(world.left()).toEqual({
    ...NOTHING_LEFT,
    records: ['a: deleting'],
    histories: ['a'],
    journal: ['sandbox-delete: history'],
  });
});
