import { expect, test } from '@jest/globals';
import { useCaseFixture, type UseCaseFixture } from '../../src/index.ts';
import { made } from '../made.ts';

const history = async (fixture: UseCaseFixture, quietCalls: boolean, limit?: number) =>
  (await fixture.readHistory.read('a', { quietCalls, limit })).map((entry) =>
    entry.type === 'revision'
      ? `${entry.number}: ${entry.subject}`
      : `call: ${entry.subject} ${entry.exitCode ?? ''}`.trim(),
  );

async function prepared(): Promise<UseCaseFixture> {
  const fixture = useCaseFixture();
  await made(fixture);
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo 1 >file' });
  await fixture.runCommand.run({ sandbox: 'a', command: 'exit 3' });
  await fixture.runCommand.run({ sandbox: 'a', command: 'echo 2 >file' });
  await fixture.runCommand.run({ sandbox: 'a', command: 'true' });
  return fixture;
}

test('the revisions, newest first', async () => {
  await using fixture = await prepared();
  expect(await history(fixture, false)).toEqual(['2: run: echo 2 >file', '1: run: echo 1 >file']);
  expect(await history(fixture, false, 1)).toEqual(['2: run: echo 2 >file']);
});

test('calls that changed nothing stand between them, with how they ended', async () => {
  await using fixture = await prepared();
  expect(await history(fixture, true)).toEqual([
    'call: true 0',
    '2: run: echo 2 >file',
    'call: exit 3 3',
    '1: run: echo 1 >file',
  ]);
  expect(await history(fixture, true, 2)).toEqual(['call: true 0', '2: run: echo 2 >file']);
});

test('what only looked into the sandbox takes no place of a call', async () => {
  await using fixture = await prepared();
  for (let looked = 0; looked < 3; looked += 1) await fixture.accessFiles.read('a', 'file');
  expect(await history(fixture, true, 1)).toEqual(['call: true 0']);
});

test('an edit and a patch that changed nothing are calls too', async () => {
  await using fixture = await prepared();
  const diff = '@@ -1 +1 @@\n-1\n+2\n';
  await fixture.patchFile.patch({ sandbox: 'a', path: 'file', diff });
  expect((await history(fixture, true))[0]).toBe('call: file');
});

test('what was recovered stands where its time says, above calls that are older', async () => {
  const fixture = await prepared();
  fixture.scribble('a', 'left', 'x');
  await using next = fixture.restarted();
  await next.runCommand.run({ sandbox: 'a', command: 'exit 4' });
  const recovered = '3: recovered: changes found before this call';
  const told = await history(next, true);
  expect(told.slice(0, 2).sort()).toEqual([recovered, 'call: exit 4 4']);
  expect(told.slice(2)).toEqual(['call: true 0', '2: run: echo 2 >file', 'call: exit 3 3', '1: run: echo 1 >file']);
});

test('one that is not there is SANDBOX_NOT_FOUND', async () => {
  await using fixture = useCaseFixture();
  await expect(fixture.readHistory.read('a', { quietCalls: true })).rejects.toMatchObject({
    code: 'SANDBOX_NOT_FOUND',
  });
});
