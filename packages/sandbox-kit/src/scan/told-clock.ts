import type { ClockMoment } from './clock-mark.ts';

/** Seconds since 1970, with decimals. */
const MOMENT = /^\d{1,12}\.\d{1,12}$/;
/** Seconds, with decimals. */
const SECONDS = /^-?\d{1,12}(?:\.\d{1,12})?$/;
const BOOT_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** Whether a text is a moment that marks are made of: a program inside, or another machine, may have said anything. */
export const isMoment = (text: string): boolean => MOMENT.test(text);

/** The name of a start of a machine; empty for what is none. */
export const bootIdOf = (text: string): string => (BOOT_ID.test(text) ? text : '');

/** Seconds; not a number for what is none, which compares with nothing. */
export const secondsOf = (text: string): number => (SECONDS.test(text) ? Number(text) : Number.NaN);

/** What `T moment seconds-ahead boot-id` tells; nothing where it is none. */
export function toldMoment(text: string): ClockMoment | undefined {
  const [, moment = '', ahead = '', bootId = ''] = text.split(' ');
  if (!isMoment(moment)) return undefined;
  return { moment, bootId: bootIdOf(bootId), aheadSeconds: secondsOf(ahead), isRough: false };
}
