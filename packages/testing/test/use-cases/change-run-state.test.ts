import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { useCaseFixture } from '../../src/index.ts';
import { inState, made } from '../made.ts';

const failed = new Error('no');

test('a sandbox is paused, stopped and resumed, and the record says so', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  for (const [wanted, runtime] of [
    ['paused', 'paused'],
    ['ready', 'running'],
    ['stopped', 'stopped'],
    ['ready', 'running'],
  ] as const) {
    const { record, isChanged } = await fixture.changeRunState.change('a', wanted);
    expect(record.state).toBe(wanted);
    expect(isChanged).toBe(true);
    expect(fixture.left().runtimes).toEqual([runtime]);
  }
  expect(fixture.told().slice(1)).toEqual(['sandbox-paused', 'sandbox-resumed', 'sandbox-stopped', 'sandbox-resumed']);
  expect(fixture.left().journal).toEqual([]);
});

test('what it is already changes nothing, and nothing is audited', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  expect((await fixture.changeRunState.change('a', 'ready')).isChanged).toBe(false);
  expect(await fixture.audited()).toEqual(['sandbox-create: ok']);
});

test('the runtime has the last word: one that somebody else froze is resumed', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const [sandbox] = fixture.shelves.sandboxes.sandboxes.values();
  if (sandbox) sandbox.state = 'paused';
  expect((await fixture.changeRunState.change('a', 'ready')).isChanged).toBe(true);
  expect(fixture.left().runtimes).toEqual(['running']);
});

test('a pause waits for nobody: a command that runs is what is paused', async () => {
  await using fixture = useCaseFixture();
  const { id } = await made(fixture);
  await using _ = await fixture.state.lease(`sandbox:${id}`, 'run');
  expect((await fixture.changeRunState.change('a', 'paused')).record.state).toBe('paused');
});

test('a sandbox whose setup failed is not made ready by resuming it', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await inState(fixture, 'a', 'setup-failed');
  const { record, isChanged } = await fixture.changeRunState.change('a', 'ready');
  expect(record.state).toBe('setup-failed');
  expect(isChanged).toBe(false);
});

for (const state of ['creating', 'deleting'] as const)
  test(`a sandbox that is ${state} is SANDBOX_BUSY`, async () => {
    await using fixture = useCaseFixture();
    await made(fixture);
    await inState(fixture, 'a', state);
    await expect(fixture.changeRunState.change('a', 'paused')).rejects.toMatchObject({ code: 'SANDBOX_BUSY' });
  });

test('a runtime that cannot be paused leaves the record as it was, and an audited error', async () => {
  await using fixture = useCaseFixture({ runtime: { pause: () => Promise.reject(failed) } });
  await made(fixture);
  await expect(fixture.changeRunState.change('a', 'paused')).rejects.toBe(failed);
  expect(fixture.left()).toMatchObject({ records: ['a: ready'], journal: [] });
  expect((await fixture.audited()).at(-1)).toBe('sandbox-paused: error');
});

test('a runtime that fails after it was paused leaves the record as it is now', async () => {
  await using fixture = useCaseFixture({
    runtime: {
      async pause() {
        const [sandbox] = fixture.shelves.sandboxes.sandboxes.values();
        if (sandbox) sandbox.state = 'paused';
        throw failed;
      },
    },
  });
  await made(fixture);
  await expect(fixture.changeRunState.change('a', 'paused')).rejects.toBe(failed);
  expect(fixture.left()).toMatchObject({ records: ['a: paused'], journal: [] });
});

test('a failure in a sandbox that was deleted meanwhile is SANDBOX_DELETING', async () => {
  await using fixture = useCaseFixture({
    runtime: {
      async pause() {
        await inState(fixture, 'a', 'deleting');
        throw failed;
      },
    },
  });
  await made(fixture);
  await expect(fixture.changeRunState.change('a', 'paused')).rejects.toMatchObject({ code: 'SANDBOX_DELETING' });
});

test('a deletion that began meanwhile is not written over', async () => {
  await using fixture = useCaseFixture({
    runtime: (real) => ({
      async pause() {
        await real.pause();
        await inState(fixture, 'a', 'deleting');
      },
    }),
  });
  await made(fixture);
  await fixture.changeRunState.change('a', 'paused');
  expect(fixture.left().records).toEqual(['a: deleting']);
});

test('a runtime that is gone is SANDBOX_RUNTIME_MISSING', async () => {
  const fixture = useCaseFixture();
  await made(fixture);
  fixture.shelves.sandboxes.sandboxes.clear();
  await using next = fixture.restarted();
  await expect(next.changeRunState.change('a', 'stopped')).rejects.toMatchObject({ code: 'SANDBOX_RUNTIME_MISSING' });
});

test('all of them: those that can be are, the others are left out', async () => {
  await using fixture = useCaseFixture();
  for (const name of ['a', 'b', 'c']) await made(fixture, name);
  await inState(fixture, 'c', 'setup-failed');
  const results = await fixture.changeRunState.changeAll(await fixture.listSandboxes.records('repository'), 'paused');
  expect(results.map(({ record }) => record.slug)).toEqual(['a', 'b']);
  expect(fixture.left().runtimes).toEqual(['paused', 'paused', 'running']);
});

test('a provider that is down is told as it is', async () => {
  const down = new LitterboxError('UNAVAILABLE', 'down', { operation: 'test' });
  await using fixture = useCaseFixture({
    provider: {
      // oxlint-disable-next-line require-yield
      async *list() {
        throw down;
      },
    },
  });
  await made(fixture);
  await expect(fixture.changeRunState.change('a', 'ready')).rejects.toBe(down);
});
