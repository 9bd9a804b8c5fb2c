import { expect, it } from '@jest/globals';
import { countPoints, OPERATIONS, seededRandom, sweepPoint } from '../../src/index.ts';

const SAMPLES = 2;
const random = seededRandom(12);

// More points: the parts `sweep-…` of npm run test:deep, and npm run test:sweep for all of them.
it.each(OPERATIONS.map((operation) => [operation.name, operation] as const))(
  'killed at a call of the kernel, anywhere: %s is done or undone by one reconcile, and works when it is said again',
  async (name, operation) => {
    const points = await countPoints(operation);
    expect(points).toBeGreaterThan(20);
    for (let sample = 0; sample < SAMPLES; sample++) {
      const death = await sweepPoint(operation, 1 + random.below(points));
      expect({ name, death }).toMatchObject({ name });
    }
  },
);
