import { expect, test } from '@jest/globals';
import { useCaseFixture } from '../../src/index.ts';
import { changed, inState, made } from '../made.ts';

test('sandboxes that conflict with each other and with the branch are named, and nothing is merged', async () => {
  await using fixture = useCaseFixture();
  await changed(fixture, 'a');
  await made(fixture, 'b');
  await fixture.runCommand.run({ sandbox: 'b', command: 'echo other >work' });
  await changed(fixture, 'c'); // the same as in a
  await made(fixture, 'idle');
  expect(await fixture.forecastMerges.forecast()).toEqual({
    conflicts: [
      { sandbox: 'a', other: 'b', paths: ['work'] },
      { sandbox: 'b', other: 'c', paths: ['work'] },
    ],
    compared: ['a', 'b', 'c', 'idle'],
    leftOut: 0,
    untried: 0,
  });
  await inState(fixture, 'b', 'deleting');
  expect((await fixture.forecastMerges.forecast()).conflicts).toEqual([]);
  expect(fixture.person.read('work')).toBeUndefined();
});

test('of many sandboxes the newest are compared, and the others counted', async () => {
  const asked: number[] = [];
  await using fixture = useCaseFixture({
    repository: {
      forecast: async (ids) => {
        asked.push(ids.length);
        return { conflicts: [], untried: 7 };
      },
    },
    state: {
      list: async () =>
        Array.from(
          { length: 45 },
          (_none, number) => ({ id: `${number}`, slug: `s${number}`, state: 'ready' }) as never,
        ),
    },
  });
  const { compared, leftOut, untried } = await fixture.forecastMerges.forecast();
  expect({ asked, newest: compared.at(-1), leftOut, untried }).toEqual({
    asked: [40],
    newest: 's44',
    leftOut: 5,
    untried: 7,
  });
});
