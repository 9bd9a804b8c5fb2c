import { expect, test } from '@jest/globals';
import { useCaseFixture } from '../../src/index.ts';
import { changed, inState, made } from '../made.ts';

test('a look holds what no call recorded, and says so where the workspace cannot be looked into', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  fixture.scribble('a', 'late', 'x');
  expect(await fixture.lookAtSandbox.look('a')).toMatchObject({ tip: { number: 1 } });
  await inState(fixture, 'a', 'paused');
  fixture.scribble('a', 'later', 'x');
  expect(await fixture.lookAtSandbox.look('a')).toMatchObject({
    tip: { number: 1 },
    unsettled: expect.stringContaining('a is paused'),
  });
});

test('a call that is at work is not waited for long: what is recorded is shown, with its name', async () => {
  await using fixture = useCaseFixture();
  const { id } = await changed(fixture);
  await using _lease = await fixture.state.lease(`sandbox:${id}`, 'run: npm test');
  const looking = fixture.lookAtSandbox.look('a');
  await fixture.clock.pass(500);
  expect(await looking).toMatchObject({ tip: { number: 1 }, unsettled: expect.stringContaining('npm test') });
});

test('what was shown is kept with the sandbox, and nothing of it where the sandbox is gone', async () => {
  await using fixture = useCaseFixture();
  const { id } = await changed(fixture);
  const look = await fixture.lookAtSandbox.look('a');
  expect((await fixture.state.get(id))?.shownTip).toBeUndefined();
  await fixture.lookAtSandbox.markShown(look);
  expect((await fixture.state.get(id))?.shownTip).toBe(look.tip.commit);
  await fixture.deleteSandbox.delete('a', { force: true });
  await fixture.lookAtSandbox.markShown(look);
});

test('an agent that looks at its own work has not shown it to anybody, and waits for nothing', async () => {
  await using fixture = useCaseFixture({ asker: 'agent' });
  const { id } = await changed(fixture);
  fixture.scribble('a', 'late', 'x');
  await using _lease = await fixture.state.lease(`sandbox:${id}`, 'run: npm test');
  const look = await fixture.lookAtSandbox.look('a');
  expect(look).toMatchObject({ tip: { number: 1 } });
  await fixture.lookAtSandbox.markShown(look);
  expect((await fixture.state.get(id))?.shownTip).toBeUndefined();
});
