import { expect, it } from '@jest/globals';
import { computeLines, timeText } from './cost.ts';

it('says how long calls took and what is in use, as far as that is known', () => {
  expect(computeLines({ calls: 1, callMs: 1_234, untimed: 0 })).toEqual(['1 call took 1.2 s']);
  expect(
    computeLines({
      calls: 12,
      callMs: 7_500_000,
      untimed: 2,
      now: { memoryBytes: 3 * 2 ** 20, processes: 1, cpuMs: 150_000, diskBytes: 512 },
    }),
  ).toEqual([
    '10 calls took 2.1 h, and 2 more of which nobody knows the time',
    '2.5 min of processor time',
    'now: 3.0 MiB of memory, 1 process, 512 B of disk',
  ]);
  expect(computeLines({ calls: 1, callMs: 0, untimed: 0, now: { cpuMs: 100, isCpuLeast: true } })).toEqual([
    '1 call took 0.0 s',
    'at least 0.1 s of processor time',
  ]);
  expect([0, 119_999, 120_000, 36_000_000].map(timeText)).toEqual(['0.0 s', '120 s', '2.0 min', '10 h']);
});
