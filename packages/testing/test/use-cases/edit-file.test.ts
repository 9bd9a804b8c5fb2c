import { expect, test } from '@jest/globals';
import { useCaseFixture, type UseCaseFixture } from '../../src/index.ts';
import { made } from '../made.ts';

async function prepared(): Promise<UseCaseFixture> {
  const fixture = useCaseFixture({
    files: [
      { path: 'README', content: 'one\ntwo\none\n' },
      { path: 'tool', content: 'old\r\nlast', executable: true },
      { path: '.env', content: 'SECRET=1\n' },
    ],
  });
  await made(fixture);
  return fixture;
}

const edit = (fixture: UseCaseFixture, path: string, old: string, fresh: string, isEverywhere = false) =>
  fixture.editFile.edit({ sandbox: 'a', path, old, new: fresh, isEverywhere });

test('an edit changes a file, and is one revision', async () => {
  await using fixture = await prepared();
  const result = await edit(fixture, '/src/README', 'two\n', 'TWO\n');
  expect(result).toMatchObject({ path: 'README', places: 1, lines: [2], recorded: { revision: { number: 1 } } });
  expect(fixture.look('a', 'README')).toBe('one\nTWO\none\n');
  expect(fixture.subjects('a')).toEqual(['edit: /src/README']);
  expect((await fixture.audited()).at(-1)).toBe('sandbox-edit: ok');
});

test('it keeps line ends and that the file can be executed', async () => {
  await using fixture = await prepared();
  expect(await edit(fixture, 'tool', 'old\nlast', 'new\nlast')).toMatchObject({ lineEnds: 'CRLF' });
  const { stdout } = await fixture.runCommand.run({ sandbox: 'a', command: '[ -x tool ] && cat tool' });
  expect(Buffer.from(stdout.bytes).toString()).toBe('new\r\nlast');
});

test('everywhere, when that is asked for', async () => {
  await using fixture = await prepared();
  await expect(edit(fixture, 'README', 'one', '1')).rejects.toMatchObject({ code: 'EDIT_AMBIGUOUS' });
  expect(fixture.look('a', 'README')).toBe('one\ntwo\none\n');
  expect((await edit(fixture, 'README', 'one', '1', true)).places).toBe(2);
  expect(fixture.look('a', 'README')).toBe('1\ntwo\n1\n');
});

test('what a hidden file holds is not told by a refusal, and it can be changed', async () => {
  await using fixture = await prepared();
  const error: unknown = await edit(fixture, '.env', 'TOKEN', 'x').catch((cause: unknown) => cause);
  expect(error).toMatchObject({ code: 'EDIT_NOT_FOUND' });
  expect(String(error)).not.toContain('SECRET');
  await edit(fixture, '.env', '=1', '=2');
  expect(fixture.look('a', '.env')).toBe('SECRET=2\n');
});

for (const [code, path] of [
  ['NOT_FOUND', 'nothing'],
  ['IS_A_DIRECTORY', 'd'],
  ['NOT_A_REGULAR_FILE', 'pipe'],
] as const)
  test(`what cannot be edited is ${code}, and nothing is recorded`, async () => {
    await using fixture = await prepared();
    await fixture.runCommand.run({ sandbox: 'a', command: 'mkdir d; mkfifo pipe' });
    await expect(edit(fixture, path, 'a', 'b')).rejects.toMatchObject({ code });
    expect(fixture.subjects('a')).toEqual([]);
  });

for (const [code, path, old] of [
  ['EDIT_EMPTY', 'README', ''],
  ['EDIT_EMPTY', 'README', 'same'],
  ['PATH_GIT_DIR', '.git/config', 'x'],
  ['PATH_EMPTY', '', 'x'],
] as const)
  test(`an edit that cannot be is ${code} before anything is done`, async () => {
    await using fixture = await prepared();
    await expect(edit(fixture, path, old, 'same')).rejects.toMatchObject({ code });
    expect(await fixture.audited()).toEqual(['sandbox-create: ok']);
  });
