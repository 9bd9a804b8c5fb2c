import { describe, expect, it } from '@jest/globals';
import { clockMark, type ClockMoment, isComparable, momentOf } from './clock-mark.ts';

const NOW: ClockMoment = { moment: '1700000100.5', bootId: 'one', aheadSeconds: 1_699_990_000.25, isRough: false };
const mark = (was: Partial<ClockMoment>) => clockMark({ ...NOW, moment: '1700000000.123456789', ...was });

describe('a mark of a clock', () => {
  it('gives its moment back', () => {
    expect(momentOf(mark({}))).toBe('1700000000.123456789');
  });

  it.each<[what: string, was: Partial<ClockMoment>, expected: boolean]>([
    ['made by the same clock', {}, true],
    ['of another machine, or of another start of this one', { bootId: 'two' }, false],
    ['of a moment that has not come yet', { moment: '1700000100.6' }, false],
    [
      'of a clock that somebody set back by a second and that has caught up since',
      { aheadSeconds: 1_699_990_001.25 },
      false,
    ],
    ['of a clock that somebody set back by a tenth of a second', { aheadSeconds: 1_699_990_000.35 }, false],
    ['of a clock that was set forward', { aheadSeconds: 1_699_980_000 }, true],
    ['of a clock that is slowed down', { aheadSeconds: 1_699_990_000.28 }, true],
    ['read roughly, a tenth of a second apart', { aheadSeconds: 1_699_990_000.35, isRough: true }, true],
    [
      'read roughly, of a clock that was set back by a second',
      { aheadSeconds: 1_699_990_001.25, isRough: true },
      false,
    ],
  ])('%s', (_what, was, expected) => {
    expect(isComparable(mark(was), NOW)).toBe(expected);
  });

  it('of an earlier release names no clock, so nothing can be compared with it', () => {
    expect(isComparable('1700000000.123456789', NOW)).toBe(false);
  });
});
