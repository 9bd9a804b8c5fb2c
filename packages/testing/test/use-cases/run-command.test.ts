import { expect, test } from '@jest/globals';
import { useCaseFixture } from '../../src/index.ts';
import { inState, made } from '../made.ts';

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

test('a command says what it says, and what it changed is a revision', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const result = await fixture.runCommand.run({
    sandbox: 'a',
    command: 'echo out; echo err >&2; echo x >new; exit 3',
  });
  expect(text(result.stdout.bytes)).toBe('out\n');
  expect(text(result.stderr.bytes)).toBe('err\n');
  expect(result.exit).toEqual({ code: 3 });
  expect(result.recorded.revision?.number).toBe(1);
  expect(result.recorded.changedFiles).toBe(1);
  expect(fixture.subjects('a')).toEqual(['run: echo out; echo err >&2; echo x >new; exit 3']);
  expect(fixture.told().at(-1)).toBe('revision-recorded');
});

test('a command that changes nothing is no revision, and stands in the audit log', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const { recorded } = await fixture.runCommand.run({ sandbox: 'a', command: 'cat README' });
  expect(recorded.revision).toBeUndefined();
  expect(await fixture.audited()).toEqual(['sandbox-create: ok', 'sandbox-run: ok']);
});

test('arguments arrive as they are, in the directory and with the variables that were asked for', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const argv = ['sh', '-c', 'pwd; echo "$1 $MINE"; cat', 'sh', '$HOME "x"'] as const;
  await fixture.runCommand.run({ sandbox: 'a', command: 'mkdir below' });
  const { stdout } = await fixture.runCommand.run({
    sandbox: 'a',
    command: argv,
    cwd: 'below',
    env: { MINE: 'a b' },
    stdin: Buffer.from('in\n'),
  });
  expect(text(stdout.bytes)).toBe('/src/below\n$HOME "x" a b\nin\n');
});

test('output arrives while it runs, and is kept up to a bound', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const seen: string[] = [];
  const { stdout } = await fixture.runCommand.run({
    sandbox: 'a',
    command: 'echo 0123456789',
    maxOutputBytes: 6,
    onOutput: ({ bytes }) => void seen.push(text(bytes)),
  });
  expect(seen.join('')).toBe('0123456789\n');
  expect(stdout.droppedBytes).toBe(5);
});

test('what it changed is recorded when it takes too long, and its processes are gone', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const result = await fixture.runCommand.run({
    sandbox: 'a',
    command: 'echo x >new; sleep 1000 & sleep 1000',
    timeoutMs: 20,
  });
  expect(result.interruption).toBe('timeout');
  expect(result.recorded.changedFiles).toBe(1);
  const [sandbox] = fixture.shelves.sandboxes.sandboxes.values();
  const programs = [...(sandbox?.machine.processes.values() ?? [])].map(({ argv }) => argv[0]);
  expect(programs).not.toContain('sleep');
});

test('what it changed is recorded when it is aborted, and the call rejects with the reason', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const controller = new AbortController();
  const reason = new Error('enough');
  const onOutput = () => controller.abort(reason);
  const running = fixture.runCommand.run(
    { sandbox: 'a', command: 'echo x >new; echo on; sleep 1000', onOutput },
    { signal: controller.signal },
  );
  await expect(running).rejects.toBe(reason);
  expect(fixture.subjects('a')).toHaveLength(1);
  expect((await fixture.audited()).at(-1)).toBe('sandbox-run: error');
});

test('what a function of the caller throws ends the command, is what the call rejects with, and what ran is recorded', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const bug = new Error('my bug');
  const command = 'echo x >>new; echo one; echo two; sleep 1000';
  const thrown = () => {
    throw bug;
  };
  for (const heard of [{ onOutput: thrown }, { onOutput: () => Promise.reject(bug) }, { onStart: thrown }])
    await expect(fixture.runCommand.run({ sandbox: 'a', command, ...heard })).rejects.toBe(bug);
  const last = fixture.runCommand.run({ sandbox: 'a', command: 'printf end', onOutput: thrown });
  await expect(last).rejects.toBe(bug);
  expect(fixture.subjects('a').length).toBeGreaterThanOrEqual(2);
});

for (const [code, command] of [
  ['COMMAND_EMPTY', '  '],
  ['COMMAND_NUL', 'echo \0'],
  ['COMMAND_TOO_LONG', `echo ${'x'.repeat(130_000)}`],
] as const)
  test(`a command that cannot be run is ${code}, and nothing is audited`, async () => {
    await using fixture = useCaseFixture();
    await made(fixture);
    await expect(fixture.runCommand.run({ sandbox: 'a', command })).rejects.toMatchObject({ code });
    expect(await fixture.audited()).toEqual(['sandbox-create: ok']);
  });

for (const timeoutMs of [0, -1, 2 ** 31])
  test(`a timeout of ${timeoutMs} ms is ARG_RANGE`, async () => {
    await using fixture = useCaseFixture();
    await made(fixture);
    const running = fixture.runCommand.run({ sandbox: 'a', command: 'true', timeoutMs });
    await expect(running).rejects.toMatchObject({ code: 'ARG_RANGE' });
  });

test('a variable that cannot be set is refused by its name or value', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const run = (env: Record<string, string>) => fixture.runCommand.run({ sandbox: 'a', command: 'true', env });
  await expect(run({ 'a b': 'x' })).rejects.toMatchObject({ code: 'ENV_NAME' });
  await expect(run({ A: '\0' })).rejects.toMatchObject({ code: 'ENV_VALUE' });
});

test('a directory of the kernel is WORKDIR_FORBIDDEN, one that is not there NOT_FOUND', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const run = (cwd: string) => fixture.runCommand.run({ sandbox: 'a', command: 'true', cwd });
  await expect(run('/proc/1')).rejects.toMatchObject({ code: 'WORKDIR_FORBIDDEN' });
  await expect(run('nowhere')).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('a repository that wants messages refuses a command without one before it runs', async () => {
  await using fixture = useCaseFixture();
  await made(fixture, 'a', { overrides: { requireMessage: true } });
  const running = fixture.runCommand.run({ sandbox: 'a', command: 'touch ran' });
  await expect(running).rejects.toMatchObject({ code: 'MESSAGE_EMPTY' });
  expect(fixture.look('a', 'ran')).toBeUndefined();
  await fixture.runCommand.run({ sandbox: 'a', command: 'touch ran', message: 'Try it' });
  expect(fixture.subjects('a')).toEqual(['Try it']);
});

test('a sandbox that is paused, stopped or being deleted runs nothing, and says so', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const run = () => fixture.runCommand.run({ sandbox: 'a', command: 'true' });
  for (const [state, code] of [
    ['paused', 'SANDBOX_PAUSED'],
    ['stopped', 'SANDBOX_STOPPED'],
    ['deleting', 'SANDBOX_DELETING'],
    ['creating', 'SANDBOX_BUSY'],
  ] as const) {
    await inState(fixture, 'a', state);
    await expect(run()).rejects.toMatchObject({ code });
  }
});

test('FC-313: a secret in a command is in no words of a revision, and not in the audit log', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const token = `ghp_${'a1B2'.repeat(9)}`;
  await fixture.runCommand.run({ sandbox: 'a', command: `echo x >new; : ${token}`, message: `with ${token}` });
  expect(fixture.subjects('a')).toEqual(['with [left out: token of GitHub]']);
  const kept = JSON.stringify(await fixture.audit.entries({ limit: 10 }));
  expect(kept).toContain('[left out: token of GitHub]');
  expect(kept).not.toContain(token);
});

test('FC-322: what a command of the background changes is not the next call’s', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await fixture.runCommand.run({ sandbox: 'a', command: 'server', inPlace: 'true' });
  fixture.scribble('a', 'late', 'x');
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo x >own' });
  fixture.scribble('a', 'later', 'x');
  await fixture.runCommand.run({ sandbox: 'a', command: 'true' });
  const recovered = 'recovered: changes found before this call';
  expect(fixture.subjects('a')).toEqual([recovered, 'run: echo x >own', recovered]);
});
