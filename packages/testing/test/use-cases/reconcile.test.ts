import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { NOTHING_LEFT, type UseCaseFixture, useCaseFixture, type UseCaseFixtureOptions } from '../../src/index.ts';
import { changed, made, setup } from '../made.ts';
import { unanswering } from '../unanswering.ts';

test('there is nothing to do where nothing was interrupted', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const before = fixture.left();
  expect(await fixture.reconcile.reconcile()).toEqual([]);
  expect(fixture.left()).toEqual(before);
});

for (const point of ['create.after-record', 'create.after-runtime', 'create.after-assurance', 'create.after-setup'])
  test(`a create that was killed at ${point} is undone`, async () => {
    const fixture = useCaseFixture();
    await fixture.killedAt(point, () => made(fixture, 'a', { overrides: setup('echo x >out') }));
    expect(fixture.left().records).toEqual(['a: creating']);
    await using next = fixture.restarted();
    expect(await next.reconcile.reconcile()).toEqual(['Undid the interrupted creation of a.']);
    expect(next.left()).toEqual(NOTHING_LEFT);
    expect(await next.audited()).toContain('sandbox-create: unknown');
  });

test('a create that was killed before its record leaves a journal entry that goes', async () => {
  const fixture = useCaseFixture();
  await fixture.killedAt('create.after-journal', () => made(fixture));
  expect(fixture.left()).toEqual({ ...NOTHING_LEFT, journal: ['sandbox-create: record'] });
  await using next = fixture.restarted();
  expect(await next.reconcile.reconcile()).toEqual([]);
  expect(next.left()).toEqual(NOTHING_LEFT);
});

test('a create that was killed when all was done keeps its sandbox', async () => {
  const fixture = useCaseFixture();
  await fixture.killedAt('create.after-ready', () => made(fixture));
  await using next = fixture.restarted();
  expect(await next.reconcile.reconcile()).toEqual([]);
  expect(next.left().records).toEqual(['a: ready']);
  expect(next.left().journal).toEqual([]);
});

for (const point of ['delete.after-mark', 'delete.after-runtime', 'delete.after-history'])
  test(`a deletion that was killed at ${point} is finished`, async () => {
    const fixture = useCaseFixture();
    await changed(fixture);
    await fixture.killedAt(point, () => fixture.deleteSandbox.delete('a', { force: true }));
    await using next = fixture.restarted();
    expect(await next.reconcile.reconcile()).toEqual(['Finished the interrupted deletion of a.']);
    expect(next.left()).toEqual(NOTHING_LEFT);
  });

test('a deletion that was killed before it marked the sandbox has not begun', async () => {
  const fixture = useCaseFixture();
  await made(fixture);
  await fixture.killedAt('delete.after-journal', () => fixture.deleteSandbox.delete('a', {}));
  await using next = fixture.restarted();
  expect(await next.reconcile.reconcile()).toEqual([]);
  expect(next.left().records).toEqual(['a: ready']);
  expect(next.left().journal).toEqual([]);
});

test('after a pause that was killed the record says what the runtime is', async () => {
  const fixture = useCaseFixture();
  await made(fixture);
  await fixture.killedAt('run-state.after-runtime', () => fixture.changeRunState.change('a', 'paused'));
  expect(fixture.left().records).toEqual(['a: ready']);
  await using next = fixture.restarted();
  expect(await next.reconcile.reconcile()).toEqual([
    'The sandbox a is paused: the change of its state was interrupted.',
  ]);
  expect(next.left().records).toEqual(['a: paused']);
});

for (const point of ['rebuild.after-journal', 'rebuild.after-remove', 'rebuild.after-create', 'rebuild.after-record'])
  test(`a rebuild that was killed at ${point} is finished, with the work`, async () => {
    const fixture = useCaseFixture();
    await changed(fixture);
    await fixture.killedAt(point, () => fixture.recoverSandbox.recover('a', { force: true }));
    await using next = fixture.restarted();
    expect(await next.reconcile.reconcile()).toEqual(['Finished the interrupted rebuild of a.']);
    expect(next.left().runtimes).toEqual(['running']);
    expect(next.left().journal).toEqual([]);
    expect(next.look('a', 'work')).toBe('work\n');
  });

test('what cannot be cleared away yet is told, and stays for the next time', async () => {
  const fixture = useCaseFixture();
  await fixture.killedAt('create.after-runtime', () => made(fixture));
  const down = new LitterboxError('UNAVAILABLE', 'The engine is down.', { operation: 'test' });
  const options: UseCaseFixtureOptions = { provider: { remove: () => Promise.reject(down) } };
  const second = fixture.restarted(options);
  expect(await second.reconcile.reconcile()).toEqual([
    'Litterbox could not remove the sandbox a yet: The engine is down.',
  ]);
  expect(second.left().journal).toContain('sandbox-create: record');
  await using third = second.restarted({});
  expect(await third.reconcile.reconcile()).toEqual(['Undid the interrupted creation of a.']);
  expect(third.left()).toEqual(NOTHING_LEFT);
});

test('FC-320: a deletion that fails again and again is told once, and leaves one journal entry', async () => {
  const fixture = useCaseFixture();
  await made(fixture);
  const down = new LitterboxError('UNAVAILABLE', 'The engine is down.', { operation: 'test' });
  const options: UseCaseFixtureOptions = { provider: { remove: () => Promise.reject(down) } };
  let next = fixture.restarted(options);
  await expect(next.deleteSandbox.delete('a', {})).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('a is marked as deleted'),
  });
  for (let time = 0; time < 4; time += 1) {
    next = next.restarted(options);
    expect(await next.reconcile.reconcile()).toEqual([
      'Litterbox could not remove the sandbox a yet: The engine is down.',
    ]);
    expect(next.left().journal).toEqual(['sandbox-delete: runtime']);
  }
  await using up = next.restarted({});
  expect(await up.reconcile.reconcile()).toEqual(['Finished the interrupted deletion of a.']);
  expect(up.left()).toEqual(NOTHING_LEFT);
});

test('what source control finished is told first', async () => {
  await using fixture = useCaseFixture({ repository: { reconcile: async () => ['Rolled back a merge.'] } });
  expect(await fixture.reconcile.reconcile()).toEqual(['Rolled back a merge.']);
});

test('an installation that was killed is cleared away by the provider that its journal entry names', async () => {
  const config = '[container]\nbase-image = "debian:12"\ninstall-command = ["true"]\n';
  const fixture = useCaseFixture({ config });
  await fixture.killedAt('install.after-create', () => made(fixture));
  expect(fixture.left().runtimes).toEqual(['running']);
  await using next = fixture.restarted();
  expect(await next.reconcile.reconcile()).toEqual(['Removed the leftovers of an interrupted installation.']);
  expect(next.left()).toEqual(NOTHING_LEFT);
});

test('a record that was lost is made anew from the history', async () => {
  await using fixture = useCaseFixture();
  const { id } = await changed(fixture);
  await fixture.state.remove(id);
  expect(await fixture.reconcile.reconcile()).toEqual([
    'The record of a was lost and has been rebuilt; the sandbox is ready.',
  ]);
  expect(fixture.left().records).toEqual(['a: ready']);
});

for (const [what, point, act] of [
  ['create', 'create.after-runtime', (world) => made(world, 'b')],
  ['deletion', 'delete.after-mark', (world) => world.deleteSandbox.delete('a', { force: true })],
  ['rebuild', 'rebuild.after-journal', (world) => world.recoverSandbox.recover('a', { force: true })],
  ['pause', 'run-state.after-runtime', (world) => world.changeRunState.change('a', 'paused')],
] as const satisfies readonly (readonly [string, string, (world: UseCaseFixture) => Promise<unknown>])[])
  test(`of an interrupted ${what} nothing is cleared away while the provider does not answer`, async () => {
    const fixture = useCaseFixture();
    await changed(fixture, 'a');
    await fixture.killedAt(point, act);
    const before = fixture.left();
    const down = fixture.restarted({ provider: unanswering });
    const begunMs = down.clock.monotonicMs();
    const [sentence, ...rest] = await down.clock.during(down.reconcile.reconcile());
    expect(sentence).toMatch(/could not remove .+ yet: The provider memory did not answer within 3 seconds\./);
    expect(rest).toEqual([]);
    expect(down.clock.monotonicMs() - begunMs).toBe(3_000);
    expect(down.left()).toEqual(before);
    await using up = down.restarted({});
    expect(await up.reconcile.reconcile()).toHaveLength(1);
    expect(up.left().journal).toEqual([]);
  });
