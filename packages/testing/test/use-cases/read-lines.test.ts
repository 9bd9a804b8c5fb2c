import { expect, test } from '@jest/globals';
import { useCaseFixture, type UseCaseFixture } from '../../src/index.ts';
import { made } from '../made.ts';

async function prepared(content: string): Promise<UseCaseFixture> {
  const fixture = useCaseFixture({
    files: [
      { path: 'file', content },
      { path: '.env', content: 'SECRET' },
    ],
  });
  await made(fixture);
  return fixture;
}

const read = async (fixture: UseCaseFixture, offset: number, limit: number, path = 'file') =>
  await fixture.readLines.read({ sandbox: 'a', path, offset, limit });
const text = ({ bytes }: { bytes: Uint8Array }) => Buffer.from(bytes).toString();

test('some lines, and how much there is around them', async () => {
  await using fixture = await prepared('one\ntwo\nthree\nfour');
  const slice = await read(fixture, 1, 2);
  expect(text(slice)).toBe('two\nthree\n');
  expect(slice.lines).toBe(2);
  expect(slice.fileLines).toBe(4);
  expect(slice.fileBytes).toBe(18);
  expect(slice.hasMore).toBe(true);
  expect(slice.isLineCut).toBe(false);
});

test('the end, a last line without its newline, and what lies behind it', async () => {
  await using fixture = await prepared('one\ntwo');
  const last = await read(fixture, 1, 10);
  expect(text(last)).toBe('two');
  expect(last.hasMore).toBe(false);
  const behind = await read(fixture, 9, 10);
  expect(behind.lines).toBe(0);
});

test('FC-23: a path of the person that leads elsewhere is told where the workspace is', async () => {
  await using fixture = useCaseFixture({ files: [{ path: 'file', content: 'one\n' }] });
  const { workdir } = await made(fixture);
  const refused = {
    code: 'NOT_FOUND',
    details: { hint: expect.stringContaining(`The workspace is ${JSON.stringify(workdir)}`) },
  };
  await expect(read(fixture, 0, 1, '/home/me/link/file')).rejects.toMatchObject(refused);
  await expect(
    fixture.listFiles.list({ sandbox: 'a', path: '/home/me/link', isRecursive: false }),
  ).rejects.toMatchObject(refused);
  await expect(read(fixture, 0, 1, 'nothing')).rejects.toMatchObject({
    details: { hint: expect.stringContaining('ls') },
  });
});

test('an empty file has no lines', async () => {
  await using fixture = await prepared('');
  const slice = await read(fixture, 0, 10);
  expect(slice.lines).toBe(0);
  expect(slice.fileLines).toBe(0);
});

test('a line that is longer than an answer is cut, and says so', async () => {
  await using fixture = await prepared('x'.repeat(200_000));
  const slice = await read(fixture, 0, 1);
  expect(slice.bytes.length).toBe(128 * 1024);
  expect(slice.isLineCut).toBe(true);
});

test('a large file is read in part', async () => {
  await using fixture = await prepared('0123456789\n'.repeat(60_000));
  const slice = await read(fixture, 50_000, 2);
  expect(text(slice)).toBe('0123456789\n0123456789\n');
  expect(slice.fileLines).toBe(60_000);
  expect(slice.fileBytes).toBe(660_000);
  expect(slice.hasMore).toBe(true);
});

for (const [code, path] of [
  ['PATH_HIDDEN', '.env'],
  ['NOT_FOUND', 'nothing'],
  ['IS_A_DIRECTORY', '.'],
  ['NOT_A_DIRECTORY', 'file/x'],
] as const)
  test(`what cannot be read is ${code}, and is audited`, async () => {
    await using fixture = await prepared('x');
    await expect(read(fixture, 0, 1, path)).rejects.toMatchObject({ code });
    expect((await fixture.audited()).at(-1)).toBe('sandbox-read: error');
  });
