import { expect, it } from '@jest/globals';
import { runModel, seedOfRun } from '../../src/index.ts';

const SECONDS = 60;

it('four processes, killed and frozen at random for a minute: nothing acknowledged is lost, doubled, reordered or left behind', async () => {
  const { problems, calls, counts } = await runModel({
    seed: seedOfRun(),
    seconds: SECONDS,
    processes: 4,
    sandboxes: 4,
    nemesis: true,
  });
  expect({ problems, counts }).toEqual({ problems: [], counts });
  // It tried what it should.
  expect(calls.length).toBeGreaterThan(150);
  expect(counts).toMatchObject({
    kills: expect.any(Number),
    freezes: expect.any(Number),
    'merge ok': expect.any(Number),
  });
}, 600_000);

it('twenty processes on one repository: every call ends, and the history is one that a single process could have made', async () => {
  const { problems, calls, counts } = await runModel({
    seed: seedOfRun() + 1,
    seconds: 15,
    processes: 20,
    sandboxes: 5,
    nemesis: false,
  });
  expect({ problems, counts }).toEqual({ problems: [], counts });
  expect(new Set(calls.map(({ worker }) => worker)).size).toBeGreaterThanOrEqual(20);
}, 600_000);
