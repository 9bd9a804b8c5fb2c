import type { ChangeMark } from '@litterbox/core/provider';

/** A moment of the clock that a kernel takes change times from, and which clock that is. */
export interface ClockMoment {
  /** Seconds since 1970 with nine decimals. */
  readonly moment: string;
  /** Content of `/proc/sys/kernel/random/boot_id`: another machine, or another start of this one, has another. Empty where it cannot be read. */
  readonly bootId: string;
  /** How far the clock is ahead of the time since the machine was started, in seconds: less than before once somebody sets it back. */
  readonly aheadSeconds: number;
  /** The two clocks were read by different programs, one after the other. */
  readonly isRough: boolean;
}

/**
 * How much further back a clock may be than it was, in seconds: what reading two clocks one after the other makes of it, and what a clock
 * loses that is slowed down until it is right. Beyond that somebody has set it back.
 */
const MOST_SECONDS_BACK = { exact: 0.05, rough: 0.5 };
const ROUGH = '~';

/** The mark that a runtime gives away: `moment boot-id seconds-ahead`, the last with a `~` where it is rough. */
export function clockMark({ moment, bootId, aheadSeconds, isRough }: ClockMoment): ChangeMark {
  return `${moment} ${bootId} ${isRough ? ROUGH : ''}${aheadSeconds.toFixed(3)}`;
}

/** The moment of a mark, as the look at the trees wants it. */
export function momentOf(mark: ChangeMark): string {
  const end = mark.indexOf(' ');
  return end === -1 ? mark : mark.slice(0, end);
}

/**
 * Whether change times can be compared with a mark now: it was made by this clock, and nobody has set that back since. Otherwise what has
 * changed may carry a time before the mark, which once the clock has caught up nobody would see.
 */
export function isComparable(mark: ChangeMark, now: ClockMoment): boolean {
  const [moment = '', bootId, ahead = ''] = mark.split(' ');
  if (bootId !== now.bootId) return false; // or it is of an earlier release, which said nothing of its clock
  const isBack = nanosecondsOf(now.moment) < nanosecondsOf(moment);
  const isRough = now.isRough || ahead.startsWith(ROUGH);
  const secondsBack = Number(ahead.replace(ROUGH, '')) - now.aheadSeconds;
  return !isBack && secondsBack <= (isRough ? MOST_SECONDS_BACK.rough : MOST_SECONDS_BACK.exact);
}

/** @param moment seconds, with decimals or without */
export function nanosecondsOf(moment: string): bigint {
  const [seconds = '0', fraction = ''] = moment.split('.');
  return BigInt(seconds) * 1_000_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, '0'));
}
