import { expect, test } from '@jest/globals';
import { testWorld, type TestWorld } from '../../src/index.ts';
import { changed, made } from '../made.ts';

const PLACE = '.litterbox/worktrees/a';

/** A sandbox whose review branch holds a file that can run code on the person's machine. */
async function risky(world: TestWorld): Promise<void> {
  await made(world, 'a');
  await world.runCommand.execute({ sandbox: 'a', command: 'echo all: >Makefile' });
  await world.cutMilestone.execute('a', 'Build it');
}

test('the review branch is written for the person, and that is in the log', async () => {
  await using world = testWorld();
  await changed(world, 'a');
  await world.cutMilestone.execute('a', 'Done');
  const exported = await world.exportTree.execute({ sandbox: 'a' });
  expect(exported).toEqual({ directory: `${world.person.root}/${PLACE}`, files: 2, risky: [] });
  expect(world.person.read(`${PLACE}/work`)).toBe('work\n');
  expect(await world.audited()).toContain('sandbox-worktree: ok');
  expect(world.approver.asked).toEqual([]);
});

test('what can run code is told, and without a yes nothing is written: RISKY_CHANGES', async () => {
  await using world = testWorld();
  await risky(world);
  const told: string[] = [];
  const onRisky = (files: readonly { readonly path: string }[]) => void told.push(...files.map(({ path }) => path));
  await expect(world.exportTree.execute({ sandbox: 'a', onRisky })).rejects.toMatchObject({
    code: 'RISKY_CHANGES',
    message: expect.stringContaining('Makefile'),
    details: { hint: expect.stringContaining('litterbox worktree a --yes-risky') },
  });
  expect(told).toEqual(['Makefile']);
  expect(world.person.read(`${PLACE}/Makefile`)).toBeUndefined();
  expect(await world.audited()).toContain('sandbox-worktree: error');
});

test('with a yes, asked for or given before, it is written', async () => {
  for (const [answer, acceptRisky] of [
    [true, false],
    [false, true],
  ] as const) {
    await using world = testWorld({ answer });
    await risky(world);
    const { risky: files } = await world.exportTree.execute({ sandbox: 'a', acceptRisky });
    expect(files.map(({ path }) => path)).toEqual(['Makefile']);
    expect(world.person.read(`${PLACE}/Makefile`)).toBe('all:\n');
    expect(world.approver.asked).toHaveLength(answer ? 1 : 0);
  }
});

test('what was shown is what is written, whatever comes meanwhile', async () => {
  await using world = testWorld();
  await risky(world);
  const onRisky = () => {
    world.person.refs.set('refs/heads/litterbox/a', world.person.refs.get('refs/heads/main') as never);
  };
  await world.exportTree.execute({ sandbox: 'a', acceptRisky: true, onRisky });
  expect(world.person.read(`${PLACE}/Makefile`)).toBe('all:\n');
});
