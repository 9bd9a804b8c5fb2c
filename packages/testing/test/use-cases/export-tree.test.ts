import { expect, test } from '@jest/globals';
import { useCaseFixture, type UseCaseFixture } from '../../src/index.ts';
import { changed, made } from '../made.ts';

const PLACE = '.litterbox/worktrees/a';

/** A sandbox whose review branch holds a file that can run code on the person's machine. */
async function risky(fixture: UseCaseFixture): Promise<void> {
  await made(fixture, 'a');
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo all: >Makefile' });
  await fixture.cutMilestone.cut('a', 'Build it');
}

test('the review branch is written for the person, and that is in the log', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture, 'a');
  await fixture.cutMilestone.cut('a', 'Done');
  const exported = await fixture.exportTree.export({ sandbox: 'a' });
  expect(exported).toEqual({
    directory: `${fixture.person.root}/${PLACE}`,
    files: 2,
    risky: [],
    revisions: 1,
    unmilestoned: 0,
  });
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo more >more' });
  expect(await fixture.exportTree.export({ sandbox: 'a' })).toMatchObject({ files: 2, revisions: 2, unmilestoned: 1 });
  expect(fixture.person.read(`${PLACE}/work`)).toBe('work\n');
  expect(await fixture.audited()).toContain('sandbox-worktree: ok');
  expect(fixture.approver.asked).toEqual([]);
});

test('what can run code is told, and without a yes nothing is written: RISKY_CHANGES', async () => {
  await using fixture = useCaseFixture();
  await risky(fixture);
  const told: string[] = [];
  const onRisky = (files: readonly { readonly path: string }[]) => void told.push(...files.map(({ path }) => path));
  await expect(fixture.exportTree.export({ sandbox: 'a', onRisky })).rejects.toMatchObject({
    code: 'RISKY_CHANGES',
    message: expect.stringContaining('Makefile'),
    details: { hint: expect.stringContaining('worktree("a", { acceptRisky: true })') },
  });
  expect(told).toEqual(['Makefile']);
  expect(fixture.person.read(`${PLACE}/Makefile`)).toBeUndefined();
  expect(await fixture.audited()).toContain('sandbox-worktree: error');
});

test('with a yes, asked for or given before, it is written', async () => {
  for (const [answer, acceptRisky] of [
    [true, false],
    [false, true],
  ] as const) {
    await using fixture = useCaseFixture({ answer });
    await risky(fixture);
    await fixture.lookAtSandbox.markShown(await fixture.lookAtSandbox.look('a'));
    const { risky: files } = await fixture.exportTree.export({ sandbox: 'a', acceptRisky });
    expect(files.map(({ path }) => path)).toEqual(['Makefile']);
    expect(fixture.person.read(`${PLACE}/Makefile`)).toBe('all:\n');
    expect(fixture.approver.asked).toHaveLength(answer ? 1 : 0);
  }
});

test('what was shown is what is written, whatever comes meanwhile', async () => {
  await using fixture = useCaseFixture();
  await risky(fixture);
  const onRisky = () => {
    fixture.person.refs.set('refs/heads/litterbox/a', fixture.person.refs.get('refs/heads/main') as never);
  };
  await fixture.exportTree.export({ sandbox: 'a', acceptRisky: true, tip: '1', onRisky });
  expect(fixture.person.read(`${PLACE}/Makefile`)).toBe('all:\n');
});

test('a tip that is none is refused before anything is shown', async () => {
  await using fixture = useCaseFixture();
  await risky(fixture);
  const shown: string[] = [];
  const onRisky = (files: readonly { readonly path: string }[]) => void shown.push(...files.map(({ path }) => path));
  const execute = (tip: string) => fixture.exportTree.export({ sandbox: 'a', acceptRisky: true, tip, onRisky });
  await expect(execute('99')).rejects.toMatchObject({ code: 'REV_NOT_FOUND' });
  expect(shown).toEqual([]);
  await execute('1');
  expect(shown).toEqual(['Makefile']);
});

test('a branch that is not what was shown is CHANGED_SINCE_SHOWN by its files, and a yes to its tip writes it', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture, 'a');
  await fixture.lookAtSandbox.markShown(await fixture.lookAtSandbox.look('a'));
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo more >more' });
  await fixture.cutMilestone.cut('a', 'Done');
  await expect(fixture.exportTree.export({ sandbox: 'a' })).rejects.toMatchObject({
    code: 'CHANGED_SINCE_SHOWN',
    message: expect.stringContaining('more'),
  });
  expect(fixture.person.read(`${PLACE}/more`)).toBeUndefined();
  expect(await fixture.exportTree.export({ sandbox: 'a', tip: '2' })).toMatchObject({ files: 3 });
});

test('what is not in the last milestone is told with the command that puts it there, and no other tip is passed over', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture, 'a');
  await expect(fixture.exportTree.export({ sandbox: 'a', tip: '1' })).rejects.toMatchObject({
    code: 'CHANGED_SINCE_SHOWN', // before the first milestone there is nothing but the base
  });
  await fixture.cutMilestone.cut('a', 'Done');
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo more >more' });
  await fixture.lookAtSandbox.markShown(await fixture.lookAtSandbox.look('a'));
  await expect(fixture.exportTree.export({ sandbox: 'a' })).rejects.toMatchObject({
    code: 'CHANGED_SINCE_SHOWN',
    details: { hint: expect.stringContaining(`milestone("a", 'MESSAGE'). Then: worktree("a").`) },
  });
});
