import { expect, test } from '@jest/globals';
import { useCaseFixture } from '../../src/index.ts';
import { made } from '../made.ts';

const failed = new Error('no');
const kept = (text: string, cutAt = text.length, droppedBytes = 0) => ({
  bytes: new TextEncoder().encode(text),
  cutAt,
  droppedBytes,
});

test('output goes into a file outside of the workspace, and is no revision', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const file = await fixture.spillOutput.spill('a', { stdout: kept('startend', 5, 7), stderr: kept('oops') });
  expect(file).toMatch(/^\/tmp\/litterbox\/output-/);
  const { stdout, recorded } = await fixture.runCommand.run({ sandbox: 'a', command: ['cat', file ?? ''] });
  expect(Buffer.from(stdout.bytes).toString()).toBe('start\n[7 bytes left out]\nend\n[stderr]\noops');
  expect(recorded.revision).toBeUndefined();
});

test('one that cannot be written takes nothing from the answer', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await fixture.runCommand.run({ sandbox: 'a', command: 'rm -r /tmp; echo x >/tmp' });
  expect(await fixture.spillOutput.spill('a', { stdout: kept('x'), stderr: kept('') })).toBeUndefined();
});

test('what is no refusal comes out', async () => {
  await using fixture = useCaseFixture({ runtime: { spawn: () => Promise.reject(failed) } });
  await made(fixture);
  await expect(fixture.spillOutput.spill('a', { stdout: kept('x'), stderr: kept('') })).rejects.toBe(failed);
});

test('what a command had printed when it was taken back is kept for who asks next, once and for that sandbox', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await made(fixture, 'b');
  const { spillOutput } = fixture;
  spillOutput.keepTakenBack('a', { stdout: kept('so far'), stderr: kept(''), durationMs: 60_000 });
  expect(await spillOutput.lastTakenBack('b')).toBeUndefined();
  const { durationMs, file = '' } = (await spillOutput.lastTakenBack('a')) ?? { durationMs: 0 };
  expect(durationMs).toBe(60_000);
  const { stdout } = await fixture.runCommand.run({ sandbox: 'a', command: ['cat', file] });
  expect(Buffer.from(stdout.bytes).toString()).toBe('so far');
  expect(await spillOutput.lastTakenBack('a')).toBeUndefined();
  spillOutput.keepTakenBack('a', { stdout: kept(''), stderr: kept(''), durationMs: 1 });
  expect(await spillOutput.lastTakenBack('a')).toEqual({ durationMs: 1 });
});

test('where that cannot be kept, nobody is told', async () => {
  await using fixture = useCaseFixture();
  fixture.spillOutput.keepTakenBack('nobody', { stdout: kept('x'), stderr: kept(''), durationMs: 1 });
  await made(fixture);
  expect(await fixture.spillOutput.lastTakenBack('a')).toBeUndefined();
});
