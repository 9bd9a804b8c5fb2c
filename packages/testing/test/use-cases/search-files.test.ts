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

async function prepared(): Promise<UseCaseFixture> {
  const fixture = useCaseFixture({ files: FILES });
  await made(fixture);
  return fixture;
}

const search = async (fixture: UseCaseFixture, pattern: string, more: object = {}) =>
  await fixture.searchFiles.search({ sandbox: 'a', pattern, path: '.', isCaseIgnored: false, ...more });
const told = ({ lines }: Awaited<ReturnType<typeof search>>) =>
  lines.map(({ path, line, text }) => `${path}:${line}: ${text}`);

test('lines are found in all files but hidden and binary ones, in the same order everywhere', async () => {
  await using fixture = await prepared();
  const found = await search(fixture, 'find me');
  expect(told(found)).toEqual(['src/a.ts:2: find me too', 'src/b.js:1: find me in b']);
  expect(found).toMatchObject({ isCut: false, hidden: 1, binary: 1, unread: 0, filled: 0 });
  expect((await fixture.audited()).at(-1)).toBe('sandbox-grep: ok');
});

test('without regard to case, below a directory, in one file', async () => {
  await using fixture = await prepared();
  expect(told(await search(fixture, 'FIND ME', { isCaseIgnored: true }))).toHaveLength(3);
  expect(told(await search(fixture, 'find', { path: 'src' }))).toHaveLength(2);
  expect(told(await search(fixture, 'Find', { path: 'README' }))).toEqual(['README:1: Find me']);
});

test('only files that match are looked into', async () => {
  await using fixture = await prepared();
  expect(told(await search(fixture, 'find', { include: '*.js' }))).toEqual(['src/b.js:1: find me in b']);
  expect(await search(fixture, 'find', { include: '*.js' })).toMatchObject({ hidden: 1 });
  expect(await search(fixture, 'find', { path: 'src' })).toMatchObject({ hidden: 0 });
  expect(told(await search(fixture, 'find', { include: 'src/*.ts' }))).toEqual(['src/a.ts:2: find me too']);
});

test('FC-37: a line is found whatever bytes it has, and what was not looked into is counted', async () => {
  await using fixture = await prepared();
  const command = `printf 'caf\\351 needle\\n' >latin1; printf '\\377\\376n\\0e\\0' >utf16; mkdir -p node_modules/dep
    echo needle >node_modules/dep/x; : >empty`;
  await fixture.runCommand.run({ sandbox: 'a', command });
  for (const more of [{}, { include: '*' }]) {
    const found = await search(fixture, 'needle', more);
    expect(found.lines.map(({ path, line }) => `${path}:${line}`)).toEqual(['latin1:1']);
    expect(found).toMatchObject({ hidden: 1, binary: 2, filled: 1, unread: 0 });
  }
  const one = await search(fixture, 'n', { path: 'utf16' });
  expect(one).toMatchObject({ lines: [], binary: 1 });
});

test('nothing that is found is no error', async () => {
  await using fixture = await prepared();
  expect(told(await search(fixture, 'nowhere'))).toEqual([]);
});

for (const [code, pattern, more] of [
  ['PATTERN_EMPTY', '', {}],
  ['PATTERN_INVALID', '(', {}],
  ['NOT_FOUND', 'x', { path: 'nothing' }],
  ['PATH_HIDDEN', 'x', { path: '.hidden' }],
  ['NOT_A_REGULAR_FILE', 'x', { path: 'pipe' }],
] as const)
  test(`a search that cannot be is ${code}`, async () => {
    await using fixture = await prepared();
    await fixture.runCommand.run({ sandbox: 'a', command: 'mkfifo pipe' });
    await expect(search(fixture, pattern, more)).rejects.toMatchObject({ code });
  });
