import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { useCaseFixture } from '../../src/index.ts';
import { inState, made } from '../made.ts';

const statesOf = async (fixture: ReturnType<typeof useCaseFixture>) =>
  (await fixture.listSandboxes.execute('repository')).map(({ name, state }) => `${name}: ${state}`);

test('what there is, in the order in which it was made', async () => {
  await using fixture = useCaseFixture();
  const record = await made(fixture, 'b');
  await made(fixture, 'a');
  const [first] = await fixture.listSandboxes.execute('repository');
  expect(first?.name).toBe('b');
  expect(first?.id).toBe(record.id);
  expect(first?.repository).toBe(fixture.person.root);
  expect(first?.isDegraded).toBe(false);
  expect(await statesOf(fixture)).toEqual(['b: ready', 'a: ready']);
});

test('the state is what record and runtime say together', async () => {
  await using fixture = useCaseFixture();
  for (const name of ['paused', 'stopped', 'missing', 'broken', 'failed', 'creating', 'deleting'])
    await made(fixture, name);
  await fixture.changeRunState.execute('paused', 'paused');
  await fixture.changeRunState.execute('stopped', 'stopped');
  const records = await fixture.state.list();
  const idOf = (name: string) => records.find(({ slug }) => slug === name)?.id ?? records[0]?.id;
  const { sandboxes } = fixture.shelves.sandboxes;
  for (const [id, sandbox] of sandboxes) {
    if (id === idOf('missing')) sandboxes.delete(id);
    if (id === idOf('broken')) sandbox.state = 'broken';
  }
  await inState(fixture, 'failed', 'setup-failed');
  await inState(fixture, 'creating', 'creating');
  await inState(fixture, 'deleting', 'deleting');
  expect(await statesOf(fixture)).toEqual([
    'paused: paused',
    'stopped: stopped',
    'missing: missing',
    'broken: error',
    'failed: setup-failed',
    'creating: creating',
    'deleting: deleting',
  ]);
});

test('a provider that cannot be asked shows as an error, not as nothing', async () => {
  const fixture = useCaseFixture();
  await made(fixture);
  await using next = fixture.restarted({
    provider: {
      // oxlint-disable-next-line require-yield
      async *list() {
        throw new LitterboxError('UNAVAILABLE', 'down', { operation: 'test' });
      },
    },
  });
  expect(await statesOf(next)).toEqual(['a: error']);
});

test('a sandbox of a provider that this program does not have shows as an error', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const [record] = fixture.shelves.records.records;
  if (record) await fixture.state.update(record, { provider: 'docker' });
  expect(await statesOf(fixture)).toEqual(['a: error']);
});

test('an abort is no provider that is down', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const reason = new Error('enough');
  const listing = fixture.listSandboxes.execute('repository', { signal: AbortSignal.abort(reason) });
  await expect(listing).rejects.toBe(reason);
});

test('those of all repositories need no repository', async () => {
  const fixture = useCaseFixture();
  await made(fixture);
  await using next = fixture.restarted({ sourceControl: { open: () => Promise.reject(new Error('no')) } });
  expect((await next.listSandboxes.execute('all')).map(({ name }) => name)).toEqual(['a']);
});

test('a fork says what it is a copy of', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await fixture.forkSandbox.execute('a', 'b');
  expect((await fixture.listSandboxes.execute('repository')).map(({ forkedFrom }) => forkedFrom)).toEqual([
    undefined,
    'a',
  ]);
});

test('what was recorded and who called last is told from history and log, without a runtime', async () => {
  const fixture = useCaseFixture();
  await made(fixture, 'idle');
  await made(fixture, 'busy');
  await fixture.accessFiles.write({ sandbox: 'busy', path: 'new.txt', content: new TextEncoder().encode('a\nb\n') });
  await using next = fixture.restarted({
    provider: {
      async open() {
        throw new Error('a list opens nothing');
      },
    },
  });
  const none = { revisions: 0, unmilestoned: 0, files: 0, addedLines: 0, removedLines: 0 };
  const [idle, busy] = await next.listSandboxes.execute('repository');
  expect(idle).toMatchObject({ work: none, lastCall: { operation: 'sandbox-create', isRunning: false } });
  expect(busy).toMatchObject({
    work: { revisions: 1, unmilestoned: 1, files: 1, addedLines: 2, removedLines: 0 },
    lastCall: { operation: 'sandbox-write', isRunning: false },
  });
  expect((await next.listSandboxes.execute('all'))[1]).not.toHaveProperty('work');
});
