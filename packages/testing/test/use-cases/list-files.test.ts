import { expect, test } from '@jest/globals';
import { useCaseFixture, type UseCaseFixture } from '../../src/index.ts';
import { made } from '../made.ts';

const FILES = ['README', 'src/a.ts', 'src/deep/b.ts', 'node_modules/x/index.js', '.hidden/file'].map((path) => ({
  path,
  content: 'x\n',
}));

async function prepared(): Promise<UseCaseFixture> {
  const fixture = useCaseFixture({ files: FILES });
  await made(fixture);
  return fixture;
}

const list = (fixture: UseCaseFixture, path: string, isRecursive = false) =>
  fixture.listFiles.list({ sandbox: 'a', path, isRecursive });
const names = (walk: { found: readonly { path: string; type: string }[] }) =>
  walk.found.map(({ path, type }) => `${type} ${path}`);

test('a directory is its names with their types, sorted, without what is hidden', async () => {
  await using fixture = await prepared();
  await fixture.runCommand.run({ sandbox: 'a', command: 'ln -s README link' });
  const walk = await list(fixture, '.');
  expect(names(walk)).toEqual(['file README', 'link link', 'directory node_modules', 'directory src']);
  expect(walk).toMatchObject({ isCut: false, hidden: 1 });
  expect((await fixture.audited()).at(-1)).toBe('sandbox-ls: ok');
});

test('all below it passes over what tools filled, and tells that it is there', async () => {
  await using fixture = await prepared();
  const walk = await list(fixture, '.', true);
  expect(names(walk)).toEqual([
    'file README',
    'directory node_modules',
    'directory src',
    'file src/a.ts',
    'directory src/deep',
    'file src/deep/b.ts',
  ]);
  expect(walk.hidden).toBe(1);
});

test('files whose paths match', async () => {
  await using fixture = await prepared();
  const walk = await fixture.listFiles.glob({ sandbox: 'a', path: '.', pattern: '**/*.ts' });
  expect(names(walk)).toEqual(['file src/a.ts', 'file src/deep/b.ts']);
  const below = await fixture.listFiles.glob({ sandbox: 'a', path: 'src', pattern: '*.ts' });
  expect(names(below)).toEqual(['file a.ts']);
  expect([walk.hidden, below.hidden]).toEqual([1, 0]);
});

test('outside of the workspace nothing is hidden', async () => {
  await using fixture = await prepared();
  await fixture.runCommand.run({ sandbox: 'a', command: 'mkdir /tmp/d; touch /tmp/d/.dot' });
  const walk = await list(fixture, '/tmp/d');
  expect(names(walk)).toEqual(['file .dot']);
  expect(walk.hidden).toBe(0);
});

for (const [code, path] of [
  ['NOT_FOUND', 'nothing'],
  ['NOT_A_DIRECTORY', 'README'],
  ['PATH_HIDDEN', '.hidden'],
] as const)
  test(`what cannot be listed is ${code}`, async () => {
    await using fixture = await prepared();
    await expect(list(fixture, path)).rejects.toMatchObject({ code });
  });

test('a directory that may not be entered is PERMISSION_DENIED', async () => {
  await using fixture = await prepared();
  await fixture.runCommand.run({ sandbox: 'a', command: 'mkdir shut; chmod 000 shut' });
  await expect(list(fixture, 'shut')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
});

test('a pattern that is none is GLOB_INVALID, and nothing is audited', async () => {
  await using fixture = await prepared();
  const before = await fixture.audited();
  await expect(fixture.listFiles.glob({ sandbox: 'a', path: '.', pattern: '[' })).rejects.toMatchObject({
    code: 'GLOB_INVALID',
  });
  expect(await fixture.audited()).toEqual(before);
});
