import { expect, test } from '@jest/globals';
import { useCaseFixture } from '../../src/index.ts';
import { changed, inState, made } from '../made.ts';

const failed = new Error('no');

test('a milestone is one commit of all revisions, on the review branch', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo more >more' });
  const milestone = await fixture.cutMilestone.cut('a', 'Add work');
  expect(milestone?.branch).toBe('refs/heads/litterbox/a');
  expect(milestone?.revisions).toBe(2);
  const commit = milestone && fixture.person.commits.get(milestone.commit);
  expect(commit?.message).toBe('Add work');
  expect(fixture.told().at(-1)).toBe('milestone-cut');
  expect((await fixture.audited()).at(-1)).toBe('sandbox-milestone: ok');
});

test('without revisions there is none, and nobody is told of one', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  expect(await fixture.cutMilestone.cut('a', 'Nothing')).toBeUndefined();
  expect(fixture.told()).toEqual(['sandbox-created']);
});

test('what no call has recorded is in it', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  fixture.scribble('a', 'new', 'x');
  expect((await fixture.cutMilestone.cut('a', 'New'))?.revisions).toBe(1);
});

test('a message that is empty is MESSAGE_EMPTY before anything is looked for', async () => {
  await using fixture = useCaseFixture();
  await expect(fixture.cutMilestone.cut('a', ' ')).rejects.toMatchObject({ code: 'MESSAGE_EMPTY' });
});

test('a sandbox that is being deleted is SANDBOX_DELETING, one that is being made SANDBOX_BUSY', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  await inState(fixture, 'a', 'deleting');
  await expect(fixture.cutMilestone.cut('a', 'x')).rejects.toMatchObject({ code: 'SANDBOX_DELETING' });
  await inState(fixture, 'a', 'creating');
  await expect(fixture.cutMilestone.cut('a', 'x')).rejects.toMatchObject({ code: 'SANDBOX_BUSY' });
});

test('one that was deleted while the call waited is SANDBOX_NOT_FOUND', async () => {
  await using fixture = useCaseFixture();
  const { id } = await changed(fixture);
  const lease = await fixture.state.lease(`sandbox:${id}`, 'delete');
  const cutting = fixture.cutMilestone.cut('a', 'x');
  await fixture.clock.asleep();
  await fixture.state.remove(id);
  await lease[Symbol.asyncDispose]();
  await expect(cutting).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' });
});

test('a paused sandbox gives a milestone of what was recorded', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  await fixture.changeRunState.change('a', 'paused');
  expect((await fixture.cutMilestone.cut('a', 'x'))?.revisions).toBe(1);
});

test('one that fails is audited as an error, and nobody is told', async () => {
  await using fixture = useCaseFixture({ repository: { milestone: () => Promise.reject(failed) } });
  await changed(fixture);
  const before = fixture.told();
  await expect(fixture.cutMilestone.cut('a', 'x')).rejects.toBe(failed);
  expect((await fixture.audited()).at(-1)).toBe('sandbox-milestone: error');
  expect(fixture.told()).toEqual(before);
});

test('with eager worktrees the branch is exported with each milestone', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture, 'a', { overrides: { worktrees: 'eager' } });
  expect(fixture.person.read('.litterbox/worktrees/a/work')).toBeUndefined();
  await fixture.cutMilestone.cut('a', 'x');
  expect(fixture.person.read('.litterbox/worktrees/a/work')).toBe('work\n');
});

test('a milestone that an agent asks for writes its branch and no tree, whatever is eager', async () => {
  await using fixture = useCaseFixture({ config: 'worktrees = "eager"\n', asker: 'agent' });
  await changed(fixture, 'a');
  expect(await fixture.cutMilestone.cut('a', 'Done')).toMatchObject({ branch: 'refs/heads/litterbox/a' });
  expect(fixture.person.read('.litterbox/worktrees/a/work')).toBeUndefined();
});
