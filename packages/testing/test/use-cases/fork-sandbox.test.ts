import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { atFailpoint, testWorld } from '../../src/index.ts';
import { changed, inState, made } from '../made.ts';

const failed = new Error('no');
const fail = () => Promise.reject(failed);
const alone = { records: ['a: ready'], histories: ['a'], journal: [], runtimes: ['running'], pool: [] };

test('a fork has the files, the history and the settings of its source, and a name with the next number', async () => {
  await using world = testWorld({ files: [{ path: '.gitignore', content: 'cache\n' }] });
  await changed(world);
  await world.runCommand.execute({ sandbox: 'a', command: 'echo x >cache; echo home >~/file' });
  const { record, forkedFrom, warnings } = await world.forkSandbox.execute('a', undefined);
  expect(record.slug).toBe('a-2');
  expect(record.state).toBe('ready');
  expect(record.forkedFrom).toBe('a');
  expect(forkedFrom).toBe('a');
  expect(warnings).toEqual([]);
  expect(world.look('a-2', 'work')).toBe('work\n');
  expect(world.look('a-2', 'cache')).toBe('x\n');
  expect(world.subjects('a-2')).toEqual(world.subjects('a'));
  expect((await world.forkSandbox.execute('a', undefined)).record.slug).toBe('a-3');
});

test('a fork and its source go by themselves', async () => {
  await using world = testWorld();
  await changed(world);
  await world.forkSandbox.execute('a', 'b');
  await world.runCommand.execute({ sandbox: 'b', command: 'echo b >work' });
  expect(world.look('a', 'work')).toBe('work\n');
  expect(world.subjects('a')).toHaveLength(1);
  expect(world.subjects('b')).toHaveLength(2);
});

test('what no call has recorded is recorded in the source first', async () => {
  await using world = testWorld();
  await made(world);
  world.scribble('a', 'late', 'x');
  await world.forkSandbox.execute('a', 'b');
  expect(world.subjects('a')).toEqual(['recovered: changes found before this call']);
  expect(world.subjects('b')).toEqual(world.subjects('a'));
});

test('a name that is taken is SANDBOX_EXISTS, and nothing is left', async () => {
  await using world = testWorld();
  await made(world);
  await expect(world.forkSandbox.execute('a', 'A')).rejects.toMatchObject({ code: 'SANDBOX_EXISTS' });
  expect(world.left()).toEqual(alone);
  expect((await world.audited()).at(-1)).toBe('sandbox-fork: error');
});

test('a provider that cannot copy is UNSUPPORTED, with another way', async () => {
  await using world = testWorld({
    provider: ({ traits }) => ({ traits: { ...traits, canCopy: undefined } as object as typeof traits }),
  });
  await made(world);
  await expect(world.forkSandbox.execute('a', 'b')).rejects.toMatchObject({
    code: 'UNSUPPORTED',
    details: { hint: expect.stringContaining('litterbox merge a') },
  });
});

test('a paused or stopped source stays so, and its fork runs', async () => {
  await using world = testWorld();
  await changed(world);
  for (const state of ['paused', 'stopped'] as const) {
    await world.changeRunState.execute('a', state);
    const { record } = await world.forkSandbox.execute('a', `of ${state}`);
    expect(record.state).toBe('ready');
    expect((await world.findSandbox.execute('a')).state).toBe(state);
    expect(world.look(record.slug, 'work')).toBe('work\n');
  }
});

test('a fork of a sandbox whose setup failed is one too', async () => {
  await using world = testWorld();
  await made(world);
  await inState(world, 'a', 'setup-failed');
  expect((await world.forkSandbox.execute('a', 'b')).record.state).toBe('setup-failed');
});

test('a source that is being deleted is SANDBOX_DELETING', async () => {
  await using world = testWorld();
  await made(world);
  await inState(world, 'a', 'deleting');
  await expect(world.forkSandbox.execute('a', 'b')).rejects.toMatchObject({ code: 'SANDBOX_DELETING' });
});

test('a fork whose copy fails leaves nothing, and the source as it was', async () => {
  await using world = testWorld({
    provider: (real) => ({ create: (spec, options) => (spec.copyOf ? fail() : real.create(spec, options)) }),
  });
  await made(world);
  await expect(world.forkSandbox.execute('a', 'b')).rejects.toBe(failed);
  expect(world.left()).toEqual(alone);
});

test('a fork whose history fails removes the copy that was made meanwhile', async () => {
  await using world = testWorld({ repository: { fork: fail } });
  await made(world);
  await expect(world.forkSandbox.execute('a', 'b')).rejects.toBe(failed);
  expect(world.left()).toEqual(alone);
});

for (const point of ['fork.after-record', 'fork.after-runtime', 'fork.after-scan', 'fork.after-ready'])
  test(`a fork that fails at ${point} leaves nothing`, async () => {
    await using world = testWorld();
    await made(world);
    using _ = atFailpoint(point, () => {
      throw failed;
    });
    await expect(world.forkSandbox.execute('a', 'b')).rejects.toBe(failed);
    expect(world.left()).toEqual(alone);
  });

for (const point of ['fork.after-record', 'fork.after-runtime', 'fork.after-scan'])
  test(`a fork that was killed at ${point} is undone, and its source works`, async () => {
    const world = testWorld();
    await changed(world);
    await world.killedAt(point, () => world.forkSandbox.execute('a', 'b'));
    await using next = world.restarted();
    expect(await next.reconcile.execute()).toEqual(['Undid the interrupted creation of b.']);
    expect(next.left()).toEqual(alone);
    await next.runCommand.execute({ sandbox: 'a', command: 'echo on >on' });
  });

test('a name with no room for the number is shortened', async () => {
  await using world = testWorld();
  const long = 'x'.repeat(40);
  await made(world, long);
  expect((await world.forkSandbox.execute(long, undefined)).record.slug).toBe(`${'x'.repeat(38)}-2`);
});

test('ports of the fork are its own', async () => {
  await using world = testWorld({ config: '[container.ports]\nweb = 8000\n' });
  await made(world);
  const { record } = await world.forkSandbox.execute('a', 'b');
  expect(record.ports?.[0]?.outside).toBe(40_001);
});

test('a fork that cannot be audited does not begin', async () => {
  const unavailable = new LitterboxError('AUDIT_UNAVAILABLE', 'full', { operation: 'test' });
  await using world = testWorld({
    audit: (real) => ({
      start: (entry, options) =>
        entry.operation === 'sandbox-fork' ? Promise.reject(unavailable) : real.start(entry, options),
    }),
  });
  await made(world);
  await expect(world.forkSandbox.execute('a', 'b')).rejects.toBe(unavailable);
  expect(world.left()).toEqual(alone);
});
