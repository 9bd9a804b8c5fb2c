import { expect, test } from '@jest/globals';
import { LitterboxError, type SandboxProvider } from '@litterbox/core/provider';
import { memoryProvider, realClock, SandboxShelf } from '@litterbox/memory';
import { useCaseFixture } from '../../src/index.ts';
import { changed, made } from '../made.ts';
import { unanswering } from '../unanswering.ts';

async function restored(fixture: ReturnType<typeof useCaseFixture>): Promise<readonly string[]> {
  return await fixture.restoreRecords.restore(await fixture.openRepository.open());
}

/** The state file is gone; what it kept of sandboxes is. */
function lose(fixture: ReturnType<typeof useCaseFixture>): void {
  fixture.shelves.records.records = [];
}

test('with one record there is nothing to do, whatever is missing', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const { id } = await made(fixture, 'b');
  await fixture.state.remove(id);
  expect(await restored(fixture)).toEqual([]);
});

test('records are made anew from histories and runtimes, and work goes on', async () => {
  await using fixture = useCaseFixture();
  const before = await changed(fixture, 'a');
  await changed(fixture, 'b');
  await fixture.changeRunState.change('b', 'paused');
  lose(fixture);
  expect(await restored(fixture)).toEqual([
    'The record of a was lost and has been rebuilt; the sandbox is ready.',
    'The record of b was lost and has been rebuilt; the sandbox is paused.',
  ]);
  const after = await fixture.findSandbox.find('a');
  expect(after.id).toBe(before.id);
  expect(after.baseCommit).toBe(before.baseCommit);
  expect(after.workdir).toBe('/src');
  expect(after.mark).toBeUndefined();
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo more >more' });
  expect(fixture.subjects('a').at(-1)).toBe('run: echo more >more');
});

test('one without a runtime is as one whose runtime is missing', async () => {
  const fixture = useCaseFixture();
  await changed(fixture);
  lose(fixture);
  fixture.shelves.sandboxes.sandboxes.clear();
  await using next = fixture.restarted();
  expect(await restored(next)).toHaveLength(1);
  expect((await next.listSandboxes.list('repository'))[0]?.state).toBe('missing');
});

test('one whose runtime is broken gets a record too', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  lose(fixture);
  for (const sandbox of fixture.shelves.sandboxes.sandboxes.values()) sandbox.state = 'broken';
  expect(await restored(fixture)).toHaveLength(1);
});

test('one that cannot be made anew is told, and the others are', async () => {
  const fixture = useCaseFixture();
  await made(fixture, 'a');
  await made(fixture, 'b');
  lose(fixture);
  const [first] = fixture.shelves.sandboxes.sandboxes.keys();
  const down = new LitterboxError('UNAVAILABLE', 'down', { operation: 'test' });
  await using next = fixture.restarted({
    provider: (real) => ({ open: (id, options) => (id === first ? Promise.reject(down) : real.open(id, options)) }),
  });
  expect(await restored(next)).toEqual([
    'The record of a was lost and could not be rebuilt: down',
    'The record of b was lost and has been rebuilt; the sandbox is ready.',
  ]);
});

test('while a provider does not answer, what is found nowhere else gets no record that would say it is gone', async () => {
  const fixture = useCaseFixture();
  await changed(fixture, 'here');
  const { id } = await changed(fixture, 'there');
  lose(fixture);
  const other = memoryProvider({ shelf: new SandboxShelf(), clock: realClock, name: 'other' });
  const there = fixture.shelves.sandboxes.sandboxes.get(id);
  fixture.shelves.sandboxes.sandboxes.delete(id);
  const down = fixture.restarted({ otherProviders: [{ ...other, ...unanswering }] });
  const begunMs = down.clock.monotonicMs();
  expect(await down.clock.during(restored(down))).toEqual([
    'The record of here was lost and has been rebuilt; the sandbox is ready.',
    'The record of there was lost and could not be rebuilt: The provider other did not answer within 3 seconds.',
  ]);
  expect(down.clock.monotonicMs() - begunMs).toBe(3_000);
  lose(fixture);
  if (there) fixture.shelves.sandboxes.sandboxes.set(id, there);
  await using up = down.restarted({ otherProviders: [other] });
  expect(await restored(up)).toEqual([
    'The record of here was lost and has been rebuilt; the sandbox is ready.',
    'The record of there was lost and has been rebuilt; the sandbox is ready.',
  ]);
});

test('providers are asked once, however many histories there are, and not at all without one', async () => {
  const fixture = useCaseFixture();
  for (const name of ['a', 'b', 'c']) await made(fixture, name);
  lose(fixture);
  let asked = 0;
  const counted = {
    provider: (real: SandboxProvider): Partial<SandboxProvider> => ({
      list(options) {
        asked += 1;
        return real.list(options);
      },
    }),
  };
  const next = fixture.restarted(counted);
  expect(await restored(next)).toHaveLength(3);
  expect(asked).toBe(1);
  await using empty = useCaseFixture(counted);
  expect(await restored(empty)).toEqual([]);
  expect(asked).toBe(1);
});
