import { expect, test } from '@jest/globals';
import { AGENT_TOOLS, type UseCases } from '@litterbox/core/agent';
import { LitterboxError } from '@litterbox/core/provider';
import { type Program } from '@litterbox/memory';
import { atFailpoint, useCaseFixture } from '../../src/index.ts';
import { made } from '../made.ts';

const failed = new Error('no');
const run = { sandbox: 'a', command: 'true' } as const;

test('a mark moves on only when the changes are safe: what could not be recorded is recorded by the next call', async () => {
  let isFull = true;
  const full = new LitterboxError('DISK_FULL', 'full', { operation: 'test' });
  await using fixture = useCaseFixture({
    repository: (real) => ({ record: (...args) => (isFull ? Promise.reject(full) : real.record(...args)) }),
  });
  await made(fixture);
  await expect(fixture.runCommand.run({ ...run, command: 'echo x >new' })).rejects.toBe(full);
  expect(fixture.subjects('a')).toEqual([]);
  isFull = false;
  const { recorded } = await fixture.runCommand.run(run);
  expect(recorded.changedFiles).toBe(1);
});

test('a program killed between revision and mark leaves changes that are no second revision', async () => {
  const fixture = useCaseFixture();
  await made(fixture);
  await fixture.killedAt('record.before-mark', () => fixture.runCommand.run({ ...run, command: 'echo x >new' }));
  await using next = fixture.restarted();
  await next.runCommand.run(run);
  expect(next.subjects('a')).toEqual(['run: echo x >new']);
});

test('a failure between revision and mark is told, and the next call records nothing twice', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const running = async () => {
    using _ = atFailpoint('record.before-mark', () => {
      throw failed;
    });
    await fixture.runCommand.run({ ...run, command: 'echo x >new' });
  };
  await expect(running()).rejects.toBe(failed);
  expect((await fixture.runCommand.run(run)).recorded.revision).toBeUndefined();
  expect(fixture.subjects('a')).toHaveLength(1);
});

test('what was ignored until now is found when the rules change', async () => {
  await using fixture = useCaseFixture({ files: [{ path: '.gitignore', content: 'out\n' }] });
  await made(fixture);
  await fixture.runCommand.run({ ...run, command: 'echo x >out' });
  expect(fixture.subjects('a')).toEqual([]);
  const { recorded } = await fixture.runCommand.run({ ...run, command: ': >.gitignore' });
  expect(recorded.ignoreRulesChanged).toBe(true);
  expect(recorded.changedFiles).toBe(2);
  const repository = await fixture.openRepository.open();
  const { id } = await fixture.findSandbox.find('a');
  expect((await repository.changes(id)).map(({ path }) => path)).toEqual(['.gitignore', 'out']);
});

test('a file that nobody may read is a warning, and the rest is recorded', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const { recorded } = await fixture.runCommand.run({
    ...run,
    command: 'echo x >secret; chmod 000 secret; echo x >open; mkfifo pipe',
  });
  expect(recorded.changedFiles).toBe(1);
  expect(recorded.warnings.map(({ type }) => type).sort()).toEqual(['refused-path', 'unreadable']);
});

test('FC-62: a file that tar cannot pack is named, what the command printed is kept, and the rest is recorded', async () => {
  let isBroken = false;
  const fixture = useCaseFixture();
  await made(fixture);
  await using next = fixture.restarted();
  const [sandbox] = next.shelves.sandboxes.sandboxes.values();
  const programs = sandbox?.machine.programs as Map<string, Program>;
  const real = programs.get('tar');
  programs.set('tar', async (process, args) => {
    if (isBroken || !real) return 2;
    const packed = args.filter((arg) => !arg.endsWith('cursed'));
    return Math.max(await real(process, packed), packed.length < args.length ? 2 : 0);
  });
  const command = 'echo x >cursed; echo x >open; echo printed';
  const { recorded, stdout } = await next.runCommand.run({ ...run, command });
  expect(recorded).toMatchObject({ changedFiles: 1, warnings: [{ type: 'unreadable', path: 'cursed' }] });
  expect(new TextDecoder().decode(stdout.bytes)).toBe('printed\n');
  // Where it is tar that fails, no file is to blame, and the mark stays.
  isBroken = true;
  const useCases: UseCases = {
    get: (wanted) => Object.values(next).find((one) => one instanceof wanted) as InstanceType<typeof wanted>,
  };
  const bash = AGENT_TOOLS.find(({ name }) => name === 'bash');
  await expect(bash?.execute(useCases, { sandbox: 'a', command: 'echo y >open; echo lost; exit 3' })).rejects.toThrow(
    /^tar failed .*\nThe command had ended before that with exit code 3 and printed this:\nlost$/,
  );
  isBroken = false;
  expect((await next.runCommand.run(run)).recorded.changedFiles).toBe(1);
});

test('many files, and large ones, are recorded too', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  for (let count = 0; count < 600; count += 1) fixture.scribble('a', `many/${count}`, 'x');
  fixture.scribble('a', 'large', 'x'.repeat(2 ** 21));
  expect((await fixture.runCommand.run(run)).recorded.changedFiles).toBe(601);
});

test('whoever watches is told the number, the subject and how many files', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await fixture.runCommand.run({ ...run, command: 'echo x >new' });
  const event = (await fixture.state.events(0)).at(-1);
  expect(event?.type).toBe('revision-recorded');
  expect(event?.data['number']).toBe(1);
  expect(event?.data['files']).toBe(1);
  expect(event?.data['subject']).toBe('run: echo x >new');
});

test('a record that another program changed meanwhile keeps that change, and gets its mark', async () => {
  await using fixture = useCaseFixture({
    repository: (real) => ({
      async record(id, ...args) {
        const result = await real.record(id, ...args);
        const record = await fixture.state.get(id);
        if (record) await fixture.state.update(record, { setupLog: 'other' });
        return result;
      },
    }),
  });
  const { id } = await made(fixture);
  await fixture.runCommand.run({ ...run, command: 'echo x >new' });
  const record = await fixture.state.get(id);
  expect(record?.setupLog).toBe('other');
  expect(record?.mark).toBeDefined();
});
