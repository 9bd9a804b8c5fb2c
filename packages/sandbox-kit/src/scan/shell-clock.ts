import type { ChangeMark } from '@litterbox/core/provider';
import { clockMark, type ClockMoment, nanosecondsOf } from './clock-mark.ts';
import { bootIdOf, secondsOf } from './told-clock.ts';

/** Shell text: prints `B`, the seconds since the machine was started, the name of that start, and NUL. Builtins alone. */
export const TELL_CLOCK = `lb_boot= lb_up=
read -r lb_boot </proc/sys/kernel/random/boot_id
read -r lb_up lb_rest </proc/uptime
printf 'B %s %s\\0' "$lb_up" "$lb_boot"`;

/** As {@link TELL_CLOCK} tells it. */
export interface ShellClock {
  readonly bootId: string;
  readonly upSeconds: number;
}

/** Nothing of it is known. */
export const UNKNOWN_CLOCK: ShellClock = { bootId: '', upSeconds: 0 };

/** Reads what a program inside told. */
export function clockOf(text: string): ShellClock {
  const [, up = '', bootId = ''] = text.split(' ');
  return { bootId: bootIdOf(bootId), upSeconds: secondsOf(up) };
}

/** A moment, and the clock it is of. */
export function clockMoment(moment: string, { bootId, upSeconds }: ShellClock): ClockMoment {
  return { moment, bootId, aheadSeconds: Number(moment) - upSeconds, isRough: true };
}

/** Seconds with nine decimals, of a date and a time in UTC as `stat` prints them. */
export function secondsOfDate(date: string, time: string): string {
  const [clock = '', fraction = ''] = time.split('.');
  const seconds = Date.parse(`${date}T${clock}Z`) / 1000;
  return `${Number.isNaN(seconds) ? 0 : seconds}.${fraction.slice(0, 9).padEnd(9, '0')}`;
}

/** `find` compares strictly, and a change in the same tick of the kernel's clock carries the same time. */
export function justBefore(moment: string): string {
  const text = (nanosecondsOf(moment) - 1n).toString().padStart(10, '0');
  return `${text.slice(0, -9)}.${text.slice(-9)}`;
}

/** Shell text that tells a moment of the clock that change times are taken from, for {@link markOf}. It looks at nothing. */
export const MARK_SCRIPT = `${TELL_CLOCK}; stat -c %z /proc/self/fdinfo`;

/** Reads the output of {@link MARK_SCRIPT}; undefined where its `stat` is another one. */
export function markOf(output: string): ChangeMark | undefined {
  const [clock = '', time = ''] = output.split('\0');
  const [, date, hours] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?) [+-]0000\n$/.exec(time) ?? [];
  const { bootId, upSeconds } = clockOf(clock);
  if (date === undefined || hours === undefined || bootId === '' || Number.isNaN(upSeconds)) return undefined;
  return clockMark(clockMoment(justBefore(secondsOfDate(date, hours)), { bootId, upSeconds }));
}
