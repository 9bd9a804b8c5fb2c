import { expect, test } from '@jest/globals';
import { NOTHING_LEFT, testWorld } from '../../src/index.ts';
import { changed, inState, made } from '../made.ts';

const merge = { sandbox: 'a', integration: 'merge' } as const;
const apply = { sandbox: 'a', integration: 'apply' } as const;

test('a merge brings the work in and deletes the sandbox', async () => {
  await using world = testWorld();
  await changed(world);
  const result = await world.integrateChanges.execute(merge);
  expect(result.outcome).toBe('committed');
  expect(result.isDeleted).toBe(true);
  expect(world.person.read('work')).toBe('work\n');
  expect(world.left()).toEqual(NOTHING_LEFT);
  expect(world.told().slice(-2)).toEqual(['sandbox-merged', 'sandbox-deleted']);
  expect((await world.audited()).at(-1)).toBe('sandbox-merge: ok');
});

test('an apply leaves the changes to the person, and the sandbox as it is', async () => {
  await using world = testWorld();
  await changed(world);
  const result = await world.integrateChanges.execute(apply);
  expect(result.outcome).toBe('staged');
  expect(result.isDeleted).toBe(false);
  expect(world.person.edited).toEqual(['work']);
  expect(world.left().records).toEqual(['a: ready']);
});

test('a merge that is squashed keeps the sandbox: nothing is committed yet', async () => {
  await using world = testWorld();
  await changed(world);
  const result = await world.integrateChanges.execute({ ...merge, arguments: ['--squash'] });
  expect(result.outcome).toBe('staged');
  expect(result.isDeleted).toBe(false);
});

test('a plan is shown before anything is asked, with what no call had recorded', async () => {
  await using world = testWorld();
  await made(world);
  world.scribble('a', 'late', 'x');
  const shown: string[] = [];
  await world.integrateChanges.execute({
    ...merge,
    onPlan: ({ changes }) => shown.push(...changes.map(({ path }) => path)),
  });
  expect(shown).toEqual(['late']);
});

test('an argument that is not let through is MERGE_ARG_NOT_ALLOWED, and nothing is audited', async () => {
  await using world = testWorld();
  await changed(world);
  const merging = world.integrateChanges.execute({ ...merge, arguments: ['--exec=x'] });
  await expect(merging).rejects.toMatchObject({ code: 'MERGE_ARG_NOT_ALLOWED' });
  expect(await world.audited()).not.toContain('sandbox-merge: error');
});

test('edits in the way are DIRTY_WORKTREE, and stay', async () => {
  await using world = testWorld();
  await changed(world);
  world.person.write('work', 'mine\n');
  await expect(world.integrateChanges.execute(merge)).rejects.toMatchObject({ code: 'DIRTY_WORKTREE' });
  expect(world.person.read('work')).toBe('mine\n');
  expect(world.left().records).toEqual(['a: ready']);
});

test('a conflict is left to the person, and the sandbox stays', async () => {
  await using world = testWorld();
  await changed(world);
  world.person.write('work', 'mine\n');
  world.person.commit();
  const result = await world.integrateChanges.execute(merge);
  expect(result.outcome).toBe('conflicts');
  expect(result.conflicts).toEqual(['work']);
  expect(result.isDeleted).toBe(false);
});

test('what can run code is asked about; no is RISKY_CHANGES, and nothing changes', async () => {
  await using world = testWorld();
  await made(world);
  world.scribble('a', 'Makefile', 'all:\n');
  const before = world.person.digest();
  await expect(world.integrateChanges.execute(merge)).rejects.toMatchObject({
    code: 'RISKY_CHANGES',
    message: expect.stringContaining('Makefile'),
    details: { hint: expect.stringContaining('--yes-risky') },
  });
  expect(world.approver.asked[0]?.question).toContain('This file can run code');
  expect(world.person.digest()).toBe(before);
  expect((await world.audited()).at(-1)).toBe('sandbox-merge: error');
});

test('a yes of the person brings it in, and who has seen it already is not asked', async () => {
  await using world = testWorld({ answer: true });
  await made(world);
  world.scribble('a', 'Makefile', 'all:\n');
  expect((await world.integrateChanges.execute(merge)).outcome).toBe('committed');
  expect(world.approver.asked).toHaveLength(1);
  await made(world, 'b');
  world.scribble('b', 'package.json', '{}\n');
  await world.integrateChanges.execute({ ...merge, sandbox: 'b', acceptRisky: true });
  expect(world.approver.asked).toHaveLength(1);
});

test('nobody waits for a person who reads: the sandbox is free meanwhile, and what changed then is CONFLICT', async () => {
  await using world = testWorld({
    approver: {
      async approve() {
        await world.runCommand.execute({ sandbox: 'a', command: 'echo more >more' });
        return true;
      },
    },
  });
  await made(world);
  world.scribble('a', 'Makefile', 'all:\n');
  await expect(world.integrateChanges.execute(merge)).rejects.toMatchObject({ code: 'CONFLICT' });
  expect(world.left().records).toEqual(['a: ready']);
});

test('a HEAD that moved while the person read is HEAD_MOVED', async () => {
  await using world = testWorld({
    approver: {
      async approve() {
        world.person.write('other', 'x');
        world.person.commit();
        return true;
      },
    },
  });
  await made(world);
  world.scribble('a', 'Makefile', 'all:\n');
  await expect(world.integrateChanges.execute(merge)).rejects.toMatchObject({ code: 'HEAD_MOVED' });
});

test('a sandbox that was deleted while the person read is SANDBOX_NOT_FOUND', async () => {
  await using world = testWorld({
    approver: {
      async approve() {
        await world.deleteSandbox.execute('a', { force: true });
        return true;
      },
    },
  });
  await made(world);
  world.scribble('a', 'Makefile', 'all:\n');
  await expect(world.integrateChanges.execute(merge)).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' });
});

test('without anything to bring in it is up to date, and a merge deletes the sandbox all the same', async () => {
  await using world = testWorld();
  await made(world);
  const result = await world.integrateChanges.execute(merge);
  expect(result.outcome).toBe('up-to-date');
  expect(result.isDeleted).toBe(true);
});

test('a merge whose sandbox cannot be deleted has happened; the deletion goes on with the next call', async () => {
  const failed = new Error('no');
  let isDown = true;
  await using world = testWorld({
    provider: (real) => ({ remove: (...args) => (isDown ? Promise.reject(failed) : real.remove(...args)) }),
  });
  await changed(world);
  await expect(world.integrateChanges.execute(merge)).rejects.toBe(failed);
  expect(world.person.read('work')).toBe('work\n');
  expect(world.left().records).toEqual(['a: deleting']);
  isDown = false;
  await world.deleteSandbox.execute('a', {});
  expect(world.left().records).toEqual([]);
});

test('a sandbox that is being deleted is not planned either', async () => {
  await using world = testWorld();
  await changed(world);
  await inState(world, 'a', 'deleting');
  await expect(world.integrateChanges.plan(merge)).rejects.toMatchObject({ code: 'SANDBOX_DELETING' });
  await expect(world.integrateChanges.execute(merge)).rejects.toMatchObject({ code: 'SANDBOX_DELETING' });
});
