import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { memoryProvider, realClock, SandboxShelf } from '@litterbox/memory';
import { useCaseFixture } from '../../src/index.ts';
import { changed, inState, made } from '../made.ts';
import { unanswering } from '../unanswering.ts';

const statesOf = async (fixture: ReturnType<typeof useCaseFixture>) =>
  (await fixture.listSandboxes.list('repository')).map(({ name, state }) => `${name}: ${state}`);

test('what there is, in the order in which it was made', async () => {
  await using fixture = useCaseFixture();
  const record = await made(fixture, 'b');
  await made(fixture, 'a');
  const [first] = await fixture.listSandboxes.list('repository');
  expect(first?.name).toBe('b');
  expect(first?.id).toBe(record.id);
  expect(first?.repository).toBe(fixture.person.root);
  expect(first?.isDegraded).toBe(false);
  expect(await statesOf(fixture)).toEqual(['b: ready', 'a: ready']);
});

test('FC-422: a list says which merges will conflict, as far as a moment tells, and nothing where that fails', async () => {
  const budgets: (number | undefined)[] = [];
  await using fixture = useCaseFixture();
  await changed(fixture, 'a');
  await made(fixture, 'b');
  await fixture.runCommand.run({ sandbox: 'b', command: 'echo other >work' });
  await made(fixture, 'idle');
  const conflicts = async (of = fixture) => (await of.listSandboxes.list('repository')).map((one) => one.conflicts);
  expect(await conflicts()).toEqual([
    { branchFiles: 0, sandboxes: ['b'] },
    { branchFiles: 0, sandboxes: ['a'] },
    undefined,
  ]);
  await using silent = useCaseFixture({
    repository: {
      forecast: async (_ids, options) => {
        budgets.push(options?.budgetMs);
        throw new LitterboxError('UNBORN_HEAD', 'no commit', { operation: 'test', hint: 'none' });
      },
    },
  });
  await made(silent);
  expect(await conflicts(silent)).toEqual([undefined]);
  expect(budgets).toEqual([250]);
});

test('the state is what record and runtime say together', async () => {
  await using fixture = useCaseFixture();
  for (const name of ['paused', 'stopped', 'missing', 'broken', 'failed', 'creating', 'deleting'])
    await made(fixture, name);
  await fixture.changeRunState.change('paused', 'paused');
  await fixture.changeRunState.change('stopped', 'stopped');
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

for (const [code, operation, state] of [
  ['UNAVAILABLE', 'test', 'unreachable'],
  ['STATE_CORRUPT', 'test', 'error'],
  ['NOT_FOUND', 'test', 'error'],
  ['NOT_FOUND', 'host.open', 'unreachable'], // the person has forgotten its machine
  ['PERMISSION_DENIED', 'host.connect', 'unreachable'], // no key is at hand
  ['SSH_HOSTKEY_CHANGED', 'host.connect', 'error'],
] as const)
  test(`a provider that fails with ${code} of ${operation} shows as ${state}, not as nothing`, async () => {
    const fixture = useCaseFixture();
    await made(fixture);
    await using next = fixture.restarted({
      provider: {
        // oxlint-disable-next-line require-yield
        async *list() {
          throw new LitterboxError(code, 'down', { operation });
        },
      },
    });
    expect(await statesOf(next)).toEqual([`a: ${state}`]);
  });

test('one that says nothing is slow after three seconds, and holds up no other', async () => {
  const others = ['second', 'third', 'fourth'].map((name) => ({
    ...memoryProvider({ shelf: new SandboxShelf(), clock: realClock, name }),
    ...unanswering,
  }));
  await using fixture = useCaseFixture({ otherProviders: others });
  await made(fixture, 'well');
  for (const { name } of others) {
    await fixture.state.update(await made(fixture, `of-${name}`), { provider: name });
  }
  const begunMs = fixture.clock.monotonicMs();
  expect(await fixture.clock.during(statesOf(fixture))).toEqual([
    'well: ready',
    'of-second: slow',
    'of-third: slow',
    'of-fourth: slow',
  ]);
  expect(fixture.clock.monotonicMs() - begunMs).toBe(3_000);
});

test('what comes after the three seconds changes nothing and breaks nothing', async () => {
  const fixture = useCaseFixture();
  await made(fixture);
  let answer = (_late: Error) => {};
  let isTold: AbortSignal | undefined;
  await using next = fixture.restarted({
    provider: {
      // oxlint-disable-next-line require-yield
      async *list(options) {
        isTold = options?.signal;
        await new Promise((_resolve, reject) => (answer = reject));
      },
    },
  });
  const listing = statesOf(next);
  await next.clock.pass(3_000);
  expect(await listing).toEqual(['a: slow']);
  expect(isTold?.aborted).toBe(true);
  answer(new Error('late'));
  await new Promise((resolve) => setImmediate(resolve)); // a rejection that nobody hears would end the test run
});

test('one that is slow and answers in time is believed', async () => {
  const fixture = useCaseFixture();
  await made(fixture);
  await using next = fixture.restarted({
    provider: (real) => ({
      async *list(options) {
        await fixture.clock.sleep(2_999, options);
        yield* real.list(options);
      },
    }),
  });
  expect(await next.clock.during(statesOf(next))).toEqual(['a: ready']);
});

test('a machine that is not connected to in time is slow too', async () => {
  const fixture = useCaseFixture();
  await fixture.state.update(await made(fixture), { provider: 'memory@far' });
  await using next = fixture.restarted({ providers: { get: () => new Promise(() => {}) } });
  expect(await next.clock.during(statesOf(next))).toEqual(['a: slow']);
});

test('a provider that works with this machine alone has no deadline: the machine may be busy', async () => {
  const fixture = useCaseFixture();
  await made(fixture);
  await using next = fixture.restarted({
    provider: (real) => ({
      traits: { ...real.traits, isolation: 'process' },
      async *list(options) {
        await fixture.clock.sleep(60_000, options);
        yield* real.list(options);
      },
    }),
  });
  expect(await next.clock.during(statesOf(next))).toEqual(['a: ready']);
});

test('every provider is asked once, however many sandboxes it has, and one that has none is not', async () => {
  const fixture = useCaseFixture();
  for (const name of ['a', 'b', 'c']) await made(fixture, name);
  let asked = 0;
  const other = {
    ...memoryProvider({ shelf: new SandboxShelf(), clock: realClock, name: 'other' }),
    list: () => {
      throw new Error('asked');
    },
  };
  await using next = fixture.restarted({
    provider: (real) => ({
      list(options) {
        asked += 1;
        return real.list(options);
      },
    }),
    otherProviders: [other],
  });
  expect(await statesOf(next)).toEqual(['a: ready', 'b: ready', 'c: ready']);
  expect(asked).toBe(1);
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
  const listing = fixture.listSandboxes.list('repository', { signal: AbortSignal.abort(reason) });
  await expect(listing).rejects.toBe(reason);
});

test('those of all repositories need no repository', async () => {
  const fixture = useCaseFixture();
  await made(fixture);
  await using next = fixture.restarted({ sourceControl: { open: () => Promise.reject(new Error('no')) } });
  expect((await next.listSandboxes.list('all')).map(({ name }) => name)).toEqual(['a']);
});

test('a fork says what it is a copy of', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await fixture.forkSandbox.fork('a', 'b');
  expect((await fixture.listSandboxes.list('repository')).map(({ forkedFrom }) => forkedFrom)).toEqual([
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
  const [idle, busy] = await next.listSandboxes.list('repository');
  expect(idle).toMatchObject({ work: none, lastCall: { operation: 'sandbox-create', isRunning: false } });
  expect(busy).toMatchObject({
    work: { revisions: 1, unmilestoned: 1, files: 1, addedLines: 2, removedLines: 0 },
    lastCall: { operation: 'sandbox-write', isRunning: false },
  });
  expect((await next.listSandboxes.list('all'))[1]).not.toHaveProperty('work');
});
