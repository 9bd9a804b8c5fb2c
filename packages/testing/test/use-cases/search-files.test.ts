import { expect, test } from '@jest/globals';
import { useCaseFixture, type UseCaseFixture } from '../../src/index.ts';
import { made } from '../made.ts';

const FILES = [
  { path: 'README', content: 'Find me\nnot this\n' },
  { path: 'src/a.ts', content: 'one\nfind me too\n' },
  { path: 'src/b.js', content: 'find me in b\n' },
  { path: 'binary', content: 'find me\0' },
  { path: '.hidden', content: 'find me\n' },
];

async function world(): Promise<UseCaseFixture> {
  const fixture = useCaseFixture({ files: FILES });
  await made(fixture);
  return fixture;
}

const search = async (fixture: UseCaseFixture, pattern: string, more: object = {}) =>
  await fixture.searchFiles.execute({ sandbox: 'a', pattern, path: '.', isCaseIgnored: false, ...more });
const told = ({ lines }: Awaited<ReturnType<typeof search>>) =>
  lines.map(({ path, line, text }) => `${path}:${line}: ${text}`);

test('lines are found in all files but hidden and binary ones, in the same order everywhere', async () => {
  await using of = await world();
  const found = await search(of, 'find me');
  expect(told(found)).toEqual(['src/a.ts:2: find me too', 'src/b.js:1: find me in b']);
  expect(found.isCut).toBe(false);
  expect((await of.audited()).at(-1)).toBe('sandbox-grep: ok');
});

test('without regard to case, below a directory, in one file', async () => {
  await using of = await world();
  expect(told(await search(of, 'FIND ME', { isCaseIgnored: true }))).toHaveLength(3);
  expect(told(await search(of, 'find', { path: 'src' }))).toHaveLength(2);
  expect(told(await search(of, 'Find', { path: 'README' }))).toEqual(['README:1: Find me']);
});

test('only files that match are looked into', async () => {
  await using of = await world();
  expect(told(await search(of, 'find', { include: '*.js' }))).toEqual(['src/b.js:1: find me in b']);
  expect(told(await search(of, 'find', { include: 'src/*.ts' }))).toEqual(['src/a.ts:2: find me too']);
});

test('nothing that is found is no error', async () => {
  await using of = await world();
  expect(told(await search(of, 'nowhere'))).toEqual([]);
});

for (const [code, pattern, more] of [
  ['PATTERN_EMPTY', '', {}],
  ['PATTERN_INVALID', '(', {}],
  ['NOT_FOUND', 'x', { path: 'nothing' }],
  ['PATH_HIDDEN', 'x', { path: '.hidden' }],
  ['NOT_A_REGULAR_FILE', 'x', { path: 'pipe' }],
] as const)
  test(`a search that cannot be is ${code}`, async () => {
    await using of = await world();
    await of.runCommand.execute({ sandbox: 'a', command: 'mkfifo pipe' });
    await expect(search(of, pattern, more)).rejects.toMatchObject({ code });
  });
