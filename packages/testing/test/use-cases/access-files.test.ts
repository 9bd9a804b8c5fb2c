import { expect, test } from '@jest/globals';
import { useCaseFixture } from '../../src/index.ts';
import { inState, made } from '../made.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const read = async (fixture: ReturnType<typeof useCaseFixture>, path: string) =>
  Buffer.from(await fixture.accessFiles.read('a', path)).toString();
const write = (fixture: ReturnType<typeof useCaseFixture>, path: string, content = 'x') =>
  fixture.accessFiles.write({ sandbox: 'a', path, content: bytes(content) });

test('what is written is read back, and is one revision', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const {
    recorded: { revision },
  } = await write(fixture, 'd/e/file', 'a\0b\n%s\\');
  expect(revision?.number).toBe(1);
  expect(await read(fixture, 'd/e/file')).toBe('a\0b\n%s\\');
  expect(await read(fixture, '/src/d/e/file')).toBe('a\0b\n%s\\');
  expect(fixture.subjects('a')).toEqual(['write: d/e/file']);
});

test('a file keeps that it can be executed, and a link leads to what is written', async () => {
  await using fixture = useCaseFixture({ files: [{ path: 'tool', content: 'old', executable: true }] });
  await made(fixture);
  await fixture.runCommand.run({ sandbox: 'a', command: 'ln -s tool link' });
  await write(fixture, 'link', 'new');
  const { stdout } = await fixture.runCommand.run({
    sandbox: 'a',
    command: '[ -x tool ] && [ -h link ] && cat tool',
  });
  expect(Buffer.from(stdout.bytes).toString()).toBe('new');
});

test('who replaces a hidden file is told so', async () => {
  await using fixture = useCaseFixture({ files: [{ path: '.gitignore', content: 'old\n' }] });
  await made(fixture);
  expect((await write(fixture, 'd/.new')).isHiddenReplaced).toBe(false);
  expect((await write(fixture, '.gitignore')).isHiddenReplaced).toBe(true);
  expect((await write(fixture, 'd/new')).isHiddenReplaced).toBe(false);
  expect((await write(fixture, 'd/new', 'y')).isHiddenReplaced).toBe(false);
});

test('a large file goes another way, and arrives whole', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const content = 'x'.repeat(200_000);
  await write(fixture, 'large', content);
  expect(await read(fixture, 'large')).toBe(content);
});

for (const [code, path] of [
  ['NOT_FOUND', 'nothing'],
  ['IS_A_DIRECTORY', 'd'],
  ['NOT_A_DIRECTORY', 'README/x'],
  ['NOT_A_REGULAR_FILE', 'pipe'],
] as const)
  test(`what cannot be read is ${code}: ${path}`, async () => {
    await using fixture = useCaseFixture();
    await made(fixture);
    await fixture.runCommand.run({ sandbox: 'a', command: 'mkdir d; mkfifo pipe' });
    await expect(fixture.accessFiles.read('a', path)).rejects.toMatchObject({ code });
  });

for (const [code, path] of [
  ['IS_A_DIRECTORY', 'd'],
  ['NOT_A_DIRECTORY', 'README/x'],
  ['NOT_A_REGULAR_FILE', 'pipe'],
  ['PATH_GIT_DIR', '.git/config'],
  ['PATH_EMPTY', ''],
] as const)
  test(`what cannot be written is ${code}, and nothing is left half-way: ${path}`, async () => {
    await using fixture = useCaseFixture();
    await made(fixture);
    await fixture.runCommand.run({ sandbox: 'a', command: 'mkdir d; mkfifo pipe' });
    await expect(write(fixture, path)).rejects.toMatchObject({ code });
    const { stdout } = await fixture.runCommand.run({ sandbox: 'a', command: 'ls -A' });
    expect(Buffer.from(stdout.bytes).toString()).toBe('README\nd\npipe\n');
  });

test('more than 64 MiB is FILE_TOO_LARGE before anything is asked', async () => {
  await using fixture = useCaseFixture();
  const content = new Uint8Array(64 * 2 ** 20 + 1);
  const writing = fixture.accessFiles.write({ sandbox: 'nobody', path: 'x', content });
  await expect(writing).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' });
});

test('a read in a sandbox that was deleted meanwhile says that, whatever went wrong', async () => {
  await using fixture = useCaseFixture({
    runtime: (real) => ({
      async spawn(...args) {
        await inState(fixture, 'a', 'deleting');
        return await real.spawn(...args);
      },
    }),
  });
  await made(fixture);
  await expect(fixture.accessFiles.read('a', 'nothing')).rejects.toMatchObject({ code: 'SANDBOX_DELETING' });
});

test('a read takes no lease: it waits for nobody', async () => {
  await using fixture = useCaseFixture();
  const { id } = await made(fixture);
  await using _ = await fixture.state.lease(`sandbox:${id}`, 'run');
  expect(await read(fixture, 'README')).toBe('read me\n');
});

test('FC-25: what a write that was killed left beside its file is removed, and is no change', async () => {
  const fixture = useCaseFixture();
  await made(fixture);
  await write(fixture, 'd/file', 'x');
  fixture.scribble('a', 'd/.litterbox-0123abcd', 'half of');
  fixture.scribble('a', 'd/.litterbox-notes', 'of a person');
  await using next = fixture.restarted();
  await write(next, 'd/file', 'y');
  const { stdout } = await next.runCommand.run({ sandbox: 'a', command: 'ls -A d' });
  expect(Buffer.from(stdout.bytes).toString()).toBe('.litterbox-notes\nfile\n');
  expect(next.subjects('a')).toEqual(['write: d/file', 'recovered: changes found before this call', 'write: d/file']);
});

test('a name of 255 bytes is written like any other', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await write(fixture, 'x'.repeat(255));
  expect(await read(fixture, 'x'.repeat(255))).toBe('x');
});
