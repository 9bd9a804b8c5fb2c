import { expect, test } from '@jest/globals';
import type { SandboxProvider } from '@litterbox/core/provider';
import { useCaseFixture, type UseCaseFixture } from '../../src/index.ts';
import { changed, inState, made, setup } from '../made.ts';

const failed = new Error('no');
const fail = () => Promise.reject(failed);
/** A provider that takes no snapshots. */
const WITHOUT = Object.defineProperty({}, 'snapshots', { value: undefined, enumerable: true });
const FILES = [{ path: '.gitignore', content: 'cache\n' }];

/** Sandbox `a` with one revision, an ignored file and a file at home, and a snapshot of that. */
async function snapshotted(fixture: UseCaseFixture, label?: string): Promise<void> {
  await changed(fixture);
  await run(fixture, 'echo old >cache; echo old >~/home');
  await fixture.takeSnapshot.take('a', label);
}

async function run(fixture: UseCaseFixture, command: string): Promise<string> {
  const { stdout } = await fixture.runCommand.run({ sandbox: 'a', command });
  return Buffer.from(stdout.bytes).toString();
}

const stateOf = async (fixture: UseCaseFixture) => (await fixture.findSandbox.find('a')).state;
const labelsOf = async (fixture: UseCaseFixture) =>
  (await fixture.listSnapshots.list('a')).map(({ note }) => note?.label);
const LOOK = 'cat work cache ~/home; ls';

test('a snapshot has a label, the revision and the time, and the list is oldest first', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  const first = await fixture.takeSnapshot.take('a', undefined);
  expect(first).toMatchObject({ note: { label: 's1', revision: 1 }, warnings: [] });
  fixture.clock.advance(1000);
  expect((await fixture.takeSnapshot.take('a', 'Before it breaks')).note.label).toBe('before-it-breaks');
  expect((await fixture.takeSnapshot.take('a', undefined)).note.label).toBe('s2');
  const [one, two] = await fixture.listSnapshots.list('a');
  expect(one).toEqual({
    id: first.id,
    name: first.name,
    note: first.note,
    takenAtMs: expect.any(Number),
    usage: { diskBytes: expect.any(Number), ownBytes: expect.any(Number) },
  });
  expect((two?.takenAtMs ?? 0) - (one?.takenAtMs ?? 0)).toBe(1000);
  expect(fixture.told()).toContain('snapshot-taken');
  expect((await fixture.audited()).at(-1)).toBe('snapshot-create: ok');
});

test('the first label that is free is taken again', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  for (let count = 0; count < 3; count += 1) await fixture.takeSnapshot.take('a', undefined);
  await fixture.removeSnapshot.remove('a', 'S2');
  expect(await labelsOf(fixture)).toEqual(['s1', 's3']);
  expect((await fixture.takeSnapshot.take('a', undefined)).note.label).toBe('s2');
});

test('what no call recorded is a revision before the snapshot is taken', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  fixture.scribble('a', 'late', 'x');
  expect((await fixture.takeSnapshot.take('a', undefined)).note.revision).toBe(1);
  expect(fixture.subjects('a')).toEqual(['recovered: changes found by a snapshot']);
});

for (const [times, warnings] of [
  [1, []],
  [2, []],
  [3, [expect.stringContaining('writes all the time')]],
] as const)
  test(`what is written during ${times} takes is recorded, and it is taken again at most three times`, async () => {
    let takes = 0;
    let fixture: UseCaseFixture | undefined;
    await using world = useCaseFixture({
      provider: ({ snapshots }) =>
        snapshots
          ? {
              snapshots: {
                ...snapshots,
                take: async (id, options) => {
                  takes += 1;
                  const name = await snapshots.take(id, options);
                  if (takes <= times) fixture?.scribble('a', `late${takes}`, 'x');
                  return name;
                },
              },
            }
          : {},
    });
    fixture = world;
    await made(world);
    const taken = await world.takeSnapshot.take('a', undefined);
    expect(takes).toBe(Math.min(times + 1, 3));
    expect(taken.warnings).toEqual(warnings);
    expect(await labelsOf(world)).toEqual(['s1']);
    expect(taken.note.revision).toBe(takes - 1);
    expect(world.subjects('a')).toHaveLength(times);
  });

for (const state of ['paused', 'stopped'] as const)
  test(`a sandbox that is ${state} is taken as it is`, async () => {
    await using fixture = useCaseFixture();
    await changed(fixture);
    await fixture.changeRunState.change('a', state);
    await fixture.takeSnapshot.take('a', undefined);
    expect(await stateOf(fixture)).toBe(state);
    expect(fixture.left().runtimes).toEqual([state]);
  });

test('a label that is taken is ALREADY_EXISTS, one that is none is NAME_INVALID', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await fixture.takeSnapshot.take('a', 'x');
  await expect(fixture.takeSnapshot.take('a', 'X')).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
  await expect(fixture.takeSnapshot.take('a', '!')).rejects.toMatchObject({ code: 'NAME_INVALID' });
  expect(await labelsOf(fixture)).toEqual(['x']);
});

test('more than fifty are RESOURCE_EXHAUSTED, and the hint names the oldest', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  for (let count = 0; count < 50; count += 1) await fixture.takeSnapshot.take('a', undefined);
  await expect(fixture.takeSnapshot.take('a', undefined)).rejects.toMatchObject({
    code: 'RESOURCE_EXHAUSTED',
    details: { hint: expect.stringContaining('removeSnapshot("s1") of the sandbox') },
  });
  expect(await labelsOf(fixture)).toHaveLength(50);
});

test('a provider without snapshots is UNSUPPORTED by name, and delete does not miss them', async () => {
  await using fixture = useCaseFixture({ provider: WITHOUT });
  await made(fixture);
  const refused = { code: 'UNSUPPORTED', message: expect.stringContaining('memory') };
  await expect(fixture.takeSnapshot.take('a', undefined)).rejects.toMatchObject(refused);
  await expect(fixture.listSnapshots.list('a')).rejects.toMatchObject(refused);
  await expect(fixture.restoreSnapshot.restore('a', 's1')).rejects.toMatchObject(refused);
  await expect(fixture.removeSnapshot.remove('a', 's1')).rejects.toMatchObject(refused);
  await fixture.deleteSandbox.delete('a', {});
});

test('a snapshot that is not there is NOT_FOUND, and those that are there are named', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const hinted = (hint: string) => ({ code: 'NOT_FOUND', details: { hint: expect.stringContaining(hint) } });
  await expect(fixture.restoreSnapshot.restore('a', 's1')).rejects.toMatchObject(hinted('snapshot() of the sandbox'));
  await fixture.takeSnapshot.take('a', 'x');
  await expect(fixture.removeSnapshot.remove('a', 's1')).rejects.toMatchObject(hinted('There are: x.'));
  await made(fixture, 'b');
  await expect(fixture.restoreSnapshot.restore('b', 'x')).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('a snapshot of another make has no label; it is removed by its name, and not restored', async () => {
  await using fixture = useCaseFixture();
  const { id } = await changed(fixture);
  await fixture.takeSnapshot.take('a', undefined);
  const [kept] = fixture.shelves.sandboxes.snapshots.values();
  if (!kept) throw new Error('There is no snapshot.');
  const foreign = { ...kept, kept: { name: 'foreign', sandbox: id, takenAtMs: 0, note: 'mine' } };
  fixture.shelves.sandboxes.snapshots.set('foreign', foreign);
  expect(await labelsOf(fixture)).toEqual([undefined, 's1']);
  await expect(fixture.restoreSnapshot.restore('a', 'foreign')).rejects.toMatchObject({
    code: 'UNSUPPORTED',
    details: { hint: 'Remove it: removeSnapshot("foreign") of the sandbox.' },
  });
  expect(fixture.left().journal).toEqual([]);
  await fixture.removeSnapshot.remove('a', 'foreign');
  expect(await labelsOf(fixture)).toEqual(['s1']);
});

test('a restore brings back everything of workspace and home, and history only grows', async () => {
  await using fixture = useCaseFixture({ files: FILES });
  await snapshotted(fixture);
  await run(fixture, 'echo new >work; echo new >cache; echo new >~/home; echo x >more; echo kept >~/../kept');
  fixture.scribble('a', 'late', 'x');
  const { revision, record } = await fixture.restoreSnapshot.restore('a', 's1');
  expect(record.state).toBe('ready');
  expect(await run(fixture, LOOK)).toBe('work\nold\nold\ncache\nwork\n');
  expect(fixture.subjects('a')).toHaveLength(4);
  expect(fixture.subjects('a').slice(-2)).toEqual([
    'recovered: changes found before this call',
    'restore: snapshot s1',
  ]);
  expect(revision?.number).toBe(4);
  expect((await fixture.runCommand.run({ sandbox: 'a', command: 'true' })).recorded.revision).toBeUndefined();
  expect(fixture.told()).toContain('snapshot-restored');
  expect(fixture.left().journal).toEqual([]);
});

test('what the snapshot holds beside its revision is recorded, what it lacks is taken away', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  await fixture.changeRunState.change('a', 'paused');
  fixture.scribble('a', 'beside', 'x');
  await fixture.takeSnapshot.take('a', undefined); // as it is: `beside` is in no revision
  await fixture.changeRunState.change('a', 'ready');
  await run(fixture, 'rm beside; echo later >later');
  await fixture.restoreSnapshot.restore('a', 's1');
  expect(await run(fixture, 'ls')).toContain('beside\n');
  const { tip } = await (await fixture.openRepository.open()).history((await fixture.findSandbox.find('a')).id);
  const repository = await fixture.openRepository.open();
  const files = await repository.changes((await fixture.findSandbox.find('a')).id, {});
  expect(files.map(({ path }) => path)).toEqual(['beside', 'work']);
  expect(tip.number).toBe(fixture.subjects('a').length);
});

test('a restore where nothing that counts changed is no revision', async () => {
  await using fixture = useCaseFixture({ files: FILES });
  await snapshotted(fixture);
  await run(fixture, 'echo new >cache');
  expect((await fixture.restoreSnapshot.restore('a', 's1')).revision).toBeUndefined();
  expect(await run(fixture, 'cat cache')).toBe('old\n');
});

test('another program that has it open works in what was put back', async () => {
  await using fixture = useCaseFixture({ files: FILES });
  await snapshotted(fixture);
  await run(fixture, 'echo new >work');
  const record = await fixture.findSandbox.find('a');
  const before = await fixture.openSandboxes.get(record);
  const isRestored = await fixture.state.update(record, { replacements: 1 });
  const after = await fixture.openSandboxes.get(isRestored);
  expect(after).not.toBe(before);
  await expect(before.channel.run({ argv: ['true'] })).rejects.toMatchObject({ code: 'DISPOSED' });
  expect(await fixture.openSandboxes.get(record)).toBe(after); // by a record that was read before
  const { record: restored } = await fixture.restoreSnapshot.restore('a', 's1');
  expect(restored.replacements).toBe(2);
});

for (const state of ['paused', 'stopped'] as const)
  test(`one that is ${state} is stopped afterwards, and what it had unrecorded is in the history`, async () => {
    await using fixture = useCaseFixture({ files: FILES });
    await snapshotted(fixture);
    fixture.scribble('a', 'late', 'x');
    await fixture.changeRunState.change('a', state);
    const { record } = await fixture.restoreSnapshot.restore('a', 's1');
    expect(record.state).toBe('stopped');
    expect(await stateOf(fixture)).toBe('stopped');
    expect(fixture.left().runtimes).toEqual(['stopped']);
    expect(fixture.subjects('a').slice(-2)).toEqual([
      'recovered: changes found before this call',
      'restore: snapshot s1',
    ]);
    await fixture.changeRunState.change('a', 'ready');
    expect(await run(fixture, LOOK)).toBe('work\nold\nold\ncache\nwork\n');
    expect(fixture.left().journal).toEqual([]);
  });

test('one whose setup failed stays one', async () => {
  await using fixture = useCaseFixture();
  await made(fixture, 'a', { overrides: setup('true') });
  await fixture.takeSnapshot.take('a', undefined);
  await inState(fixture, 'a', 'setup-failed');
  expect((await fixture.restoreSnapshot.restore('a', 's1')).record.state).toBe('setup-failed');
});

test('one that is being made or deleted is refused', async () => {
  await using fixture = useCaseFixture();
  await snapshotted(fixture);
  await inState(fixture, 'a', 'deleting');
  await expect(fixture.restoreSnapshot.restore('a', 's1')).rejects.toMatchObject({ code: 'SANDBOX_DELETING' });
  await expect(fixture.takeSnapshot.take('a', 's2')).rejects.toMatchObject({ code: 'SANDBOX_DELETING' });
});

test('a snapshot of another history is refused before anything changes', async () => {
  const unknown = { code: 'REV_NOT_FOUND' };
  await using fixture = useCaseFixture({ repository: { resolve: () => Promise.reject(unknown) } });
  await snapshotted(fixture);
  await run(fixture, 'echo new >cache');
  await expect(fixture.restoreSnapshot.restore('a', 's1')).rejects.toBe(unknown);
  expect(await run(fixture, 'cat cache')).toBe('new\n');
});

test('a restore that the provider fails leaves the sandbox, and nothing to finish', async () => {
  await using fixture = useCaseFixture({
    files: FILES,
    provider: ({ snapshots }) => (snapshots ? { snapshots: { ...snapshots, restore: fail } } : {}),
  });
  await snapshotted(fixture);
  await run(fixture, 'echo new >work');
  await expect(fixture.restoreSnapshot.restore('a', 's1')).rejects.toBe(failed);
  expect(fixture.left().journal).toEqual([]);
  expect(await run(fixture, 'cat work')).toBe('new\n');
  expect(fixture.subjects('a')).toHaveLength(2);
});

test('a restore whose history fails is finished by the next program', async () => {
  const fixture = useCaseFixture({ files: FILES, repository: { restore: fail } });
  await snapshotted(fixture);
  await run(fixture, 'echo new >work; echo x >more');
  await expect(fixture.restoreSnapshot.restore('a', 's1')).rejects.toBe(failed);
  await using next = fixture.restarted({});
  expect(await next.reconcile.reconcile()).toEqual(['Finished the interrupted restore of a to the snapshot s1.']);
  expect(next.subjects('a').at(-1)).toBe('restore: snapshot s1');
  expect(await run(next, LOOK)).toBe('work\nold\nold\ncache\nwork\n');
});

test('a restore that was aborted before it began changes nothing', async () => {
  await using fixture = useCaseFixture();
  await snapshotted(fixture);
  const reason = new Error('enough');
  const signal = AbortSignal.abort(reason);
  await expect(fixture.restoreSnapshot.restore('a', 's1', { signal })).rejects.toBe(reason);
  await expect(fixture.takeSnapshot.take('a', 's2', { signal })).rejects.toBe(reason);
  expect(fixture.left().journal).toEqual([]);
});

const POINTS = ['journal', 'mark', 'runtime', 'step', 'record', 'revision', 'scan'].map(
  (step) => `snapshot-restore.after-${step}`,
);
for (const point of POINTS)
  for (const state of ['ready', 'paused'] as const)
    test(`a restore of a ${state} one that was killed at ${point} is finished by reconcile`, async () => {
      const fixture = useCaseFixture({ files: FILES });
      await snapshotted(fixture);
      await run(fixture, 'echo new >work; echo new >cache; echo new >~/home; echo x >more');
      await fixture.changeRunState.change('a', state);
      await fixture.killedAt(point, () => fixture.restoreSnapshot.restore('a', 's1'));
      await using next = fixture.restarted();
      expect(await next.reconcile.reconcile()).toContain('Finished the interrupted restore of a to the snapshot s1.');
      expect(next.left().journal).toEqual([]);
      expect(await stateOf(next)).toBe(state === 'ready' ? 'ready' : 'stopped');
      expect(next.left().runtimes).toEqual([state === 'ready' ? 'running' : 'stopped']);
      await next.changeRunState.change('a', 'ready');
      const { recorded } = await next.runCommand.run({ sandbox: 'a', command: 'true' });
      expect(recorded.revision).toBeUndefined();
      expect(await run(next, LOOK)).toBe('work\nold\nold\ncache\nwork\n');
      expect(next.subjects('a').filter((subject) => subject === 'restore: snapshot s1')).toHaveLength(1);
      expect(await next.reconcile.reconcile()).toEqual([]);
    });

test('one that was killed while it was looked into asleep is told to be what it is', async () => {
  const fixture = useCaseFixture();
  await snapshotted(fixture);
  await fixture.changeRunState.change('a', 'paused');
  await fixture.killedAt('snapshot-restore.after-waking', () => fixture.restoreSnapshot.restore('a', 's1'));
  await using next = fixture.restarted();
  await next.reconcile.reconcile();
  expect(next.left()).toMatchObject({ runtimes: ['stopped'], records: ['a: stopped'], journal: [] });
});

test('what an agent does between the kill and reconcile is in the history', async () => {
  const fixture = useCaseFixture({ files: FILES });
  await snapshotted(fixture);
  await run(fixture, 'echo x >more');
  await fixture.killedAt('snapshot-restore.after-step', () => fixture.restoreSnapshot.restore('a', 's1'));
  await using next = fixture.restarted();
  await run(next, 'echo y >between');
  await next.reconcile.reconcile();
  expect(await run(next, 'ls')).toBe('between\ncache\nwork\n');
  expect(next.subjects('a').at(-1)).toBe('restore: snapshot s1');
});

test('one whose snapshot is gone by then says what to do', async () => {
  const fixture = useCaseFixture();
  await snapshotted(fixture);
  await fixture.killedAt('snapshot-restore.after-journal', () => fixture.restoreSnapshot.restore('a', 's1'));
  await using next = fixture.restarted();
  next.shelves.sandboxes.snapshots.clear();
  expect(await next.reconcile.reconcile()).toEqual([expect.stringContaining('recover the sandbox by force')]);
  expect(next.left().journal).toEqual([]);
});

test('a snapshot whose taker was killed is one all the same', async () => {
  const fixture = useCaseFixture();
  await changed(fixture);
  await fixture.killedAt('snapshot.after-take', () => fixture.takeSnapshot.take('a', undefined));
  await using next = fixture.restarted();
  expect(await labelsOf(next)).toEqual(['s1']);
});

test('a delete removes the snapshots of its sandbox, and of no other', async () => {
  await using fixture = useCaseFixture();
  await snapshotted(fixture);
  await made(fixture, 'b');
  await fixture.takeSnapshot.take('b', undefined);
  await fixture.deleteSandbox.delete('a', { force: true });
  expect((await fixture.listSnapshots.list('b')).map(({ note }) => note?.label)).toEqual(['s1']);
  expect(fixture.shelves.sandboxes.snapshots.size).toBe(1);
});

for (const point of ['delete.after-mark', 'delete.after-runtime', 'delete.after-snapshots'])
  test(`a delete that was killed at ${point} leaves no snapshots after reconcile`, async () => {
    const fixture = useCaseFixture();
    await snapshotted(fixture);
    await fixture.killedAt(point, () => fixture.deleteSandbox.delete('a', { force: true }));
    await using next = fixture.restarted();
    expect(await next.reconcile.reconcile()).toEqual(['Finished the interrupted deletion of a.']);
    expect(next.shelves.sandboxes.snapshots.size).toBe(0);
  });

test('services end with what they wrote, and start again', async () => {
  const verbs: string[] = [];
  await using fixture = useCaseFixture({
    config: '[container.ports]\nweb = 8000\n',
    keepers: (real) => ({
      ask: (id, request, options) => {
        verbs.push(request.verb);
        return real.ask(id, request, options);
      },
    }),
  });
  await snapshotted(fixture);
  verbs.length = 0;
  await fixture.restoreSnapshot.restore('a', 's1');
  expect(verbs.indexOf('release')).toBeGreaterThanOrEqual(0);
  expect(verbs.lastIndexOf('status')).toBeGreaterThan(verbs.indexOf('release'));
});

test('a fork begins with a snapshot of its source, ignored files and home included, and the source stays as it is', async () => {
  await using fixture = useCaseFixture({ files: FILES });
  await snapshotted(fixture);
  await run(fixture, 'echo new >cache; echo new >~/home; echo later >later; echo more >>work');
  const { record } = await fixture.forkSandbox.fork('a', 'b', undefined, { snapshot: 's1' });
  expect([record.state, record.forkedFrom]).toEqual(['ready', 'a']);
  const { stdout } = await fixture.runCommand.run({ sandbox: 'b', command: 'cat ~/home' });
  expect(Buffer.from(stdout.bytes).toString()).toBe('old\n');
  const look = (name: string) => ['work', 'cache', 'later'].map((path) => fixture.look(name, path));
  expect(look('b')).toEqual(['work\n', 'old\n', undefined]);
  expect(look('a')).toEqual(['work\nmore\n', 'new\n', 'later\n']);
  expect(fixture.subjects('b')).toEqual([...fixture.subjects('a'), expect.stringContaining('snapshot s1')]);
});

test('a fork of a snapshot that is not there, or cannot be put back, leaves nothing', async () => {
  const options = {
    provider: ({ snapshots }: SandboxProvider) => (snapshots ? { snapshots: { ...snapshots, restore: fail } } : {}),
  };
  for (const fixture of [
    useCaseFixture({ files: FILES, ...options }),
    useCaseFixture({ files: FILES, repository: { restore: fail } }),
  ]) {
    await using world = fixture;
    await snapshotted(world);
    const fork = (snapshot: string) => world.forkSandbox.fork('a', 'b', undefined, { snapshot });
    await expect(fork('s9')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(fork('s1')).rejects.toBe(failed);
    expect(world.left()).toMatchObject({ records: ['a: ready'], journal: [] });
  }
});
