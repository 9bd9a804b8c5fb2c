import { expect, test } from '@jest/globals';
import { decodeRaw, readDiff } from '@litterbox/core';
import { useCaseFixture, type UseCaseFixture } from '../../src/index.ts';
import { changed } from '../made.ts';

async function diff(
  fixture: UseCaseFixture,
  more: { readonly sinceSeen?: boolean; readonly paths?: readonly string[]; readonly revision?: string } = {},
) {
  const useCases = [fixture.openRepository, fixture.findSandbox, fixture.lookAtSandbox];
  const get = (useCase: object) => useCases.find((one) => one.constructor === useCase) as never;
  const found = await readDiff.execute({ get }, { sandbox: 'a', ...more });
  let patch = '';
  for await (const bytes of found.patch()) patch += decodeRaw(bytes);
  return {
    isAll: found.since === undefined,
    files: [...patch.matchAll(/^diff --git a\/(\S+)/gm)].map(([, path]) => path),
  };
}

const write = async (fixture: UseCaseFixture, path: string) =>
  void (await fixture.runCommand.run({ sandbox: 'a', command: `echo x >>${path}` }));

test('since a person looked: everything before the first look, the rest after it, nothing when nothing came', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  expect(await diff(fixture, { sinceSeen: true })).toEqual({ isAll: true, files: ['work'] });
  expect(await diff(fixture, { sinceSeen: true })).toEqual({ isAll: false, files: [] });
  await write(fixture, 'later');
  expect(await diff(fixture, { sinceSeen: true })).toEqual({ isAll: false, files: ['later'] });
  expect(await diff(fixture)).toEqual({ isAll: true, files: ['later', 'work'] });
});

test('whoever saw all since they looked has seen all, and their yes stands on it; a part of it is none', async () => {
  await using fixture = useCaseFixture({ answer: false });
  await changed(fixture);
  await diff(fixture);
  await write(fixture, 'later');
  await diff(fixture, { sinceSeen: true, paths: ['work'] });
  const merge = { sandbox: 'a', integration: 'merge' } as const;
  await expect(fixture.integrateChanges.integrate(merge)).rejects.toMatchObject({ code: 'CHANGED_SINCE_SHOWN' });
  await diff(fixture, { sinceSeen: true });
  expect(await fixture.integrateChanges.integrate(merge)).toMatchObject({ outcome: 'committed' });
});

test('one revision since somebody looked is refused', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture);
  await expect(diff(fixture, { sinceSeen: true, revision: '1' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});
