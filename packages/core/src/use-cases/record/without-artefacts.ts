import type { ChangedPath } from '../../domain/paths/changed-path.ts';
import { isWithinAny } from '../../domain/sandbox/included-path.ts';

/**
 * Changes without those of files that came along from the person's working tree: they are not the history's, whatever git ignores. What
 * else a directory holds stays told, since what is missing in it is gone.
 *
 * @param include as `includedPath` has them
 */
export function withoutArtefacts(
  changes: AsyncIterable<ChangedPath>,
  include: readonly string[],
): AsyncIterable<ChangedPath> {
  return include.length === 0 ? changes : filtered(changes, new Set(include));
}

async function* filtered(
  changes: AsyncIterable<ChangedPath>,
  include: ReadonlySet<string>,
): AsyncGenerator<ChangedPath, void, undefined> {
  for await (const change of changes) if (!isWithinAny(change.path, include)) yield change;
}
