import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core';
import { NOTHING_LEFT, useCaseFixture } from '../../src/index.ts';
import { changed, durableWrites, inState, made } from '../made.ts';

const failed = new Error('no');
const fail = () => Promise.reject(failed);

test('a sandbox without work is deleted with all it holds', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const record = await fixture.deleteSandbox.delete('a', {});
  expect(record.slug).toBe('a');
  expect(fixture.left()).toEqual(NOTHING_LEFT);
  expect(await fixture.audited()).toEqual(['sandbox-create: ok', 'sandbox-delete: ok']);
  expect(fixture.told()).toEqual(['sandbox-created', 'sandbox-deleted']);
});

test('the disk is waited for twice: when it is being deleted, and when it is gone', async () => {
  const durable: string[] = [];
  await using fixture = useCaseFixture({ state: (real) => durableWrites(real, durable) });
  await made(fixture);
  durable.length = 0;
  await fixture.deleteSandbox.delete('a', {});
  expect(durable).toEqual(['update', 'remove']);
});

test('one that is not there is SANDBOX_NOT_FOUND, with the names that are', async () => {
  await using fixture = useCaseFixture();
  await made(fixture, 'b');
  await expect(fixture.deleteSandbox.delete('a', {})).rejects.toMatchObject({
    code: 'SANDBOX_NOT_FOUND',
    details: { hint: 'There are: b.' },
  });
});

test('work that is in no branch is UNMERGED_WORK; with force it goes', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  await expect(fixture.deleteSandbox.delete('a', {})).rejects.toMatchObject({
    code: 'UNMERGED_WORK',
    message: expect.stringContaining('one file'),
  });
  expect(fixture.left().records).toEqual(['a: ready']);
  expect(await fixture.audited()).not.toContain('sandbox-delete: error');
  await fixture.deleteSandbox.delete('a', { force: true });
  expect(fixture.left()).toEqual(NOTHING_LEFT);
});

test('what no call has recorded yet counts as work', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  fixture.scribble('a', 'new', 'x');
  await expect(fixture.deleteSandbox.delete('a', {})).rejects.toMatchObject({ code: 'UNMERGED_WORK' });
  expect(fixture.subjects('a')).toEqual(['recovered: changes found before this call']);
});

test('work that is in the branch by now is no reason to keep it', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  fixture.person.write('work', 'work\n');
  fixture.person.commit();
  await fixture.deleteSandbox.delete('a', {});
  expect(fixture.left()).toEqual(NOTHING_LEFT);
});

test('a sandbox in which a call is at work is SANDBOX_ACTIVE after two seconds, with who it is', async () => {
  await using fixture = useCaseFixture();
  const { id } = await made(fixture);
  await using _ = await fixture.state.lease(`sandbox:${id}`, 'run: npm test');
  const deleting = fixture.deleteSandbox.delete('a', {});
  await fixture.clock.pass(2000);
  await expect(deleting).rejects.toMatchObject({
    code: 'SANDBOX_ACTIVE',
    message: 'a is busy: "npm test" is still running (this process). Gave up after 2 s.',
    details: { hint: expect.stringContaining('setRunState("a", \'stopped\')') },
  });
  expect(fixture.left().records).toEqual(['a: ready']);
});

test('one in which an agent sits is SANDBOX_ACTIVE, though nothing has changed; for the agent itself and with force it goes', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await made(fixture, 'b');
  await using _ = await fixture.seatAgent.seat({ sandbox: 'a', agent: 'codex' });
  await using _own = await fixture.seatAgent.seat({ sandbox: 'b', agent: 'claude' });
  await expect(fixture.deleteSandbox.delete('a', {})).rejects.toMatchObject({
    code: 'SANDBOX_ACTIVE',
    message: 'codex is at work in a.',
  });
  expect(fixture.left().records).toEqual(['a: ready', 'b: ready']);
  await fixture.deleteSandbox.delete('b', {}, { seatOf: 'claude' });
  await fixture.deleteSandbox.delete('a', { force: true });
  expect(fixture.left()).toEqual(NOTHING_LEFT);
});

test('with force it waits as long as any call does', async () => {
  await using fixture = useCaseFixture();
  const { id } = await made(fixture);
  const lease = await fixture.state.lease(`sandbox:${id}`, 'run');
  const deleting = fixture.deleteSandbox.delete('a', { force: true });
  await fixture.clock.asleep();
  fixture.clock.advance(9_999);
  await lease[Symbol.asyncDispose]();
  await deleting;
  expect(fixture.left()).toEqual(NOTHING_LEFT);
});

test('one whose making was interrupted has no history, and goes', async () => {
  await using fixture = useCaseFixture();
  const { id } = await made(fixture);
  await (await fixture.openRepository.open()).remove(id);
  await inState(fixture, 'a', 'creating');
  await fixture.deleteSandbox.delete('a', {});
  expect(fixture.left()).toEqual(NOTHING_LEFT);
});

test('one that another program deleted meanwhile is as good as deleted here', async () => {
  await using fixture = useCaseFixture();
  const { id } = await made(fixture);
  const lease = await fixture.state.lease(`sandbox:${id}`, 'delete');
  const deleting = fixture.deleteSandbox.delete('a', {});
  await fixture.clock.asleep();
  await fixture.state.remove(id);
  await lease[Symbol.asyncDispose]();
  expect((await deleting).id).toBe(id);
  expect(await fixture.audited()).toEqual(['sandbox-create: ok']);
});

test('a deletion whose runtime cannot be removed stays marked, and the next one goes on', async () => {
  let isDown = true;
  await using fixture = useCaseFixture({
    provider: (real) => ({ remove: (...args) => (isDown ? fail() : real.remove(...args)) }),
  });
  await changed(fixture);
  await expect(fixture.deleteSandbox.delete('a', { force: true })).rejects.toBe(failed);
  expect(fixture.left().records).toEqual(['a: deleting']);
  expect(fixture.left().journal).toEqual(['sandbox-delete: runtime']);
  isDown = false;
  await fixture.deleteSandbox.delete('a', {}); // what is being deleted is not asked about again
  expect(fixture.left().records).toEqual([]);
  expect(fixture.left().histories).toEqual([]);
});

test('a deletion whose history cannot be removed keeps the record, by which it is found again', async () => {
  await using fixture = useCaseFixture({ repository: { remove: fail } });
  await made(fixture);
  await expect(fixture.deleteSandbox.delete('a', {})).rejects.toBe(failed);
  expect(fixture.left()).toEqual({
    ...NOTHING_LEFT,
    records: ['a: deleting'],
    histories: ['a'],
    journal: ['sandbox-delete: history'],
  });
});

test('one whose provider cannot be had is left as it is, forced or not', async () => {
  const fixture = useCaseFixture();
  await changed(fixture);
  const before = fixture.left();
  await using next = fixture.restarted({ providers: { get: fail } });
  await expect(next.deleteSandbox.delete('a', { force: true })).rejects.toBe(failed);
  expect(next.left()).toEqual(before);
});

/** The sandbox of the fixture when its machine is gone. */
const lost = (fixture: ReturnType<typeof useCaseFixture>) => {
  const gone = () => Promise.reject(new LitterboxError('UNAVAILABLE', 'down', { operation: 'host.connect' }));
  // oxlint-disable-next-line require-yield
  const list = async function* () {
    await gone();
  };
  return fixture.restarted({ provider: { list, open: gone, remove: gone } });
};

test('one whose machine is gone for good cannot be deleted there, and is forgotten here', async () => {
  const fixture = useCaseFixture();
  await made(fixture);
  await using next = lost(fixture);
  await expect(next.deleteSandbox.delete('a', { force: true })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await next.deleteSandbox.delete('a', { forget: true });
  expect(next.left()).toMatchObject({ records: [], histories: [] });
  expect(await next.state.get((await made(next, 'b')).id)).toBeDefined(); // what comes after it is as ever
});

test('work that is in no branch is not forgotten without force', async () => {
  const fixture = useCaseFixture();
  await changed(fixture);
  await using next = lost(fixture);
  await expect(next.deleteSandbox.delete('a', { forget: true })).rejects.toMatchObject({ code: 'UNMERGED_WORK' });
  await next.deleteSandbox.delete('a', { forget: true, force: true });
  expect(next.left()).toMatchObject({ records: [], histories: [] });
});

test('one whose provider answers is not forgotten: it would stay there for good', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await expect(fixture.deleteSandbox.delete('a', { forget: true })).rejects.toMatchObject({
    code: 'CONFLICT',
    details: { hint: 'Leave out --forget: delete("a").' },
  });
  expect(fixture.left().records).toEqual(['a: ready']);
});

test('FC-312: what could not be recorded is work that would be lost, until it can be read or is gone', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo x >closed; chmod 000 closed; mkfifo pipe' });
  await fixture.runCommand.run({ sandbox: 'a', command: 'true' }); // nothing changed since, and it is not forgotten
  await expect(fixture.deleteSandbox.delete('a', {})).rejects.toMatchObject({
    code: 'UNMERGED_WORK',
    message: 'One file of a could not be recorded: "closed". No branch has them.',
    details: { facts: { paths: ['closed'], total: 1 } },
  });
  await fixture.runCommand.run({ sandbox: 'a', command: 'rm closed' });
  await fixture.deleteSandbox.delete('a', {});
  expect(fixture.left()).toEqual(NOTHING_LEFT);
});
