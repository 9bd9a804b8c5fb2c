import type { HalfRename, ObjectId } from '@litterbox/core/provider';
import { type ByteString, fromByteString } from '../git/byte-text.ts';
import { nulFields } from '../git/nul-fields.ts';
import { compareTrees, PLAIN } from '../store/read-diff.ts';
import type { Store } from '../store/store.ts';

/**
 * Files that the sandbox renamed and of which some paths have one name alone: with the new one the file is there twice, with the old one it
 * is gone.
 */
export async function halfRenames(
  store: Store,
  from: ObjectId,
  to: ObjectId,
  paths: readonly string[],
  signal: AbortSignal | undefined,
): Promise<readonly HalfRename[]> {
  const taken = new Set((await compareTrees(store, [from, to], { paths, signal })).map(({ path }) => path));
  const args = ['diff-tree', '-r', '-z', '-M', '--name-status', '--diff-filter=R', ...PLAIN, from, to];
  const fields: ByteString[] = [];
  for await (const some of nulFields(store.stream(args, { signal }))) fields.push(...some);
  const found: HalfRename[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [was = '', is = ''] = fields.slice(at + 1, at + 3).map(fromByteString);
    if (taken.has(was) !== taken.has(is)) found.push({ from: was, to: is, taken: taken.has(is) ? 'to' : 'from' });
  }
  return found;
}
