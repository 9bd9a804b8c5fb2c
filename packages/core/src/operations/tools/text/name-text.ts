import { visibleName } from '../../../domain/text/visible.ts';

/** The name of a file on one line, whatever characters it has, and whole: a program names it again. */
export function nameText(path: string): string {
  return visibleName(path, Number.POSITIVE_INFINITY);
}
