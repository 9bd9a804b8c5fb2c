import { expect, test } from '@jest/globals';
import type { ShowUnseen } from '@litterbox/core';
import { NOTHING_LEFT, useCaseFixture, type UseCaseFixture } from '../../src/index.ts';
import { changed, inState, made } from '../made.ts';

const merge = { sandbox: 'a', integration: 'merge' } as const;
/** What a person is shown, as a whole. */
async function look(fixture: UseCaseFixture, name: string): Promise<void> {
  await fixture.lookAtSandbox.markShown(await fixture.lookAtSandbox.look(name));
}

const apply = { sandbox: 'a', integration: 'apply' } as const;

test('a merge brings the work in and deletes the sandbox', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  const result = await fixture.integrateChanges.integrate(merge);
  expect(result.outcome).toBe('committed');
  expect(result.isDeleted).toBe(true);
  expect(fixture.person.read('work')).toBe('work\n');
  expect(fixture.left()).toEqual(NOTHING_LEFT);
  expect(fixture.told().slice(-2)).toEqual(['sandbox-merged', 'sandbox-deleted']);
  expect((await fixture.audited()).at(-1)).toBe('sandbox-merge: ok');
});

test('a merge of a sandbox in which nothing was done leaves it to whoever begins', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const result = await fixture.integrateChanges.integrate(merge);
  expect({ outcome: result.outcome, isDeleted: result.isDeleted }).toEqual({ outcome: 'up-to-date', isDeleted: false });
  expect(fixture.left().records).toEqual(['a: ready']);
});

test('FC-307: a merge of work that was taken back keeps the sandbox, which alone has it', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  await fixture.restoreRevision.restore('a', '0');
  expect((await fixture.integrateChanges.integrate(merge)).isDeleted).toBe(false);
  expect(fixture.left().records).toEqual(['a: ready']);
});

test('a merge of a sandbox in which an agent sits leaves it to that agent, and says who it is', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  const seat = await fixture.seatAgent.seat({ sandbox: 'a', agent: 'codex' });
  const { outcome, isDeleted, agent } = await fixture.integrateChanges.integrate(merge);
  expect({ outcome, isDeleted, agent }).toEqual({ outcome: 'committed', isDeleted: false, agent: 'codex' });
  expect(fixture.left().records).toEqual(['a: ready']);
  await seat[Symbol.asyncDispose]();
  expect((await fixture.integrateChanges.integrate(merge)).isDeleted).toBe(true);
});

test('a merge of a sandbox in which a call is at work is SANDBOX_ACTIVE, and an apply waits for it', async () => {
  await using fixture = useCaseFixture();
  const { id } = await changed(fixture);
  const lease = await fixture.state.lease(`sandbox:${id}`, 'run: npm test');
  const merging = fixture.integrateChanges.integrate(merge);
  await fixture.clock.pass(2000);
  await expect(merging).rejects.toMatchObject({
    code: 'SANDBOX_ACTIVE',
    message: 'a is busy: "npm test" is still running (this process). Gave up after 2 s.',
  });
  const applying = fixture.integrateChanges.integrate(apply);
  await fixture.clock.asleep();
  await lease[Symbol.asyncDispose]();
  expect((await applying).outcome).toBe('staged');
});

test('an apply leaves the changes to the person, and the sandbox as it is', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  const result = await fixture.integrateChanges.integrate(apply);
  expect(result.outcome).toBe('staged');
  expect(result.isDeleted).toBe(false);
  expect(fixture.person.edited).toEqual(['work']);
  expect(fixture.left().records).toEqual(['a: ready']);
});

test('a merge that is squashed keeps the sandbox: nothing is committed yet', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  const result = await fixture.integrateChanges.integrate({ ...merge, arguments: ['--squash'] });
  expect(result.outcome).toBe('staged');
  expect(result.isDeleted).toBe(false);
});

test('a plan is shown before anything is asked, with what no call had recorded', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  fixture.scribble('a', 'late', 'x');
  const shown: string[] = [];
  await fixture.integrateChanges.integrate({
    ...merge,
    onPlan: ({ changes }) => shown.push(...changes.map(({ path }) => path)),
  });
  expect(shown).toEqual(['late']);
});

test('an argument that is not let through is MERGE_ARG_NOT_ALLOWED, and nothing is audited', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  const merging = fixture.integrateChanges.integrate({ ...merge, arguments: ['--exec=x'] });
  await expect(merging).rejects.toMatchObject({ code: 'MERGE_ARG_NOT_ALLOWED' });
  expect(await fixture.audited()).not.toContain('sandbox-merge: error');
});

test('edits in the way are DIRTY_WORKTREE, and stay', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  fixture.person.write('work', 'mine\n');
  await expect(fixture.integrateChanges.integrate(merge)).rejects.toMatchObject({ code: 'DIRTY_WORKTREE' });
  expect(fixture.person.read('work')).toBe('mine\n');
  expect(fixture.left().records).toEqual(['a: ready']);
});

test('a conflict is left to the person, and the sandbox stays', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  fixture.person.write('work', 'mine\n');
  fixture.person.commit();
  const result = await fixture.integrateChanges.integrate(merge);
  expect(result.outcome).toBe('conflicts');
  expect(result.conflicts).toEqual(['work']);
  expect(result.isDeleted).toBe(false);
});

test('what can run code is asked about; no is RISKY_CHANGES, and nothing changes', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  fixture.scribble('a', 'Makefile', 'all:\n');
  const before = fixture.person.digest();
  await expect(fixture.integrateChanges.integrate(merge)).rejects.toMatchObject({
    code: 'RISKY_CHANGES',
    message: expect.stringContaining('Makefile'),
    details: { hint: expect.stringContaining('acceptRisky: true, tip: ') },
  });
  expect(fixture.approver.asked[0]?.question).toContain('This file can run code');
  expect(fixture.person.digest()).toBe(before);
  expect((await fixture.audited()).at(-1)).toBe('sandbox-merge: error');
});

test('a yes of the person brings it in, and one to what was shown is not asked for again', async () => {
  await using fixture = useCaseFixture({ answer: true });
  await made(fixture);
  fixture.scribble('a', 'Makefile', 'all:\n');
  expect((await fixture.integrateChanges.integrate(merge)).outcome).toBe('committed');
  expect(fixture.approver.asked).toHaveLength(1);
  await made(fixture, 'b');
  fixture.scribble('b', 'package.json', '{}\n');
  await look(fixture, 'b');
  await fixture.integrateChanges.integrate({ ...merge, sandbox: 'b', acceptRisky: true });
  expect(fixture.approver.asked).toHaveLength(1);
});

test('nobody waits for a person who reads: the sandbox is free meanwhile, and what changed then is CHANGED_SINCE_SHOWN', async () => {
  await using fixture = useCaseFixture({
    approver: {
      async approve() {
        await fixture.runCommand.run({ sandbox: 'a', command: 'echo more >more' });
        return true;
      },
    },
  });
  await made(fixture);
  fixture.scribble('a', 'Makefile', 'all:\n');
  await expect(fixture.integrateChanges.integrate(merge)).rejects.toMatchObject({ code: 'CHANGED_SINCE_SHOWN' });
  expect(fixture.left().records).toEqual(['a: ready']);
});

test('a HEAD that moved while the person read is HEAD_MOVED', async () => {
  await using fixture = useCaseFixture({
    approver: {
      async approve() {
        fixture.person.write('other', 'x');
        fixture.person.commit();
        return true;
      },
    },
  });
  await made(fixture);
  fixture.scribble('a', 'Makefile', 'all:\n');
  await expect(fixture.integrateChanges.integrate(merge)).rejects.toMatchObject({ code: 'HEAD_MOVED' });
});

test('a sandbox that was deleted while the person read is SANDBOX_NOT_FOUND', async () => {
  await using fixture = useCaseFixture({
    approver: {
      async approve() {
        await fixture.deleteSandbox.delete('a', { force: true });
        return true;
      },
    },
  });
  await made(fixture);
  fixture.scribble('a', 'Makefile', 'all:\n');
  await expect(fixture.integrateChanges.integrate(merge)).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' });
});

test('a merge whose sandbox cannot be deleted has happened; the deletion goes on with the next call', async () => {
  const failed = new Error('no');
  let isDown = true;
  await using fixture = useCaseFixture({
    provider: (real) => ({ remove: (...args) => (isDown ? Promise.reject(failed) : real.remove(...args)) }),
  });
  await changed(fixture);
  await expect(fixture.integrateChanges.integrate(merge)).rejects.toBe(failed);
  expect(fixture.person.read('work')).toBe('work\n');
  expect(fixture.left().records).toEqual(['a: deleting']);
  isDown = false;
  await fixture.deleteSandbox.delete('a', {});
  expect(fixture.left().records).toEqual([]);
});

test('a sandbox that is being deleted is not planned either', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  await inState(fixture, 'a', 'deleting');
  await expect(fixture.integrateChanges.plan(merge)).rejects.toMatchObject({ code: 'SANDBOX_DELETING' });
  await expect(fixture.integrateChanges.integrate(merge)).rejects.toMatchObject({ code: 'SANDBOX_DELETING' });
});

test('what was shown is merged without a question, and what came after it is CHANGED_SINCE_SHOWN by its files', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  await look(fixture, 'a');
  const { tip: shown } = await fixture.lookAtSandbox.look('a');
  fixture.scribble('a', 'late', 'x');
  const before = fixture.person.digest();
  for (const asked of [merge, apply]) {
    await expect(fixture.integrateChanges.integrate(asked)).rejects.toMatchObject({
      code: 'CHANGED_SINCE_SHOWN',
      message: expect.stringContaining('late'),
      details: { facts: { shown: shown.commit, changed: [{ path: 'late', status: 'added' }], changedFiles: 1 } },
    });
  }
  expect(fixture.approver.asked[0]?.details).toEqual(['late: added +1 -0']);
  expect(fixture.person.digest()).toBe(before);
  await look(fixture, 'a');
  expect((await fixture.integrateChanges.integrate(merge)).outcome).toBe('committed');
  expect(fixture.approver.asked).toHaveLength(2);
});

test('a person is shown what changed since and asked; after that it was shown', async () => {
  const answers = [false, true];
  await using fixture = useCaseFixture({
    approver: (real) => ({
      approve: async (...asked) => (await real.approve(...asked), answers.shift() ?? false),
    }),
  });
  await changed(fixture);
  await look(fixture, 'a');
  fixture.scribble('a', 'late', 'x');
  const seen: string[] = [];
  const onUnseen: ShowUnseen = async (patch, part) => {
    seen.push(part);
    for await (const bytes of patch) seen.push(new TextDecoder().decode(bytes));
  };
  const merging = fixture.integrateChanges.integrate({ ...merge, onUnseen });
  await expect(merging).rejects.toMatchObject({ code: 'CHANGED_SINCE_SHOWN' });
  expect(seen).toEqual(['since', expect.stringMatching(/^diff --git a\/late(?:(?!work)[^])*$/)]);
  await fixture.integrateChanges.integrate({ ...merge, onUnseen });
  expect(fixture.approver.asked.map(({ question }) => question)).toEqual([
    'This file is not as it was when you were shown a. Merge a anyway?',
  ]);
});

test('what is as it was shown again is not asked about, and of an apply the other files do not count', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  await look(fixture, 'a');
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo x >late' });
  await expect(fixture.integrateChanges.integrate({ ...apply, paths: ['late', 'work'] })).rejects.toMatchObject({
    code: 'CHANGED_SINCE_SHOWN',
    details: { hint: expect.stringContaining('apply("a", { paths: ["late","work"] }).') },
  });
  await fixture.integrateChanges.integrate({ ...apply, paths: ['work'] });
  await fixture.runCommand.run({ sandbox: 'a', command: 'rm late' });
  fixture.person.commit();
  await fixture.integrateChanges.integrate(merge);
  expect(fixture.approver.asked).toHaveLength(1);
});

test('a tip is a yes to exactly that state, whatever was shown', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  await look(fixture, 'a');
  fixture.scribble('a', 'Makefile', 'all:\n');
  const { tip } = await fixture.lookAtSandbox.look('a');
  for (const wrong of ['1', '0']) {
    const hint = expect.stringContaining(`go back to it first, which undo takes back: restore("a", "${wrong}").`);
    const refusal = { code: 'CHANGED_SINCE_SHOWN', details: { hint } };
    await expect(fixture.integrateChanges.integrate({ ...merge, tip: wrong, acceptRisky: true })).rejects.toMatchObject(
      refusal,
    );
    await expect(fixture.integrateChanges.plan({ ...merge, tip: wrong })).rejects.toMatchObject(refusal);
  }
  await expect(fixture.integrateChanges.integrate({ ...merge, tip: '99' })).rejects.toMatchObject({
    code: 'REV_NOT_FOUND',
  });
  await fixture.integrateChanges.integrate({ ...merge, tip: tip.commit.slice(0, 10), acceptRisky: true });
  expect(fixture.person.read('Makefile')).toBe('all:\n');
});

test('a tip that is not that of the work is refused before anything is shown, also where there is nothing to do', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  const shown: string[] = [];
  const apply = {
    ...merge,
    integration: 'apply',
    onPlan: ({ slug }: { readonly slug: string }) => void shown.push(slug),
  } as const;
  const execute = (tip: string) => fixture.integrateChanges.integrate({ ...apply, tip, acceptRisky: true });
  await expect(execute('99')).rejects.toMatchObject({ code: 'REV_NOT_FOUND' });
  await expect(execute('0')).rejects.toMatchObject({ code: 'CHANGED_SINCE_SHOWN' });
  expect(shown).toEqual([]);
  await execute('1');
  expect(shown).toEqual(['a']);
  await expect(execute('99')).rejects.toMatchObject({ code: 'REV_NOT_FOUND' });
  expect(shown).toEqual(['a']);
});

test('a yes to files that run code, given before, is a yes to what was shown and nothing else', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  fixture.scribble('a', 'Makefile', 'all:\n');
  const blind = { ...merge, acceptRisky: true };
  await expect(fixture.integrateChanges.integrate(blind)).rejects.toMatchObject({ code: 'RISKY_CHANGES' });
  await look(fixture, 'a');
  fixture.scribble('a', 'Makefile', 'all: evil\n');
  await expect(fixture.integrateChanges.integrate(blind)).rejects.toMatchObject({ code: 'CHANGED_SINCE_SHOWN' });
  await look(fixture, 'a');
  expect((await fixture.integrateChanges.integrate(blind)).outcome).toBe('committed');
});

test('changes that nobody was shown are shown and asked about where there is a person, and taken where there is none', async () => {
  await using fixture = useCaseFixture({ answer: true });
  await changed(fixture);
  const seen: string[] = [];
  const onUnseen = async (patch: AsyncIterable<Uint8Array>) => {
    for await (const bytes of patch) seen.push(new TextDecoder().decode(bytes));
  };
  await fixture.integrateChanges.integrate({ ...apply, onUnseen });
  expect(seen.join('')).toContain('+work');
  expect(fixture.approver.asked.map(({ question }) => question)).toEqual(['Apply a?']);
  fixture.person.commit();
  await fixture.integrateChanges.integrate({ ...merge, onUnseen });
  expect(fixture.approver.asked).toHaveLength(1); // it was shown
  await changed(fixture, 'b');
  await fixture.integrateChanges.integrate({ ...apply, sandbox: 'b' });
  expect(fixture.approver.asked).toHaveLength(1);
});

test('a no to changes that were shown at the merge is PERMISSION_DENIED, and nothing changes', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  const before = fixture.person.digest();
  await expect(fixture.integrateChanges.integrate({ ...merge, onUnseen: async () => {} })).rejects.toMatchObject({
    code: 'PERMISSION_DENIED',
  });
  expect(fixture.person.digest()).toBe(before);
});

test('a plan holds what no call recorded, the words of the commits, and what the review branch is without', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  expect(await fixture.integrateChanges.plan(merge)).toMatchObject({ unmilestoned: 0 });
  await fixture.cutMilestone.cut('a', 'Work');
  fixture.scribble('a', 'late', 'x');
  const plan = await fixture.integrateChanges.plan({ ...merge, message: 'Mine' });
  expect(plan).toMatchObject({ unmilestoned: 1, messages: ['Mine'] });
  expect(plan.changes.map(({ path }) => path)).toEqual(['late', 'work']);
});

test('FC-312: a merge says what could not be recorded, and leaves the sandbox that alone has it', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo x >closed; chmod 000 closed' });
  const unsettled = 'One file of a could not be recorded: "closed".';
  expect(await fixture.integrateChanges.plan(merge)).toMatchObject({ unsettled });
  const first = await fixture.integrateChanges.integrate(merge);
  expect(first).toMatchObject({ outcome: 'committed', isDeleted: false, unrecorded: { paths: ['closed'], total: 1 } });
  expect(first.plan).toMatchObject({ unsettled });
  await fixture.runCommand.run({ sandbox: 'a', command: 'chmod 644 closed' });
  expect(await fixture.integrateChanges.integrate(merge)).toMatchObject({ outcome: 'committed', isDeleted: true });
  expect(fixture.person.read('closed')).toBe('x\n');
});

test('parts of files are refused where whole files alone can be taken, and of a merge', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  const parts = [{ path: 'work', digest: '0'.repeat(64), changes: [0] }];
  await expect(fixture.integrateChanges.offer({ sandbox: 'a' })).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  await expect(fixture.integrateChanges.integrate({ ...apply, parts })).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  await expect(fixture.integrateChanges.plan({ ...merge, parts })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  expect(fixture.person.read('work')).toBeUndefined();
});
