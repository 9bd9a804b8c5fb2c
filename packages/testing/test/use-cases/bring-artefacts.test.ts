import { expect, test } from '@jest/globals';
import { useCaseFixture } from '../../src/index.ts';
import { made } from '../made.ts';

const FILES = [
  { path: 'README', content: 'read me\n' },
  { path: '.gitignore', content: 'built\n' },
  { path: 'src/a', content: 'a' },
];
const WORKTREE = { type: 'worktree' } as const;

function world(config?: string) {
  const fixture = useCaseFixture({ files: FILES, ...(config !== undefined && { config }) });
  fixture.person.write('built/a.o', 'object');
  fixture.person.write('.env', 'A=secret');
  return fixture;
}

test('what is named comes along, is not recorded, and is in no diff', async () => {
  await using fixture = world();
  const { record, heldBack, warnings } = await fixture.createSandbox.create({
    name: 'a',
    from: WORKTREE,
    overrides: { include: ['built/', '.env'] },
  });
  expect({ heldBack, warnings, include: record.policy.include }).toEqual({ warnings: [], include: ['.env', 'built'] });
  expect([fixture.look('a', 'built/a.o'), fixture.look('a', '.env')]).toEqual(['object', 'A=secret']);
  const base = fixture.person.treeOf(record.baseTree);
  expect([...base.keys()].sort()).toEqual(['.gitignore', 'README', 'src/a']);
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo more >built/a.o; echo B >.env; echo work >work' });
  expect(fixture.subjects('a')).toHaveLength(1);
  const [{ files } = { files: 0 }] = [...(await (await fixture.openRepository.open()).works([record.id])).values()];
  expect(files).toBe(1);
  expect(fixture.person.read('built/a.o')).toBe('object');
});

test('tracked files that are named come with the base, also when they look like secrets', async () => {
  await using fixture = world();
  fixture.person.write('src/a', '-----BEGIN PRIVATE KEY-----');
  const held = await fixture.createSandbox.create({ name: 'a', from: WORKTREE });
  expect(held.heldBack?.files.map(({ path }) => path)).toEqual(['.env', 'src/a']);
  expect(fixture.look('a', 'src/a')).toBe('a');
  const { record } = await fixture.createSandbox.create({
    name: 'b',
    from: WORKTREE,
    overrides: { include: ['src/a'] },
  });
  expect(fixture.look('b', 'src/a')).toBe('-----BEGIN PRIVATE KEY-----');
  expect(record.policy.include).toBeUndefined();
});

test.each([
  ['nothing', 'NOT_FOUND'],
  ['src', 'CONFLICT'],
  ['src/a', 'CONFLICT'],
  ['src/a/b', 'CONFLICT'],
  ['../project', 'INVALID_ARGUMENT'],
  ['/etc', 'INVALID_ARGUMENT'],
  ['.git', 'INVALID_ARGUMENT'],
])('%s is %s at a create that names it, and nothing is left', async (path, code) => {
  await using fixture = world();
  await expect(made(fixture, 'a', { overrides: { include: [path] } })).rejects.toMatchObject({ code });
  expect(fixture.left().records).toEqual([]);
});

test('what a configuration names and is not there is a warning', async () => {
  await using fixture = world('include = ["built", "node_modules", "src"]\n');
  const { record, warnings } = await fixture.createSandbox.create({ name: 'a' });
  expect(record.policy.include).toEqual(['built']);
  expect(warnings).toEqual([
    expect.stringContaining('"node_modules" cannot be included: the working tree has nothing there'),
    expect.stringContaining('"src" cannot be included: the base has files there'),
  ]);
});

test('a configuration that names files needs a person', async () => {
  await using untrusted = useCaseFixture({ files: FILES, config: 'include = ["built"]\n', isTrusted: false });
  await expect(made(untrusted)).rejects.toMatchObject({ code: 'CONFIG_UNTRUSTED' });
});

test('a provider that brings nothing along refuses', async () => {
  const traits = { isolation: 'none', limits: [], workdir: '/src', roots: ['machine'] } as const;
  await using fixture = useCaseFixture({ files: FILES, provider: { traits } });
  fixture.person.write('built/a.o', 'object');
  await expect(made(fixture, 'a', { overrides: { include: ['built'] } })).rejects.toMatchObject({
    code: 'UNSUPPORTED',
    message: expect.stringContaining('include'),
  });
});

test('a setup over files that came along is run each time, and serves nobody else', async () => {
  await using fixture = world('[container]\nsetup-command = ["sh", "-c", "echo ran >>ran"]\n');
  const include = { overrides: { include: ['built'] } };
  for (const name of ['a', 'b']) await made(fixture, name, include);
  expect([...fixture.shelves.sandboxes.setups.keys()]).toEqual([]);
  await made(fixture, 'c');
  expect([...fixture.shelves.sandboxes.setups.keys()]).toHaveLength(1);
});

test('a fork has it, and so has a sandbox that is built anew', async () => {
  await using fixture = world();
  await made(fixture, 'a', { overrides: { include: ['built', '.env'] } });
  await fixture.forkSandbox.fork('a', 'b');
  expect(fixture.look('b', 'built/a.o')).toBe('object');
  await fixture.runCommand.run({ sandbox: 'b', command: 'echo C >.env' });
  expect(fixture.subjects('b')).toEqual([]);
  fixture.person.work.delete('.env');
  await fixture.recoverSandbox.recover('a', { force: true });
  expect([fixture.look('a', 'built/a.o'), fixture.look('a', '.env')]).toEqual(['object', undefined]);
});
