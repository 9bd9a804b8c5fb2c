import { type Progress, visible } from '@litterbox/core';

/** A step takes so long before its seconds are shown. */
const PATIENCE_MS = 2_000;

/** One line that fits the terminal, so that it can be written over: what is done, for how long, and what was printed last. */
export function progressLine(
  { message, detail }: Pick<Progress, 'message' | 'detail'>,
  tookMs: number,
  columns: number,
): string {
  const seconds = tookMs < PATIENCE_MS ? '' : ` ${Math.floor(tookMs / 1000)} s`;
  const printed = detail === undefined ? '' : `  ${oneLine(detail)}`;
  const room = columns - 1 - ' …'.length - seconds.length; // the last column would begin a new line on some terminals
  const step = cut(oneLine(message), printed === '' ? room : Math.floor(room / 2));
  const begun = step.endsWith('…') ? step : `${step} …`;
  return `${begun}${seconds}${cut(printed, room - step.length)}`;
}

const oneLine = (text: string): string => visible(text.replace(/\s+/g, ' '));

const cut = (text: string, length: number): string =>
  text.length <= length ? text : length < 4 ? '' : `${text.slice(0, length - 1)}…`;
