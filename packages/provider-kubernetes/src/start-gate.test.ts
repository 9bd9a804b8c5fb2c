import { expect, test } from '@jest/globals';
import { StartGate } from './start-gate.ts';

test('few begin at a time, in their order, and one that fails lets the next one in', async () => {
  const gate = new StartGate();
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const all = Array.from({ length: 20 }, (_one, index) =>
    gate
      .through(async () => {
        begun.push(index);
        await new Promise<void>((resolve) => ends.push(resolve));
        if (index % 3 === 0) throw new Error('refused');
      })
      .catch(() => {}),
  );
  for (let round = 0; ends.length > 0; round += 1) {
    expect(ends.length).toBeLessThanOrEqual(8);
    for (const end of ends.splice(0)) end();
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  await Promise.all(all);
  expect(begun).toEqual(Array.from({ length: 20 }, (_one, index) => index));
});
