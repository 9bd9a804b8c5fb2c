import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { testWorld } from '../../src/index.ts';
import { changed, inState, made, setup } from '../made.ts';

const failed = new Error('no');

test('a restore puts files back, takes new ones away, and is a revision', async () => {
  await using world = testWorld();
  await made(world);
  await world.runCommand.execute({ sandbox: 'a', command: 'echo one >README; mkdir d; echo x >d/f' });
  await world.runCommand.execute({
    sandbox: 'a',
    command: 'echo two >README; rm -r d; echo y >new; mkdir e; echo z >e/g',
  });
  const { revision } = await world.restoreRevision.restore('a', '1');
  expect(revision?.number).toBe(3);
  expect(world.look('a', 'README')).toBe('one\n');
  expect(world.look('a', 'd/f')).toBe('x\n');
  expect(world.look('a', 'new')).toBeUndefined();
  expect(world.look('a', 'e/g')).toBeUndefined();
  expect(world.subjects('a').at(-1)).toBe('restore: revision 1');
  expect((await world.runCommand.execute({ sandbox: 'a', command: 'true' })).recorded.revision).toBeUndefined();
});

test('what is ignored stays, and what no call recorded is a revision first', async () => {
  await using world = testWorld({ files: [{ path: '.gitignore', content: 'cache\n' }] });
  await changed(world);
  await world.runCommand.execute({ sandbox: 'a', command: 'echo two >work; echo kept >cache' });
  world.scribble('a', 'late', 'x');
  await world.restoreRevision.restore('a', '1');
  expect(world.look('a', 'cache')).toBe('kept\n');
  expect(world.subjects('a')).toHaveLength(4);
  expect(world.subjects('a')[2]).toBe('recovered: changes found before this call');
});

test('a restore to where the sandbox is changes nothing', async () => {
  await using world = testWorld();
  await changed(world);
  expect(await world.restoreRevision.restore('a', '1')).toEqual({});
  expect(world.subjects('a')).toHaveLength(1);
});

test('a revision that is not there is REV_NOT_FOUND, and nothing is audited', async () => {
  await using world = testWorld();
  await changed(world);
  const before = await world.audited();
  await expect(world.restoreRevision.restore('a', '7')).rejects.toMatchObject({ code: 'REV_NOT_FOUND' });
  expect(await world.audited()).toEqual(before);
});

test('a paused sandbox is not gone back in', async () => {
  await using world = testWorld();
  await changed(world);
  await world.changeRunState.execute('a', 'paused');
  await expect(world.restoreRevision.restore('a', '1')).rejects.toMatchObject({ code: 'SANDBOX_PAUSED' });
});

test('files that cannot be put into the sandbox are SNAPSHOT_FAILED', async () => {
  const programs = { tar: async () => 2 };
  await using world = testWorld();
  await changed(world);
  await world.runCommand.execute({ sandbox: 'a', command: 'echo two >work' });
  const next = world.restarted({ programs });
  const [sandbox] = next.ground.sandboxes.sandboxes.values();
  if (sandbox) (sandbox.machine.programs as Map<string, unknown>).set('tar', programs.tar);
  await expect(next.restoreRevision.restore('a', '1')).rejects.toMatchObject({ code: 'SNAPSHOT_FAILED' });
  expect(next.subjects('a')).toHaveLength(2);
});

for (const point of ['restore.after-files', 'restore.after-revision'])
  test(`what a restore that was killed at ${point} did is recorded by the next call`, async () => {
    const world = testWorld();
    await changed(world);
    await world.runCommand.execute({ sandbox: 'a', command: 'echo two >work' });
    await world.killedAt(point, () => world.restoreRevision.restore('a', '1'));
    await using next = world.restarted();
    await next.runCommand.execute({ sandbox: 'a', command: 'true' });
    expect(next.subjects('a')).toHaveLength(3);
    expect(next.look('a', 'work')).toBe('work\n');
  });

test('a recovery makes the runtime anew from the last revision, with the setup and the playground', async () => {
  await using world = testWorld();
  await changed(world, 'a', { overrides: setup('echo set up >~/cache') });
  await world.runCommand.execute({
    sandbox: 'a',
    command: 'echo kept >"$LITTERBOX_PLAYGROUND/file"; echo gone >/tmp/x',
  });
  const record = await world.restoreRevision.recover('a');
  expect(record.state).toBe('ready');
  const { stdout } = await world.runCommand.execute({
    sandbox: 'a',
    command: 'cat work ~/cache "$LITTERBOX_PLAYGROUND/file"; [ -e /tmp/x ] || echo gone',
  });
  expect(Buffer.from(stdout.bytes).toString()).toBe('work\nset up\nkept\ngone\n');
  expect(world.told()).toContain('sandbox-rebuilt');
  expect(world.left().journal).toEqual([]);
});

test('what a sandbox that still answers holds is recorded before it goes', async () => {
  await using world = testWorld();
  await made(world);
  world.scribble('a', 'late', 'x');
  await world.restoreRevision.recover('a');
  expect(world.look('a', 'late')).toBe('x');
});

test('one whose runtime is gone is recovered', async () => {
  const world = testWorld();
  await changed(world);
  world.ground.sandboxes.sandboxes.clear();
  await using next = world.restarted();
  expect((await next.restoreRevision.recover('a')).state).toBe('ready');
  expect(next.look('a', 'work')).toBe('work\n');
});

test('a recovery whose runtime cannot be made is told, ends its journal entry, and can be tried again', async () => {
  let isDown = false;
  const down = new LitterboxError('UNAVAILABLE', 'down', { operation: 'test' });
  await using world = testWorld({
    provider: (real) => ({ create: (...args) => (isDown ? Promise.reject(down) : real.create(...args)) }),
  });
  await changed(world);
  isDown = true;
  await expect(world.restoreRevision.recover('a')).rejects.toBe(down);
  expect(world.left().journal).toEqual([]);
  expect(world.left().runtimes).toEqual([]);
  isDown = false;
  await world.restoreRevision.recover('a');
  expect(world.look('a', 'work')).toBe('work\n');
});

test('a setup that fails in a recovery leaves the sandbox setup-failed', async () => {
  let isBroken = false;
  await using world = testWorld({ programs: { build: async () => Number(isBroken) } });
  await made(world, 'a', { overrides: { setup: [['build']] } });
  isBroken = true;
  await expect(world.restoreRevision.recover('a')).rejects.toMatchObject({ code: 'SETUP_FAILED' });
  expect(world.left().records).toEqual(['a: setup-failed']);
});

test('a sandbox that is being made or deleted is SANDBOX_BUSY', async () => {
  await using world = testWorld();
  await made(world);
  for (const state of ['creating', 'deleting'] as const) {
    await inState(world, 'a', state);
    await expect(world.restoreRevision.recover('a')).rejects.toMatchObject({ code: 'SANDBOX_BUSY' });
  }
});

test('a recovery that is not a refusal of the runtime comes out as it is', async () => {
  await using world = testWorld({
    runtime: (real) => ({
      scan: (mark, options) => (mark === undefined ? real.scan(mark, options) : Promise.reject(failed)),
    }),
  });
  await changed(world);
  await expect(world.restoreRevision.recover('a')).rejects.toBe(failed);
  expect(world.left().runtimes).toEqual(['running']);
});
