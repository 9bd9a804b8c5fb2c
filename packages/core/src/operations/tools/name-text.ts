import { visible } from '../../domain/visible.ts';

/** The name of a file on one line, whatever characters it has. */
export function nameText(path: string): string {
  return visible(path).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}
