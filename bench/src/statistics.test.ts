import { describe, expect, it } from '@jest/globals';
import { quantile, rounded, summaryOf } from './statistics.ts';

describe('statistics', () => {
  it('takes the middle sample, or the mean of the two middle ones, in any order of samples', () => {
    expect(summaryOf([9, 1, 5]).median).toBe(5);
    expect(summaryOf([4, 1, 3, 2]).median).toBe(2.5);
    expect(summaryOf([7])).toEqual({ n: 1, median: 7, p95: 7 });
  });

  it('does not let one outlier move the median, and shows it in the 95th percentile', () => {
    const samples = [...Array.from({ length: 19 }, () => 1), 1000];
    expect(summaryOf(samples).median).toBe(1);
    expect(summaryOf(samples).p95).toBeCloseTo(50.95);
  });

  it('interpolates between neighbours', () => {
    expect(quantile([0, 10], 0.95)).toBe(9.5);
    expect(quantile([1, 2, 3, 4, 5], 0)).toBe(1);
    expect(quantile([1, 2, 3, 4, 5], 1)).toBe(5);
  });

  it('leaves the samples as they are and refuses to summarise none', () => {
    const samples = [3, 1, 2];
    summaryOf(samples);
    expect(samples).toEqual([3, 1, 2]);
    expect(() => summaryOf([])).toThrow(RangeError);
  });

  it('keeps three digits', () => {
    expect({ firstRounded: rounded(1234.5), secondRounded: rounded(0.012345), thirdRounded: rounded(0) }).toEqual({
      firstRounded: 1230,
      secondRounded: 0.0123,
      thirdRounded: 0,
    });
  });
});
