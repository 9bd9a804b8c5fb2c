import { expect, test } from '@jest/globals';
import { createSandbox, listSandboxes, type Operation, parseInput } from '@litterbox/core';
import { NOTHING_LEFT, useCaseFixture } from '../../src/index.ts';
import { made, setup } from '../made.ts';

test('sandboxes are found by their labels, and forks by their own', async () => {
  await using fixture = useCaseFixture();
  await made(fixture, 'a', { labels: { task: 'login', team: 'web' } });
  await made(fixture, 'b', { labels: { task: 'login' } });
  await made(fixture, 'c');
  await fixture.forkSandbox.fork('a', 'd');
  await fixture.forkSandbox.fork('a', 'e', undefined, { labels: { task: 'fork' } });
  await fixture.forkSandbox.forkSeveral('a', { wanted: 'f', count: 2, labels: { task: 'fork' } });
  const found = async (labels: Record<string, string>) =>
    (await fixture.listSandboxes.list('repository', { labels })).map(({ name }) => name);
  expect(await found({ task: 'login' })).toEqual(['a', 'b']);
  expect(await found({ task: 'login', team: 'web' })).toEqual(['a']);
  expect(await found({ task: 'other' })).toEqual([]);
  expect(await found({ constructor: 'x' })).toEqual([]);
  expect(await found({ task: 'fork' })).toEqual(['e', 'f-1', 'f-2']);
  expect(await found({})).toEqual(['a', 'b', 'c', 'd', 'e', 'f-1', 'f-2']);
  expect((await fixture.listSandboxes.list('repository')).map(({ labels }) => labels)).toEqual([
    { task: 'login', team: 'web' },
    { task: 'login' },
    undefined,
    undefined,
    { task: 'fork' },
    { task: 'fork' },
    { task: 'fork' },
  ]);
});

for (const [what, labels] of [
  ['a name that is none', { 'a b': 'x' }],
  ['a value with a control character', { a: 'x\u001b[2J' }],
  ['a value that cannot be seen', { a: 'x\u202e' }],
  ['a long value', { a: 'x'.repeat(257) }],
  ['too many', Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`n${index}`, '']))],
] as const)
  test(`labels are refused: ${what}`, () => {
    for (const operation of [createSandbox, listSandboxes] as readonly Operation[])
      expect(() => parseInput(operation, { labels })).toThrow('want at most 32 labels');
  });

test('FC-349: an ephemeral sandbox of a program that was killed is deleted by the next, and not before', async () => {
  const fixture = useCaseFixture();
  await made(fixture, 'stays');
  const { hold } = await fixture.createSandbox.create({ name: 'goes', isEphemeral: true });
  expect(hold).toBeDefined();
  expect((await fixture.listSandboxes.list('repository')).map(({ isEphemeral }) => isEphemeral)).toEqual([
    undefined,
    true,
  ]);
  expect(await fixture.reconcile.reconcile()).toEqual([]);
  await fixture.forkSandbox.fork('goes', 'copy');
  await using next = fixture.restarted();
  await using busy = await next.state.lease(`sandbox:${idOf('goes')}`, 'run: npm test');
  expect(await next.reconcile.reconcile()).toEqual([]); // somebody else is at work in it
  await busy[Symbol.asyncDispose]();
  expect(await next.reconcile.reconcile()).toEqual(['Deleted the ephemeral sandbox goes: its program has ended.']);
  expect(next.left().records).toEqual(['stays: ready', 'copy: ready']);
  expect(await next.reconcile.reconcile()).toEqual([]);

  function idOf(name: string): string {
    return fixture.shelves.records.records.find(({ slug }) => slug === name)?.id ?? '';
  }
});

test('an ephemeral fork goes with its program, and its source stays', async () => {
  const fixture = useCaseFixture();
  await made(fixture, 'a');
  const { hold } = await fixture.forkSandbox.fork('a', 'b', undefined, { isEphemeral: true });
  expect(hold).toBeDefined();
  expect(await fixture.reconcile.reconcile()).toEqual([]);
  await fixture.killedAt('fork.after-ready', () =>
    fixture.forkSandbox.fork('a', 'c', undefined, { isEphemeral: true }),
  );
  await using next = fixture.restarted();
  await next.reconcile.reconcile();
  await next.reconcile.reconcile();
  expect(next.left().records).toEqual(['a: ready']);
});

for (const point of ['create.after-record', 'create.after-ready'])
  test(`FC-349: one whose making was killed at ${point} goes too`, async () => {
    const fixture = useCaseFixture();
    await fixture.killedAt(point, () => made(fixture, 'a', { isEphemeral: true }));
    await using next = fixture.restarted();
    expect((await next.reconcile.reconcile()).length).toBe(1);
    expect(next.left()).toEqual(NOTHING_LEFT);
  });

test('nothing is kept of an ephemeral sandbox whose setup fails', async () => {
  await using fixture = useCaseFixture();
  await expect(made(fixture, 'a', { isEphemeral: true, overrides: setup('exit 1') })).rejects.toMatchObject({
    code: 'SETUP_FAILED',
  });
  expect(fixture.left()).toEqual(NOTHING_LEFT);
});
