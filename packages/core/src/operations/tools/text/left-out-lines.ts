import type { LeftOut } from '../../../inside/walk-files.ts';

/**
 * Says what was not looked at, so that nobody takes it for missing; empty when that was nothing.
 *
 * @param isNothing nothing was found: then what tools filled is named too, which is left out of every answer
 */
export function leftOutLines({ hidden, filled, unread, binary = 0 }: LeftOut, isNothing: boolean): readonly string[] {
  const said = (count: number, one: string, many: string, more = '') =>
    count === 0 ? [] : [`[${count} ${count === 1 ? one : many} left out${more}]`];
  return [
    ...said(hidden, 'hidden name', 'hidden names'),
    ...said(
      binary,
      'file that is not text',
      'files that are not text',
      binary === 1 ? '; bash with grep -a searches it' : '; bash with grep -a searches them',
    ),
    ...said(unread, 'unreadable name', 'unreadable names'),
    ...(isNothing
      ? said(filled, 'node_modules or __pycache__', 'node_modules and __pycache__', '; path can name one')
      : []),
  ];
}
