import { expect, test } from '@jest/globals';
import { decodeRaw, type PastOutput, readCall, readLog } from '@litterbox/core';
import { useCaseFixture, type UseCaseFixture } from '../../src/index.ts';
import { made } from '../made.ts';

const run = async (fixture: UseCaseFixture, command: string, callId?: string) =>
  await fixture.runCommand.run({ sandbox: 'a', command }, { callId });

const newest = async (fixture: UseCaseFixture) =>
  (await fixture.readHistory.read('a', { quietCalls: true, limit: 1 }))[0]?.call ?? 0;

const text = (output: PastOutput | undefined) => (output?.type === 'kept' ? decodeRaw(output.bytes) : output?.type);

test('a call of the log leads to its command, its end and what it printed, by its number and by the own id of the agent', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await run(fixture, 'echo seen; echo wrong >&2; exit 3', 'toolu_1');
  const call = await newest(fixture);
  await run(fixture, 'echo later >file');
  const past = await fixture.readCall.read('a', call);
  expect(past).toMatchObject({
    call,
    subject: 'echo seen; echo wrong >&2; exit 3',
    exitCode: 3,
    outcome: 'ok',
    callId: 'toolu_1',
  });
  expect([text(past.printed?.stdout), text(past.printed?.stderr)]).toEqual(['seen\n', 'wrong\n']);
  expect(await fixture.readCall.read('a', 'toolu_1')).toEqual(past);
  const later = await fixture.readCall.read('a', await newest(fixture));
  expect(later).toMatchObject({ printed: {}, revision: expect.stringMatching(/^[0-9a-f]{40}$/) });
  await expect(fixture.readCall.read('a', 9999)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('revisions of the log have the number of their call, and one call can be asked for alone', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await run(fixture, 'echo 1 >file', 'toolu_1');
  const [revision] = await fixture.readHistory.read('a', { quietCalls: true });
  expect(revision).toMatchObject({ type: 'revision', call: expect.any(Number), exitCode: 0, callId: 'toolu_1' });
  await run(fixture, 'true');
  const get = () => fixture.readHistory as never;
  const read = async (call: string) => await readLog.execute({ get }, { sandbox: 'a', call });
  expect(await read(String(revision?.call))).toEqual([revision]);
  expect(await read('toolu_1')).toEqual([revision]);
});

test('FC-326: a long output has its head and its tail, and the document says what is missing between them', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await run(fixture, `echo first; echo ${'x'.repeat(120_000)}; echo last`);
  const past = await fixture.readCall.read('a', await newest(fixture));
  const document = readCall.document?.(past) as {
    printed: { stdout: { head: string; tail: string; droppedBytes: number } };
  };
  const { head, tail, droppedBytes } = document.printed.stdout;
  expect(head).toMatch(/^first\nx+$/);
  expect(tail).toMatch(/^x+\nlast\n$/);
  expect(head.length + tail.length).toBe(64 * 1024);
  expect(droppedBytes).toBe(120_012 - 64 * 1024);
});

test('AX141: what looks like a secret is not kept', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const token = `ghp_${'a1B2'.repeat(9)}`;
  const { stdout } = await run(fixture, `echo token ${token}`);
  expect(decodeRaw(stdout.bytes)).toContain(token); // who ran it sees it
  const { printed } = await fixture.readCall.read('a', await newest(fixture));
  expect(text(printed?.stdout)).toBe('token [left out: token of GitHub]\n');
});

test('a command that was taken back, and one whose changes could not be recorded, leave what they printed', async () => {
  await using fixture = useCaseFixture({
    repository: { record: () => Promise.reject(new Error('disk')) },
  });
  await made(fixture);
  await expect(run(fixture, 'echo seen; echo 1 >file')).rejects.toThrow('disk');
  const { printed, outcome } = await fixture.readCall.read('a', await newest(fixture));
  expect(outcome).toBe('error');
  expect(text(printed?.stdout)).toBe('seen\n');
});

test('a person reads what a command printed that was attached to without a terminal', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await using attached = await fixture.attachProcess.attach({
    sandbox: 'a',
    command: 'echo live',
    tool: 'run',
    noInput: true,
  });
  for await (const _chunk of attached.process);
  await attached.finish(await attached.process.exit);
  const { printed } = await fixture.readCall.read('a', await newest(fixture));
  expect(text(printed?.stdout)).toBe('live\n');
});

test('a killed program loses at most the output of its last call, and the log does not claim to have it', async () => {
  const fixture = useCaseFixture();
  await made(fixture);
  await run(fixture, 'echo before');
  const before = await newest(fixture);
  await fixture.killedAt('exec.after-exit', (world) => run(world, 'echo last'));
  await using next = fixture.restarted();
  expect(text((await next.readCall.read('a', before)).printed?.stdout)).toBe('before\n');
  const last = await next.readCall.read('a', await newest(next));
  expect(last).toMatchObject({ subject: 'echo last' });
  expect(last.outcome).not.toBe('ok');
  expect(last.printed).toBeUndefined();
});

test('the answer does not wait until the output is written, and a write that fails or is cut short is told as gone', async () => {
  const kept: (() => void)[] = [];
  await using fixture = useCaseFixture({
    repository: {
      keepPrinted: () => new Promise((resolve) => void kept.push(resolve)),
      printed: async () => Buffer.from('se'),
    },
  });
  await made(fixture);
  await run(fixture, 'echo seen');
  expect(kept).toHaveLength(1);
  const { printed } = await fixture.readCall.read('a', await newest(fixture));
  expect(printed?.stdout).toEqual({ type: 'gone', bytes: 5, droppedBytes: 0 });
  kept[0]?.();
});
