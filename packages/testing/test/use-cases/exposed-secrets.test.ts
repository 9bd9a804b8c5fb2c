import { expect, test } from '@jest/globals';
import type { ProcessHandle } from '@litterbox/core/provider';
import { useCaseFixture, type UseCaseFixtureOptions } from '../../src/index.ts';
import { made } from '../made.ts';

const config = '[secrets]\nTOKEN = { pass = "work/token", expose = "NPM_TOKEN" }\n';
const VALUE = 'npm_real0123456789';
const secrets = { 'pass work/token': VALUE };

const fixtureOf = (options: UseCaseFixtureOptions = {}) => useCaseFixture({ config, secrets, ...options });
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

async function said(process: ProcessHandle): Promise<string> {
  let all = '';
  for await (const { bytes } of process) all += text(bytes);
  return all;
}

test('a command holds the secret, and nothing that it prints has it', async () => {
  await using fixture = fixtureOf();
  const record = await made(fixture);
  expect(record.policy.exposed).toEqual([{ name: 'TOKEN', variable: 'NPM_TOKEN', origin: { pass: 'work/token' } }]);
  const heard: string[] = [];
  const { stdout, stderr } = await fixture.runCommand.run({
    sandbox: 'a',
    command: `[ "$NPM_TOKEN" = ${VALUE} ] && echo it is; echo "<$NPM_TOKEN>" >&2; printf npm_; printf real0123456789`,
    onOutput: ({ bytes }) => void heard.push(text(bytes)),
  });
  expect({ out: text(stdout.bytes), err: text(stderr.bytes) }).toEqual({
    out: 'it is\n[secret TOKEN]',
    err: '<[secret TOKEN]>\n',
  });
  expect(heard.join('')).not.toContain(VALUE);
  await using attached = await fixture.attachProcess.attach({
    sandbox: 'a',
    command: 'echo $NPM_TOKEN',
    noInput: true,
  });
  expect(await said(attached.process)).toBe('[secret TOKEN]\n');
  await attached.finish(await attached.process.exit);
  await fixture.openRepository.close(); // what was kept behind the calls is there
  // The sandbox itself is not asked: it is the one place that has it.
  const kept = JSON.stringify([
    fixture.shelves.records,
    [...(fixture.shelves.repositories.find('/home/person/project')?.histories.values() ?? [])],
  ]);
  expect(kept).toContain('[secret TOKEN]');
  expect(kept).not.toContain(VALUE);
});

test('a file, a link and a name that hold it are not recorded, and are named', async () => {
  await using fixture = fixtureOf();
  await made(fixture);
  const { recorded } = await fixture.runCommand.run({
    sandbox: 'a',
    command: `echo "token=$NPM_TOKEN" >.env; echo fine >fine; echo x >"at-$NPM_TOKEN"; ln -s "$NPM_TOKEN" link`,
  });
  expect(recorded.warnings.toSorted((one, other) => (one.path < other.path ? -1 : 1))).toEqual([
    { type: 'holds-secret', path: '.env', secret: 'TOKEN' },
    { type: 'holds-secret', path: 'at-[secret TOKEN]', secret: 'TOKEN' },
    { type: 'holds-secret', path: 'link', secret: 'TOKEN' },
  ]);
  expect(recorded.changedFiles).toBe(1);
  const record = await fixture.findSandbox.find('a');
  expect(record.unrecorded).toMatchObject({ total: 3 });
  await made(fixture, 'b');
  await fixture.runCommand.run({ sandbox: 'b', command: 'echo $NPM_TOKEN >.env' });
  await expect(fixture.deleteSandbox.delete('b', {})).rejects.toThrow('One file of b could not be recorded: ".env".');
  // Once it is gone, the file is recorded.
  const after = await fixture.runCommand.run({ sandbox: 'a', command: 'echo none >.env; rm -f at-* link' });
  expect(after.recorded).toMatchObject({ changedFiles: 1, warnings: [] });
});

test('files that hold it are read without it, and not written back without it', async () => {
  await using fixture = fixtureOf();
  await made(fixture);
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo "token=$NPM_TOKEN" >.env' });
  expect(text(await fixture.accessFiles.read('a', '.env'))).toBe('token=[secret TOKEN]\n');
  const edit = { sandbox: 'a', path: '.env', old: 'token', new: 'key', isEverywhere: false };
  await expect(fixture.editFile.edit(edit)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  expect(fixture.look('a', '.env')).toBe(`token=${VALUE}\n`);
});

test('FC-452: what is cut was redacted before', async () => {
  await using fixture = fixtureOf();
  await made(fixture);
  const { stdout } = await fixture.runCommand.run({
    sandbox: 'a',
    command: 'printf aaaa; printf %s $NPM_TOKEN; printf zzzz',
    maxOutputBytes: 16,
  });
  expect(text(stdout.bytes)).toBe('aaaa[secKEN]zzzz');
});

test('AX187: what an agent knows of it is in no message and no entry of the log', async () => {
  await using fixture = fixtureOf();
  await made(fixture);
  await fixture.runCommand.run({ sandbox: 'a', command: `echo ${VALUE} >/tmp/x; echo y >y`, message: `with ${VALUE}` });
  expect(fixture.subjects('a')).toEqual(['with [secret TOKEN]']);
  expect(JSON.stringify(fixture.shelves.records)).not.toContain(VALUE);
});

test('the setup has none', async () => {
  await using fixture = fixtureOf({
    config: `${config}[container]\nsetup-command = ["sh", "-c", "[ -z $NPM_TOKEN ]"]\n`,
  });
  await expect(made(fixture)).resolves.toMatchObject({ state: 'ready' });
});

test('a secret that cannot be used refuses the sandbox, and no value is repeated', async () => {
  for (const [value, code] of [
    [undefined, 'SECRET_NOT_FOUND'],
    ['tiny-1', 'UNSUPPORTED'],
  ] as const) {
    await using fixture = fixtureOf({ secrets: value === undefined ? {} : { 'pass work/token': value } });
    const error = await made(fixture).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code });
    if (value !== undefined) expect(JSON.stringify([error, String(error)])).not.toContain(value);
    expect(fixture.left()).toMatchObject({ records: [], runtimes: [] });
  }
});

test('a file that nobody agreed to reads no secret', async () => {
  let asked = 0;
  const counted = new Proxy(secrets, { get: (...what) => (asked++, Reflect.get(...what)) });
  await using fixture = fixtureOf({ secrets: counted, isTrusted: false });
  await expect(made(fixture)).rejects.toMatchObject({ code: 'CONFIG_UNTRUSTED' });
  expect(asked).toBe(0);
});

test('without the secret nothing is read or recorded, and the sandbox can be deleted', async () => {
  await using fixture = fixtureOf();
  await made(fixture);
  await using later = fixture.restarted({ config, secrets: {} });
  await expect(later.runCommand.run({ sandbox: 'a', command: 'true' })).rejects.toMatchObject({
    code: 'SECRET_NOT_FOUND',
  });
  await later.deleteSandbox.delete('a', { force: true });
  expect(later.left()).toMatchObject({ records: [], runtimes: [] });
});

test('services print none of it', async () => {
  const service = '[container.services.web]\ncommand = ["serve"]\n';
  const serve = async (process: {
    write(fd: number, text: string): Promise<void>;
    wait(what: Promise<never>): Promise<never>;
  }) => {
    for (const part of ['t=npm_', VALUE.slice(4), '\n']) await process.write(1, part);
    return await process.wait(new Promise<never>(() => {}));
  };
  await using fixture = fixtureOf({ config: config + service, programs: { serve } });
  await fixture.clock.during(made(fixture));
  const texts: string[] = [];
  for await (const { text: one } of fixture.controlServices.logs({ sandbox: 'a' })) texts.push(one);
  expect(texts.join('')).toContain('t=[secret TOKEN]\n');
});
