import { describe, expect, it } from '@jest/globals';
import { regressions } from './compare-runs.ts';
import type { Run } from './findings.ts';

const runWith = (ratios: Readonly<Record<string, number>>): Run => ({
  mode: 'quick',
  machine: {},
  floors: [],
  absent: [],
  rows: Object.entries(ratios).map(([what, ratio]) => ({
    target: 'P1',
    what,
    unit: 'ms',
    measured: { n: 1, median: ratio, p95: ratio },
    against: 'the floor',
    floor: { n: 1, median: 1, p95: 1 },
    ratio,
  })),
});

describe('comparison of runs', () => {
  it('lets noise and improvements pass', () => {
    expect(regressions(runWith({ create: 2, run: 4 }), [runWith({ create: 2.9, run: 0.5 })])).toEqual([]);
  });

  it('reports a ratio beyond the tolerance', () => {
    const found = regressions(runWith({ create: 2, run: 4 }), [runWith({ create: 3.1, run: 4 })]);
    expect(found).toEqual(['P1 create: 3.1 × the floor; it was 2 ×.']);
  });

  it('counts the best of several runs, row by row', () => {
    const fresh = [runWith({ create: 9, run: 4 }), runWith({ create: 2, run: 40 })];
    expect(regressions(runWith({ create: 2, run: 4 }), fresh)).toEqual([]);
    expect(regressions(runWith({ create: 2, run: 4 }), [...fresh, runWith({ create: 2, run: 40 })])).toEqual([]);
    expect(regressions(runWith({ create: 1, run: 4 }), fresh)).toHaveLength(1);
  });

  it('reports what is not measured any more, and ratios that are no numbers', () => {
    expect(regressions(runWith({ create: 2 }), [runWith({})])).toEqual([
      'P1 create: was measured and is not any more.',
    ]);
    expect(regressions(runWith({ create: 2 }), [runWith({ create: Number.NaN })])).toHaveLength(1);
  });

  it('takes a tolerance of its own', () => {
    expect(regressions(runWith({ create: 2 }), [runWith({ create: 2.5 })], 1.1)).toHaveLength(1);
  });
});
