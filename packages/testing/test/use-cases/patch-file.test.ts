import { expect, test } from '@jest/globals';
import { useCaseFixture, type UseCaseFixture } from '../../src/index.ts';
import { made } from '../made.ts';

const patch = (fixture: UseCaseFixture, diff: string, path = 'README') =>
  fixture.patchFile.patch({ sandbox: 'a', path, diff });
const CHANGE = '--- a/README\n+++ b/README\n@@ -1 +1 @@\n-read me\n+changed\n';
const NEW = '--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+hello\n';
const GONE = '--- a/README\n+++ /dev/null\n@@ -1 +0,0 @@\n-read me\n';

async function prepared(): Promise<UseCaseFixture> {
  const fixture = useCaseFixture();
  await made(fixture);
  return fixture;
}

test('a patch changes a file, and is one revision', async () => {
  await using fixture = await prepared();
  const result = await patch(fixture, CHANGE);
  expect(result.outcome).toBe('modified');
  expect(result.addedLines).toBe(1);
  expect(result.removedLines).toBe(1);
  expect(fixture.look('a', 'README')).toBe('changed\n');
  expect(fixture.subjects('a')).toEqual(['patch: README']);
});

test('a patch makes a file, and takes one away', async () => {
  await using fixture = await prepared();
  expect((await patch(fixture, NEW, 'new')).outcome).toBe('created');
  expect(fixture.look('a', 'new')).toBe('hello\n');
  expect((await patch(fixture, GONE)).outcome).toBe('deleted');
  expect(fixture.look('a', 'README')).toBeUndefined();
});

test('one that is applied already changes nothing', async () => {
  await using fixture = await prepared();
  await patch(fixture, CHANGE);
  expect((await patch(fixture, CHANGE)).outcome).toBe('already-applied');
  expect(fixture.subjects('a')).toHaveLength(1);
});

test('one that does not fit is PATCH_CONFLICT, and the file stays', async () => {
  await using fixture = await prepared();
  await expect(patch(fixture, CHANGE.replace('-read me', '-other'))).rejects.toMatchObject({ code: 'PATCH_CONFLICT' });
  expect(fixture.look('a', 'README')).toBe('read me\n');
});

test('what a hidden file holds is not told by a conflict', async () => {
  const fixture = useCaseFixture({ files: [{ path: '.env', content: 'SECRET=1\n' }] });
  await made(fixture);
  const diff = '--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-x\n+y\n';
  const error: unknown = await patch(fixture, diff, '.env').catch((cause: unknown) => cause);
  expect(error).toMatchObject({ code: 'PATCH_CONFLICT' });
  expect(String(error)).not.toContain('SECRET');
});

const codex = (body: string) => `*** Begin Patch\n${body}*** End Patch\n`;

test('what was forgiven is told', async () => {
  await using fixture = await prepared();
  const result = await patch(fixture, `\`\`\`diff\n${CHANGE.replace('-1 +1', '-1,9 +1,9')}\`\`\``);
  expect(result.notes).toEqual([
    'the fence around the patch was left out',
    'the counts in the header of hunk 1 were wrong; the lines were counted instead',
  ]);
  expect(fixture.look('a', 'README')).toBe('changed\n');
});

test('a patch of Codex makes, changes and takes away', async () => {
  await using fixture = await prepared();
  await patch(fixture, codex('*** Update File: README\n@@\n-read me\n+changed\n'));
  expect(fixture.look('a', 'README')).toBe('changed\n');
  expect((await patch(fixture, codex('*** Add File: d/new\n+new\n'), 'd/new')).outcome).toBe('created');
  expect((await patch(fixture, codex('*** Delete File: README\n'))).outcome).toBe('deleted');
  expect(fixture.look('a', 'README')).toBeUndefined();
  expect(fixture.look('a', 'd/new')).toBe('new\n');
});

const MOVE = '*** Update File: README\n*** Move to: d/moved\n@@\n-read me\n+changed\n';

test('a patch of Codex moves a file, which stays executable, in one revision', async () => {
  await using fixture = useCaseFixture({ files: [{ path: 'README', content: 'read me\n', executable: true }] });
  await made(fixture);
  expect(await patch(fixture, codex(MOVE))).toMatchObject({ outcome: 'moved', path: 'README', movedTo: 'd/moved' });
  expect(fixture.look('a', 'README')).toBeUndefined();
  const { exit } = await fixture.runCommand.run({ sandbox: 'a', command: '[ -x d/moved ]' });
  expect(exit.code).toBe(0);
  expect(fixture.look('a', 'd/moved')).toBe('changed\n');
  expect(fixture.subjects('a')).toEqual(['patch: README']);
});

test('it is moved over nothing, and nowhere that nothing may be written', async () => {
  await using fixture = await prepared();
  fixture.scribble('a', 'd/moved', 'x');
  await expect(patch(fixture, codex(MOVE))).rejects.toMatchObject({ code: 'PATCH_CONFLICT' });
  expect(fixture.look('a', 'd/moved')).toBe('x');
  expect(fixture.look('a', 'README')).toBe('read me\n');
  const intoGit = codex(MOVE.replace('d/moved', '.git/hooks/x'));
  await expect(patch(fixture, intoGit)).rejects.toMatchObject({ code: 'PATH_GIT_DIR' });
});

for (const [code, diff, path] of [
  ['PATCH_CORRUPT', 'no diff', 'README'],
  ['PATCH_PATH_MISMATCH', CHANGE, 'other'],
  ['PATH_GIT_DIR', CHANGE, '.git/config'],
] as const)
  test(`a patch that cannot be is ${code} before anything is done`, async () => {
    await using fixture = await prepared();
    await expect(patch(fixture, diff, path)).rejects.toMatchObject({ code });
    expect(await fixture.audited()).toEqual(['sandbox-create: ok']);
  });
