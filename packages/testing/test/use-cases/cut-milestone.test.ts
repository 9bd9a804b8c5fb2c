import { expect, test } from '@jest/globals';
import { testWorld } from '../../src/index.ts';
import { changed, inState, made } from '../made.ts';

const failed = new Error('no');

test('a milestone is one commit of all revisions, on the review branch', async () => {
  await using world = testWorld();
  await changed(world);
  await world.runCommand.execute({ sandbox: 'a', command: 'echo more >more' });
  const milestone = await world.cutMilestone.execute('a', 'Add work');
  expect(milestone?.branch).toBe('refs/heads/litterbox/a');
  expect(milestone?.revisions).toBe(2);
  const commit = milestone && world.person.commits.get(milestone.commit);
  expect(commit?.message).toBe('Add work');
  expect(world.told().at(-1)).toBe('milestone-cut');
  expect((await world.audited()).at(-1)).toBe('sandbox-milestone: ok');
});

test('without revisions there is none, and nobody is told of one', async () => {
  await using world = testWorld();
  await made(world);
  expect(await world.cutMilestone.execute('a', 'Nothing')).toBeUndefined();
  expect(world.told()).toEqual(['sandbox-created']);
});

test('what no call has recorded is in it', async () => {
  await using world = testWorld();
  await made(world);
  world.scribble('a', 'new', 'x');
  expect((await world.cutMilestone.execute('a', 'New'))?.revisions).toBe(1);
});

test('a message that is empty is MESSAGE_EMPTY before anything is looked for', async () => {
  await using world = testWorld();
  await expect(world.cutMilestone.execute('a', ' ')).rejects.toMatchObject({ code: 'MESSAGE_EMPTY' });
});

test('a sandbox that is being deleted is SANDBOX_DELETING, one that is being made SANDBOX_BUSY', async () => {
  await using world = testWorld();
  await changed(world);
  await inState(world, 'a', 'deleting');
  await expect(world.cutMilestone.execute('a', 'x')).rejects.toMatchObject({ code: 'SANDBOX_DELETING' });
  await inState(world, 'a', 'creating');
  await expect(world.cutMilestone.execute('a', 'x')).rejects.toMatchObject({ code: 'SANDBOX_BUSY' });
});

test('one that was deleted while the call waited is SANDBOX_NOT_FOUND', async () => {
  await using world = testWorld();
  const { id } = await changed(world);
  const lease = await world.state.lease(`sandbox:${id}`, 'delete');
  const cutting = world.cutMilestone.execute('a', 'x');
  await world.clock.asleep();
  await world.state.remove(id);
  await lease[Symbol.asyncDispose]();
  await expect(cutting).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' });
});

test('a paused sandbox gives a milestone of what was recorded', async () => {
  await using world = testWorld();
  await changed(world);
  await world.changeRunState.execute('a', 'paused');
  expect((await world.cutMilestone.execute('a', 'x'))?.revisions).toBe(1);
});

test('one that fails is audited as an error, and nobody is told', async () => {
  await using world = testWorld({ repository: { milestone: () => Promise.reject(failed) } });
  await changed(world);
  const before = world.told();
  await expect(world.cutMilestone.execute('a', 'x')).rejects.toBe(failed);
  expect((await world.audited()).at(-1)).toBe('sandbox-milestone: error');
  expect(world.told()).toEqual(before);
});

test('with eager worktrees the branch is exported with each milestone', async () => {
  await using world = testWorld();
  await changed(world, 'a', { overrides: { worktrees: 'eager' } });
  expect(world.person.read('.litterbox/worktrees/a/work')).toBeUndefined();
  await world.cutMilestone.execute('a', 'x');
  expect(world.person.read('.litterbox/worktrees/a/work')).toBe('work\n');
});

test('a milestone that an agent asks for writes its branch and no tree, whatever is eager', async () => {
  await using world = testWorld({ config: 'worktrees = "eager"\n', asker: 'agent' });
  await changed(world, 'a');
  expect(await world.cutMilestone.execute('a', 'Done')).toMatchObject({ branch: 'refs/heads/litterbox/a' });
  expect(world.person.read('.litterbox/worktrees/a/work')).toBeUndefined();
});
