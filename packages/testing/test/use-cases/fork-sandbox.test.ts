import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { atFailpoint, useCaseFixture } from '../../src/index.ts';
import { changed, inState, made } from '../made.ts';

const failed = new Error('no');
const fail = () => Promise.reject(failed);
const alone = { records: ['a: ready'], histories: ['a'], journal: [], runtimes: ['running'] };

test('a fork has the files, the history and the settings of its source, and a name with the next number', async () => {
  await using fixture = useCaseFixture({ files: [{ path: '.gitignore', content: 'cache\n' }] });
  await changed(fixture);
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo x >cache; echo home >~/file' });
  const { record, forkedFrom, warnings } = await fixture.forkSandbox.fork('a', undefined);
  expect(record.slug).toBe('a-2');
  expect(record.state).toBe('ready');
  expect(record.forkedFrom).toBe('a');
  expect(forkedFrom).toBe('a');
  expect(warnings).toEqual([]);
  expect(fixture.look('a-2', 'work')).toBe('work\n');
  expect(fixture.look('a-2', 'cache')).toBe('x\n');
  expect(fixture.subjects('a-2')).toEqual(fixture.subjects('a'));
  expect((await fixture.forkSandbox.fork('a', undefined)).record.slug).toBe('a-3');
});

test('a fork and its source go by themselves', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  await fixture.forkSandbox.fork('a', 'b');
  await fixture.runCommand.run({ sandbox: 'b', command: 'echo b >work' });
  expect(fixture.look('a', 'work')).toBe('work\n');
  expect(fixture.subjects('a')).toHaveLength(1);
  expect(fixture.subjects('b')).toHaveLength(2);
});

test('what no call has recorded is recorded in the source first', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  fixture.scribble('a', 'late', 'x');
  await fixture.forkSandbox.fork('a', 'b');
  expect(fixture.subjects('a')).toEqual(['recovered: changes found before this call']);
  expect(fixture.subjects('b')).toEqual(fixture.subjects('a'));
});

test('a name that is taken is SANDBOX_EXISTS, and nothing is left', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await expect(fixture.forkSandbox.fork('a', 'A')).rejects.toMatchObject({ code: 'SANDBOX_EXISTS' });
  expect(fixture.left()).toEqual(alone);
  expect((await fixture.audited()).at(-1)).toBe('sandbox-fork: error');
});

test('a provider that cannot copy is UNSUPPORTED, with another way', async () => {
  await using fixture = useCaseFixture({
    provider: ({ traits }) => ({ traits: { ...traits, canCopy: undefined } as object as typeof traits }),
  });
  await made(fixture);
  const refused = { code: 'UNSUPPORTED', details: { hint: expect.stringContaining('merge("a")') } };
  await expect(fixture.forkSandbox.fork('a', 'b')).rejects.toMatchObject(refused);
  await expect(fixture.forkSandbox.forkSeveral('a', { wanted: 'b', count: 2 })).rejects.toMatchObject(refused);
});

test('a paused or stopped source stays so, and its fork runs', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  for (const state of ['paused', 'stopped'] as const) {
    await fixture.changeRunState.change('a', state);
    const { record } = await fixture.forkSandbox.fork('a', `of ${state}`);
    expect(record.state).toBe('ready');
    expect((await fixture.findSandbox.find('a')).state).toBe(state);
    expect(fixture.look(record.slug, 'work')).toBe('work\n');
  }
});

test('a fork of a sandbox whose setup failed is one too', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await inState(fixture, 'a', 'setup-failed');
  expect((await fixture.forkSandbox.fork('a', 'b')).record.state).toBe('setup-failed');
});

test('a source that is being deleted is SANDBOX_DELETING', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await inState(fixture, 'a', 'deleting');
  await expect(fixture.forkSandbox.fork('a', 'b')).rejects.toMatchObject({ code: 'SANDBOX_DELETING' });
});

test('a fork whose copy fails leaves nothing, and the source as it was', async () => {
  await using fixture = useCaseFixture({
    provider: (real) => ({ create: (spec, options) => (spec.copyOf ? fail() : real.create(spec, options)) }),
  });
  await made(fixture);
  await expect(fixture.forkSandbox.fork('a', 'b')).rejects.toBe(failed);
  expect(fixture.left()).toEqual(alone);
});

test('a fork whose history fails removes the copy that was made meanwhile', async () => {
  await using fixture = useCaseFixture({ repository: { fork: fail } });
  await made(fixture);
  await expect(fixture.forkSandbox.fork('a', 'b')).rejects.toBe(failed);
  expect(fixture.left()).toEqual(alone);
});

for (const point of ['fork.after-record', 'fork.after-runtime', 'fork.after-scan', 'fork.after-ready'])
  test(`a fork that fails at ${point} leaves nothing`, async () => {
    await using fixture = useCaseFixture();
    await made(fixture);
    using _ = atFailpoint(point, () => {
      throw failed;
    });
    await expect(fixture.forkSandbox.fork('a', 'b')).rejects.toBe(failed);
    expect(fixture.left()).toEqual(alone);
  });

for (const point of ['fork.after-record', 'fork.after-runtime', 'fork.after-scan'])
  test(`a fork that was killed at ${point} is undone, and its source works`, async () => {
    const fixture = useCaseFixture();
    await changed(fixture);
    await fixture.killedAt(point, () => fixture.forkSandbox.fork('a', 'b'));
    await using next = fixture.restarted();
    expect(await next.reconcile.reconcile()).toEqual(['Undid the interrupted creation of b.']);
    expect(next.left()).toEqual(alone);
    await next.runCommand.run({ sandbox: 'a', command: 'echo on >on' });
  });

test('a name with no room for the number is shortened', async () => {
  await using fixture = useCaseFixture();
  const long = 'x'.repeat(40);
  await made(fixture, long);
  expect((await fixture.forkSandbox.fork(long, undefined)).record.slug).toBe(`${'x'.repeat(38)}-2`);
});

test('several forks are numbered, with a name of their own from 1 on, without one from the first free number', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  await made(fixture, 'a-3');
  const names = async (wanted?: string) => {
    const { forks } = await fixture.forkSandbox.forkSeveral('a', { wanted, count: 3 });
    return forks.map((fork) => ('record' in fork ? fork.record.slug : fork.error));
  };
  expect(await names()).toEqual(['a-2', 'a-4', 'a-5']);
  expect(await names('Try')).toEqual(['try-1', 'try-2', 'try-3']);
  expect(await names('x'.repeat(40))).toEqual([1, 2, 3].map((number) => `${'x'.repeat(38)}-${number}`));
  for (const name of ['a-2', 'try-3']) expect(fixture.look(name, 'work')).toBe('work\n');
});

test('one of several that fails is told, leaves nothing, and leaves the others', async () => {
  let copies = 0;
  const down = new LitterboxError('DISK_FULL', 'full', { operation: 'test' });
  await using fixture = useCaseFixture({
    provider: (real) => ({
      create: (spec, options) => {
        if (spec.copyOf) copies += 1;
        return spec.copyOf && copies === 2 ? Promise.reject(down) : real.create(spec, options);
      },
    }),
  });
  await made(fixture);
  await made(fixture, 'try-3');
  const { forks } = await fixture.forkSandbox.forkSeveral('a', { wanted: 'try', count: 4 });
  expect(forks).toMatchObject([
    { record: { slug: 'try-1' } },
    { error: down },
    { error: { code: 'SANDBOX_EXISTS' } },
    { record: { slug: 'try-4' } },
  ]);
  expect(fixture.left().records.toSorted()).toEqual(['a: ready', 'try-1: ready', 'try-3: ready', 'try-4: ready']);
});

test('several forks of nothing, or that were aborted, are an error', async () => {
  await using fixture = useCaseFixture();
  await expect(fixture.forkSandbox.forkSeveral('a', { wanted: undefined, count: 2 })).rejects.toMatchObject({
    code: 'SANDBOX_NOT_FOUND',
  });
  await made(fixture);
  const enough = new AbortController();
  const reason = new Error('enough');
  using _ = atFailpoint('fork.after-ready', () => enough.abort(reason));
  const aborted = fixture.forkSandbox.forkSeveral('a', { wanted: 'b', count: 3 }, { signal: enough.signal });
  await expect(aborted).rejects.toBe(reason);
  expect(fixture.left().records).toEqual(['a: ready', 'b-1: ready']);
});

test('ports of the fork are its own', async () => {
  await using fixture = useCaseFixture({ config: '[container.ports]\nweb = 8000\n' });
  await made(fixture);
  const { record } = await fixture.forkSandbox.fork('a', 'b');
  expect(record.ports?.[0]?.outside).toBe(40_001);
});

test('a fork that cannot be audited does not begin', async () => {
  const unavailable = new LitterboxError('AUDIT_UNAVAILABLE', 'full', { operation: 'test' });
  await using fixture = useCaseFixture({
    audit: (real) => ({
      start: (entry, options) =>
        entry.operation === 'sandbox-fork' ? Promise.reject(unavailable) : real.start(entry, options),
    }),
  });
  await made(fixture);
  await expect(fixture.forkSandbox.fork('a', 'b')).rejects.toBe(unavailable);
  expect(fixture.left()).toEqual(alone);
});
