import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { useCaseFixture, type UseCaseFixture } from '../../src/index.ts';
import { changed, inState, made, setup } from '../made.ts';

const failed = new Error('no');

test('a restore puts files back, takes new ones away, and is a revision', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo one >README; mkdir d; echo x >d/f' });
  await fixture.runCommand.run({
    sandbox: 'a',
    command: 'echo two >README; rm -r d; echo y >new; mkdir e; echo z >e/g',
  });
  const { revision } = await fixture.restoreRevision.restore('a', '1');
  expect(revision?.number).toBe(3);
  expect(fixture.look('a', 'README')).toBe('one\n');
  expect(fixture.look('a', 'd/f')).toBe('x\n');
  expect(fixture.look('a', 'new')).toBeUndefined();
  expect(fixture.look('a', 'e/g')).toBeUndefined();
  expect(fixture.subjects('a').at(-1)).toBe('restore: revision 1');
  expect((await fixture.runCommand.run({ sandbox: 'a', command: 'true' })).recorded.revision).toBeUndefined();
});

test('what is ignored stays, and what no call recorded is a revision first', async () => {
  await using fixture = useCaseFixture({ files: [{ path: '.gitignore', content: 'cache\n' }] });
  await changed(fixture);
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo two >work; echo kept >cache' });
  fixture.scribble('a', 'late', 'x');
  await fixture.restoreRevision.restore('a', '1');
  expect(fixture.look('a', 'cache')).toBe('kept\n');
  expect(fixture.subjects('a')).toHaveLength(4);
  expect(fixture.subjects('a')[2]).toBe('recovered: changes found before this call');
});

test('a restore to where the sandbox is changes nothing', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  expect(await fixture.restoreRevision.restore('a', '1')).toEqual({});
  expect(fixture.subjects('a')).toHaveLength(1);
});

test('a revision that is not there is REV_NOT_FOUND, and nothing is audited', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  const before = await fixture.audited();
  await expect(fixture.restoreRevision.restore('a', '7')).rejects.toMatchObject({ code: 'REV_NOT_FOUND' });
  expect(await fixture.audited()).toEqual(before);
});

test('a paused sandbox is not gone back in', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  await fixture.changeRunState.change('a', 'paused');
  await expect(fixture.restoreRevision.restore('a', '1')).rejects.toMatchObject({ code: 'SANDBOX_PAUSED' });
});

test('files that cannot be put into the sandbox are SNAPSHOT_FAILED', async () => {
  const programs = { tar: async () => 2 };
  await using fixture = useCaseFixture();
  await changed(fixture);
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo two >work' });
  const next = fixture.restarted({ programs });
  const [sandbox] = next.shelves.sandboxes.sandboxes.values();
  if (sandbox) (sandbox.machine.programs as Map<string, unknown>).set('tar', programs.tar);
  await expect(next.restoreRevision.restore('a', '1')).rejects.toMatchObject({ code: 'SNAPSHOT_FAILED' });
  expect(next.subjects('a')).toHaveLength(2);
});

for (const point of ['restore.after-files', 'restore.after-revision'])
  test(`what a restore that was killed at ${point} did is recorded by the next call`, async () => {
    const fixture = useCaseFixture();
    await changed(fixture);
    await fixture.runCommand.run({ sandbox: 'a', command: 'echo two >work' });
    await fixture.killedAt(point, () => fixture.restoreRevision.restore('a', '1'));
    await using next = fixture.restarted();
    await next.runCommand.run({ sandbox: 'a', command: 'true' });
    expect(next.subjects('a')).toHaveLength(3);
    expect(next.look('a', 'work')).toBe('work\n');
  });

/** Makes revisions whose one file holds their number. */
async function numbered(fixture: UseCaseFixture, ...numbers: readonly number[]): Promise<void> {
  for (const number of numbers) await fixture.runCommand.run({ sandbox: 'a', command: `echo ${number} >file` });
}

test('an undo goes back to the files before the last change, and again one further, down to the base', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await numbered(fixture, 1, 2, 3);
  expect(await fixture.restoreRevision.undo('a')).toMatchObject({ target: 2, revision: { number: 4 } });
  expect(fixture.look('a', 'file')).toBe('2\n');
  expect(await fixture.restoreRevision.undo('a')).toMatchObject({ target: 1 });
  expect(fixture.look('a', 'file')).toBe('1\n');
  expect(await fixture.restoreRevision.undo('a')).toMatchObject({ target: 0 });
  expect(fixture.look('a', 'file')).toBeUndefined();
  expect(fixture.subjects('a').slice(3)).toEqual(['undo: revision 2', 'undo: revision 1', 'undo: revision 0']);
  await expect(fixture.restoreRevision.undo('a')).rejects.toMatchObject({ code: 'NOTHING_TO_DO' });
  expect(fixture.subjects('a')).toHaveLength(6);
  expect((await fixture.runCommand.run({ sandbox: 'a', command: 'true' })).recorded.revision).toBeUndefined();
});

test('after a restore an undo goes to before what was restored, after new work to before that work', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await numbered(fixture, 1, 2, 3);
  await fixture.restoreRevision.restore('a', '2');
  expect(await fixture.restoreRevision.undo('a')).toMatchObject({ target: 1 });
  await numbered(fixture, 6);
  expect(await fixture.restoreRevision.undo('a')).toMatchObject({ target: 5 });
  expect(fixture.look('a', 'file')).toBe('1\n');
  expect(await fixture.restoreRevision.undo('a')).toMatchObject({ target: 0 });
});

test('what no call recorded is the last change, and is in the history', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  fixture.scribble('a', 'late', 'x');
  expect(await fixture.restoreRevision.undo('a')).toMatchObject({ target: 1, revision: { number: 3 } });
  expect(fixture.look('a', 'late')).toBeUndefined();
  expect(fixture.look('a', 'work')).toBe('work\n');
  expect(fixture.subjects('a')[1]).toBe('recovered: changes found before this call');
});

test('a message that reads like an undo is none', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await numbered(fixture, 1, 2);
  const message = 'undo: revision 1\n\nLitterbox-Tool: undo';
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo 3 >file', message });
  expect(fixture.subjects('a').at(-1)).toBe('undo: revision 1');
  expect(await fixture.restoreRevision.undo('a')).toMatchObject({ target: 2 });
});

test('after a snapshot was restored an undo goes to before that', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await numbered(fixture, 1);
  await fixture.takeSnapshot.take('a', undefined);
  await numbered(fixture, 2);
  await fixture.restoreSnapshot.restore('a', 's1');
  expect(await fixture.restoreRevision.undo('a')).toMatchObject({ target: 2 });
  expect(fixture.look('a', 'file')).toBe('2\n');
});

test('a sandbox without a revision has nothing to undo', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await expect(fixture.restoreRevision.undo('a')).rejects.toMatchObject({ code: 'NOTHING_TO_DO' });
  expect((await fixture.audited()).at(-1)).toBe('sandbox-undo: error');
});

test('a recovery makes the runtime anew from the last revision, with the setup and the playground', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture, 'a', { overrides: setup('echo set up >~/cache') });
  await fixture.runCommand.run({
    sandbox: 'a',
    command: 'echo kept >"$LITTERBOX_PLAYGROUND/file"; echo gone >/tmp/x',
  });
  const record = await fixture.recoverSandbox.recover('a', { force: true });
  expect(record.state).toBe('ready');
  const { stdout } = await fixture.runCommand.run({
    sandbox: 'a',
    command: 'cat work ~/cache "$LITTERBOX_PLAYGROUND/file"; [ -e /tmp/x ] || echo gone',
  });
  expect(Buffer.from(stdout.bytes).toString()).toBe('work\nset up\nkept\ngone\n');
  expect(fixture.told()).toContain('sandbox-rebuilt');
  expect(fixture.left().journal).toEqual([]);
});

test('what a sandbox that still answers holds is recorded before it goes', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  fixture.scribble('a', 'late', 'x');
  await fixture.recoverSandbox.recover('a', { force: true });
  expect(fixture.look('a', 'late')).toBe('x');
});

for (const state of ['ready', 'paused', 'stopped'] as const)
  test(`one that is ${state} and well keeps what was never recorded`, async () => {
    await using fixture = useCaseFixture();
    await changed(fixture);
    const run = async (command: string) => await fixture.runCommand.run({ sandbox: 'a', command });
    await run('echo mine >~/cache');
    await fixture.changeRunState.change('a', state);
    await expect(fixture.recoverSandbox.recover('a', {})).rejects.toMatchObject({ code: 'CONFLICT' });
    await fixture.changeRunState.change('a', 'ready');
    expect(Buffer.from((await run('cat ~/cache')).stdout.bytes).toString()).toBe('mine\n');
  });

test('one whose runtime is gone is recovered', async () => {
  const fixture = useCaseFixture();
  await changed(fixture);
  fixture.shelves.sandboxes.sandboxes.clear();
  await using next = fixture.restarted();
  expect((await next.recoverSandbox.recover('a', {})).state).toBe('ready');
  expect(next.look('a', 'work')).toBe('work\n');
});

test('a recovery whose runtime cannot be made is told, ends its journal entry, and can be tried again', async () => {
  let isDown = false;
  const down = new LitterboxError('UNAVAILABLE', 'down', { operation: 'test' });
  await using fixture = useCaseFixture({
    provider: (real) => ({ create: (...args) => (isDown ? Promise.reject(down) : real.create(...args)) }),
  });
  await changed(fixture);
  isDown = true;
  await expect(fixture.recoverSandbox.recover('a', { force: true })).rejects.toBe(down);
  expect(fixture.left().journal).toEqual([]);
  expect(fixture.left().runtimes).toEqual([]);
  isDown = false;
  await fixture.recoverSandbox.recover('a', { force: true });
  expect(fixture.look('a', 'work')).toBe('work\n');
});

test('a setup that fails in a recovery leaves the sandbox setup-failed', async () => {
  let isBroken = false;
  await using fixture = useCaseFixture({ programs: { build: async () => Number(isBroken) } });
  await made(fixture, 'a', { overrides: { setup: [['build']] } });
  isBroken = true;
  await expect(fixture.recoverSandbox.recover('a', { force: true })).rejects.toMatchObject({ code: 'SETUP_FAILED' });
  expect(fixture.left().records).toEqual(['a: setup-failed']);
});

test('a sandbox that is being made or deleted is SANDBOX_BUSY', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  for (const state of ['creating', 'deleting'] as const) {
    await inState(fixture, 'a', state);
    await expect(fixture.recoverSandbox.recover('a', { force: true })).rejects.toMatchObject({ code: 'SANDBOX_BUSY' });
  }
});

test('a recovery that is not a refusal of the runtime comes out as it is', async () => {
  await using fixture = useCaseFixture({
    runtime: (real) => ({
      scan: (mark, options) => (mark === undefined ? real.scan(mark, options) : Promise.reject(failed)),
    }),
  });
  await changed(fixture);
  await expect(fixture.recoverSandbox.recover('a', { force: true })).rejects.toBe(failed);
  expect(fixture.left().runtimes).toEqual(['running']);
});

test('a provider that cannot be asked has lost nothing: nothing is rebuilt, forced or not', async () => {
  const fixture = useCaseFixture();
  await changed(fixture);
  const before = fixture.left();
  const down = new LitterboxError('UNAVAILABLE', 'down', { operation: 'test' });
  let removed = 0;
  await using next = fixture.restarted({
    provider: {
      // oxlint-disable-next-line require-yield
      async *list() {
        throw down;
      },
      async remove() {
        removed += 1;
      },
    },
  });
  await expect(next.recoverSandbox.recover('a', {})).rejects.toBe(down);
  await expect(next.recoverSandbox.recover('a', { force: true })).rejects.toBe(down);
  expect(removed).toBe(0);
  expect(next.left()).toEqual(before);
});

test('FC-321: what could not be recorded is named, for no way back changes it', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const run = async (command: string) => await fixture.runCommand.run({ sandbox: 'a', command });
  await run('echo v1 >b');
  await run('echo v2 >b; chmod 000 b; echo other >c');
  expect(await fixture.restoreRevision.restore('a', '1')).toMatchObject({
    revision: { number: 3 },
    unrecorded: { paths: ['b'], total: 1 },
  });
  await run('chmod 644 b');
  expect((await fixture.restoreRevision.restore('a', '1')).unrecorded).toBeUndefined();
  expect(fixture.look('a', 'b')).toBe('v1\n');
});
