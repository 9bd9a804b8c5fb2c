import { type RestoreResult, visibleName } from '@litterbox/core';

/** The first three files that could not be recorded, for the middle of a sentence. */
export function unrecordedNames({ paths, total }: NonNullable<RestoreResult['unrecorded']>): string {
  const names = paths.slice(0, 3).map((path) => (path === '' ? 'the workspace itself' : visibleName(path)));
  return `${names.join(', ')}${total > names.length ? ' …' : ''}`;
}
