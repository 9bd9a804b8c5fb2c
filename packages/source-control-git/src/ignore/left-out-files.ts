import type { ByteString } from '../git/byte-text.ts';
import { lstatOf } from '../git/on-disk.ts';
import { parentOf } from './ignore-matcher.ts';
import type { PathStep } from '../store/read-diff.ts';
import type { UserRepository } from '../person/user-repository.ts';

/**
 * The paths that a sparse checkout leaves out of the work tree: git's own merge changes them in the index alone. Patterns are not read. A new
 * file is left out with its directory, where none of the tracked files of that is there.
 *
 * @param steps what changes
 * @param records of `ls-files -v -z`: a letter, a blank and a path each
 */
export async function findLeftOutFiles(
  user: UserRepository,
  steps: readonly PathStep[],
  records: readonly string[],
): Promise<ReadonlySet<ByteString>> {
  const skipped = new Set(records.filter((record) => /^[Ss] /.test(record)).map((record) => record.slice(2)));
  const found = new Set<ByteString>();
  if (skipped.size === 0) return found;
  const tracked = records.filter((record) => record !== '').map((record) => record.slice(2));
  const isIn = new Map<ByteString, 'out' | 'in'>();
  for (const path of tracked)
    for (let above = parentOf(path); ; above = parentOf(above)) {
      const isOut = skipped.has(path);
      if (isIn.get(above) === 'in' || (isOut && isIn.has(above))) break;
      isIn.set(above, isOut ? 'out' : 'in');
      if (above === '') break;
    }
  const known = new Set(tracked);
  for (const { path } of steps) {
    const isOut = known.has(path) ? skipped.has(path) : stateAbove(path, isIn) === 'out';
    if (isOut && !(await lstatOf(user.root, path))) found.add(path);
  }
  return found;
}

/** The state of the nearest directory above that has tracked files. */
function stateAbove(path: ByteString, states: ReadonlyMap<ByteString, 'out' | 'in'>): 'out' | 'in' | undefined {
  for (let above = parentOf(path); ; above = parentOf(above)) {
    const state = states.get(above);
    if (state !== undefined || above === '') return state;
  }
}
