import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { NOTHING_LEFT, testWorld, type WorldOptions } from '../../src/index.ts';
import { changed, made, setup } from '../made.ts';

test('there is nothing to do where nothing was interrupted', async () => {
  await using world = testWorld();
  await made(world);
  const before = world.left();
  expect(await world.reconcile.execute()).toEqual([]);
  expect(world.left()).toEqual(before);
});

for (const point of ['create.after-record', 'create.after-runtime', 'create.after-assurance', 'create.after-setup'])
  test(`a create that was killed at ${point} is undone`, async () => {
    const world = testWorld();
    await world.killedAt(point, () => made(world, 'a', { overrides: setup('echo x >out') }));
    expect(world.left().records).toEqual(['a: creating']);
    await using next = world.restarted();
    expect(await next.reconcile.execute()).toEqual(['Undid the interrupted creation of a.']);
    expect(next.left()).toEqual(NOTHING_LEFT);
    expect(await next.audited()).toContain('sandbox-create: unknown');
  });

test('a create that was killed before its record leaves a journal entry that goes', async () => {
  const world = testWorld();
  await world.killedAt('create.after-journal', () => made(world));
  expect(world.left()).toEqual({ ...NOTHING_LEFT, journal: ['sandbox-create: record'] });
  await using next = world.restarted();
  expect(await next.reconcile.execute()).toEqual([]);
  expect(next.left()).toEqual(NOTHING_LEFT);
});

test('a create that was killed when all was done keeps its sandbox', async () => {
  const world = testWorld();
  await world.killedAt('create.after-ready', () => made(world));
  await using next = world.restarted();
  expect(await next.reconcile.execute()).toEqual([]);
  expect(next.left().records).toEqual(['a: ready']);
  expect(next.left().journal).toEqual([]);
});

for (const point of ['delete.after-mark', 'delete.after-runtime', 'delete.after-history'])
  test(`a deletion that was killed at ${point} is finished`, async () => {
    const world = testWorld();
    await changed(world);
    await world.killedAt(point, () => world.deleteSandbox.execute('a', { force: true }));
    await using next = world.restarted();
    expect(await next.reconcile.execute()).toEqual(['Finished the interrupted deletion of a.']);
    expect(next.left()).toEqual(NOTHING_LEFT);
  });

test('a deletion that was killed before it marked the sandbox has not begun', async () => {
  const world = testWorld();
  await made(world);
  await world.killedAt('delete.after-journal', () => world.deleteSandbox.execute('a', {}));
  await using next = world.restarted();
  expect(await next.reconcile.execute()).toEqual([]);
  expect(next.left().records).toEqual(['a: ready']);
  expect(next.left().journal).toEqual([]);
});

test('after a pause that was killed the record says what the runtime is', async () => {
  const world = testWorld();
  await made(world);
  await world.killedAt('run-state.after-runtime', () => world.changeRunState.execute('a', 'paused'));
  expect(world.left().records).toEqual(['a: ready']);
  await using next = world.restarted();
  expect(await next.reconcile.execute()).toEqual(['The sandbox a is paused: what changed that was interrupted.']);
  expect(next.left().records).toEqual(['a: paused']);
});

for (const point of ['rebuild.after-journal', 'rebuild.after-remove', 'rebuild.after-create', 'rebuild.after-record'])
  test(`a rebuild that was killed at ${point} is finished, with the work`, async () => {
    const world = testWorld();
    await changed(world);
    await world.killedAt(point, () => world.restoreRevision.recover('a'));
    await using next = world.restarted();
    expect(await next.reconcile.execute()).toEqual(['Finished the interrupted rebuild of a.']);
    expect(next.left().runtimes).toEqual(['running']);
    expect(next.left().journal).toEqual([]);
    expect(next.look('a', 'work')).toBe('work\n');
  });

test('what cannot be cleared away yet is told, and stays for the next time', async () => {
  const world = testWorld();
  await world.killedAt('create.after-runtime', () => made(world));
  const down = new LitterboxError('UNAVAILABLE', 'The engine is down.', { operation: 'test' });
  const options: WorldOptions = { provider: { remove: () => Promise.reject(down) } };
  const second = world.restarted(options);
  expect(await second.reconcile.execute()).toEqual([
    'The sandbox a could not be cleared away yet: The engine is down.',
  ]);
  expect(second.left().journal).toContain('sandbox-create: runtime');
  await using third = second.restarted({});
  expect(await third.reconcile.execute()).toEqual(['Finished the interrupted deletion of a.']);
  expect(third.left()).toEqual(NOTHING_LEFT);
});

test('what source control finished is told first', async () => {
  await using world = testWorld({ repository: { reconcile: async () => ['Rolled back a merge.'] } });
  expect(await world.reconcile.execute()).toEqual(['Rolled back a merge.']);
});

test('an installation that was killed is cleared away by the provider that its journal entry names', async () => {
  const config = '[container]\nbase-image = "debian:12"\ninstall-command = ["true"]\n';
  const world = testWorld({ config });
  await world.killedAt('install.after-create', () => made(world));
  expect(world.left().runtimes).toEqual(['running']);
  await using next = world.restarted();
  expect(await next.reconcile.execute()).toEqual(['Cleared away what an interrupted installation left.']);
  expect(next.left()).toEqual(NOTHING_LEFT);
});

test('a record that was lost is made anew from the history', async () => {
  await using world = testWorld();
  const { id } = await changed(world);
  await world.state.remove(id);
  expect(await world.reconcile.execute()).toEqual(['The record of a was lost and is made anew; the sandbox is ready.']);
  expect(world.left().records).toEqual(['a: ready']);
});
