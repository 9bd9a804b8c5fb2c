import { expect, test } from '@jest/globals';
import { useCaseFixture } from '../../src/index.ts';
import { inState, made } from '../made.ts';

const failed = new Error('no');

async function output(process: AsyncIterable<{ bytes: Uint8Array }>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const { bytes } of process) parts.push(bytes);
  return Buffer.concat(parts).toString();
}

test('a person works with a program, and what it changed is recorded when it has ended', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await using attached = await fixture.attachProcess.attach({
    sandbox: 'a',
    command: ['sh', '-c', 'cat >new; echo done'],
  });
  expect(attached.notice).toBeUndefined();
  await attached.process.write(new TextEncoder().encode('typed\n'));
  await attached.process.closeStdin();
  expect(await output(attached.process)).toBe('done\n');
  const { revision } = await attached.finish(await attached.process.exit);
  expect(revision?.number).toBe(1);
  expect(fixture.look('a', 'new')).toBe('typed\n');
  expect((await fixture.audited()).at(-1)).toBe('sandbox-shell: ok');
});

test('one without input goes by the shells that are there, has its directory or is refused, and is recorded', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const attach = async (command: readonly [string, ...string[]], more: object = {}) =>
    await fixture.attachProcess.attach({ sandbox: 'a', command, noInput: true, ...more });
  await using attached = await attach(['sh', '-c', 'cat; echo one; echo two >new; exit 3']);
  await using other = await attach(['true']); // beside it
  await other.finish(await other.process.exit); // nobody reads it
  expect(await output(attached.process)).toBe('one\n');
  expect(await attached.process.exit).toEqual({ code: 3 });
  await attached.finish(await attached.process.exit);
  expect(fixture.look('a', 'new')).toBe('two\n');
  await expect(attached.process.write(new Uint8Array(1))).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  await expect(attach(['true'], { cwd: '/nowhere' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect((await fixture.audited()).at(-1)).toBe('sandbox-shell: error');
  const left = await attach(['sleep', '1000']);
  await left[Symbol.asyncDispose]();
  expect(await left.process.exit).toMatchObject({ code: 137 });
});

test('without a command it is a shell', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await using attached = await fixture.attachProcess.attach({ sandbox: 'a', terminal: { columns: 80, rows: 24 } });
  await attached.process.write(new TextEncoder().encode('echo hello\nexit\n'));
  expect(await output(attached.process)).toBe('hello\n');
  await attached.finish(await attached.process.exit);
  expect((await fixture.readAudit.entries({ limit: 1 }))[0]?.input).toEqual({ command: 'interactive' });
});

test('who is at work in the sandbox is told, and nobody is kept out', async () => {
  await using fixture = useCaseFixture();
  const { id } = await made(fixture);
  const lease = await fixture.state.lease(`sandbox:${id}`, 'run: npm test');
  const opening = fixture.attachProcess.attach({ sandbox: 'a', command: ['true'] });
  await fixture.clock.during(opening);
  const attached = await opening;
  expect(attached.notice).toBe('a is busy: "npm test" is still running (this process). Your shell opens anyway.');
  await lease[Symbol.asyncDispose]();
  await attached[Symbol.asyncDispose]();
});

test('one that is left is ended, recorded and audited', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  {
    await using attached = await fixture.attachProcess.attach({
      sandbox: 'a',
      command: ['sh', '-c', 'echo x >new; echo on; sleep 1000'],
    });
    for await (const _ of attached.process) break;
  }
  expect(fixture.subjects('a')).toHaveLength(1);
  expect((await fixture.readAudit.entries({ limit: 1 }))[0]?.result['exitCode']).toBe(137);
});

test('a program that is not there ends its entry in the log as an error', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const attaching = fixture.attachProcess.attach({ sandbox: 'a', command: ['nowhere'] });
  await expect(attaching).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect((await fixture.audited()).at(-1)).toBe('sandbox-shell: error');
});

test('a command that is none, a variable that is none, and a message that is wanted are refused before', async () => {
  await using fixture = useCaseFixture();
  await made(fixture, 'a', { overrides: { requireMessage: true } });
  const attach = (more: object) => fixture.attachProcess.attach({ sandbox: 'a', message: 'x', ...more });
  await expect(attach({ command: [''] })).rejects.toMatchObject({ code: 'COMMAND_EMPTY' });
  await expect(attach({ env: { 'a b': '' } })).rejects.toMatchObject({ code: 'ENV_NAME' });
  await expect(attach({ message: undefined })).rejects.toMatchObject({ code: 'MESSAGE_EMPTY' });
  expect(await fixture.audited()).toEqual(['sandbox-create: ok']);
});

test('a stopped sandbox is SANDBOX_STOPPED', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await inState(fixture, 'a', 'stopped');
  await expect(fixture.attachProcess.attach({ sandbox: 'a' })).rejects.toMatchObject({ code: 'SANDBOX_STOPPED' });
});

test('a revision that cannot be written when it ends is told', async () => {
  await using fixture = useCaseFixture({ repository: { record: () => Promise.reject(failed) } });
  await made(fixture);
  const attached = await fixture.attachProcess.attach({ sandbox: 'a', command: ['sh', '-c', 'echo x >new'] });
  await output(attached.process);
  await expect(attached.finish(await attached.process.exit)).rejects.toBe(failed);
  expect((await fixture.audited()).at(-1)).toBe('sandbox-shell: error');
});

test('what a long call changes is recorded while it works, once nothing changed for a second', async () => {
  await using fixture = useCaseFixture();
  const { id } = await made(fixture);
  const numbers = async () =>
    (await fixture.readHistory.read('a', { quietCalls: false })).flatMap((entry) =>
      entry.type === 'revision' ? [entry.number] : [],
    );
  await using attached = await fixture.attachProcess.attach({
    sandbox: 'a',
    command: ['sh', '-c', 'echo x >new; echo on; cat >other; echo off; sleep 1000'],
    recordsMeanwhile: true,
  });
  const output = attached.process[Symbol.asyncIterator]();
  await output.next();
  await fixture.clock.pass(1_000);
  await attached.process.write(Buffer.from('y'));
  await attached.process.closeStdin();
  await output.next();
  await fixture.clock.pass(1_000); // other changed meanwhile
  const lease = await fixture.state.lease(`sandbox:${id}`, 'run: npm test');
  await fixture.clock.pass(1_000); // still, but somebody is at work in it
  await lease[Symbol.asyncDispose]();
  expect(await numbers()).toEqual([]);
  await fixture.clock.pass(1_000);
  await fixture.clock.pass(1_000);
  await fixture.clock.pass(1_000);
  expect(await numbers()).toEqual([1]);
  expect([fixture.look('a', 'new'), fixture.look('a', 'other')]).toEqual(['x\n', 'y']);
  await attached.process[Symbol.asyncDispose]();
  expect(await attached.finish(await attached.process.exit)).toMatchObject({
    changedFiles: 2,
    revision: { number: 1 },
  });
  expect(await numbers()).toEqual([1]);
});
