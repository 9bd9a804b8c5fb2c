import { expect, test } from '@jest/globals';
import { useCaseFixture } from '../../src/index.ts';
import { changed, made } from '../made.ts';

const refusal = async (call: Promise<unknown>): Promise<unknown> =>
  await call.then(
    () => 'done',
    (error: unknown) => error,
  );

test('a name that no sandbox ever had is told with those that there are', async () => {
  await using fixture = useCaseFixture();
  await made(fixture, 'b');
  expect(await refusal(fixture.findSandbox.find('a'))).toMatchObject({
    code: 'SANDBOX_NOT_FOUND',
    message: 'There is no sandbox "a" in this repository.',
    details: { hint: 'There are: b.' },
  });
});

test('one that was merged says by whom, when and into what, and names no other', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  await made(fixture, 'b');
  await fixture.integrateChanges.integrate({ sandbox: 'a', integration: 'merge' });
  const error = await refusal(fixture.findSandbox.find('A'));
  expect(error).toMatchObject({
    code: 'SANDBOX_NOT_FOUND',
    message: expect.stringMatching(
      /^The sandbox "a" was merged into "main" on \d{4}-\d\d-\d\d at \d\d:\d\d UTC \(by test\)\.$/,
    ),
    details: {
      hint: 'Its work is over. To start something new: create().',
      facts: { end: 'merged', actor: 'test' },
    },
  });
});

test('one that was deleted says so, until there is another one of that name', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await fixture.deleteSandbox.delete('a', {});
  expect(await refusal(fixture.findSandbox.find('a'))).toMatchObject({
    message: expect.stringContaining('was deleted on '),
    details: { facts: { end: 'deleted' } },
  });
  const { id } = await made(fixture);
  expect((await fixture.findSandbox.find('a')).id).toBe(id);
});

test('where the audit log cannot be read, the names are told', async () => {
  await using fixture = useCaseFixture({ audit: { entries: () => Promise.reject(new Error('no')) } });
  await made(fixture);
  await fixture.deleteSandbox.delete('a', {});
  expect(await refusal(fixture.findSandbox.find('a'))).toMatchObject({ code: 'SANDBOX_NOT_FOUND' });
});
