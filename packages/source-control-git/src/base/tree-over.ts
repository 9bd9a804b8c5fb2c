import type { ObjectId } from '@litterbox/core/provider';
import type { ByteString } from '../git/byte-text.ts';
import { listTree } from '../store/list-tree.ts';
import { nulFields } from '../git/nul-fields.ts';
import type { Store } from '../store/store.ts';
import { TAR_END, tarHeader } from '../objects/tar-writer.ts';
import { toLitterboxError } from '../git/to-litterbox-error.ts';
import { objectMissing, pathsUnlike, tarParts, withDirectories } from './tree-archive.ts';
import { isGitlink, isTree } from '../objects/tree-object.ts';

/** Beyond, a whole tree costs little more than what differs. */
const MOST_DIFFERING = 5_000;
const COMPARE = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--ignore-submodules=none'];

/** Of other trees, the one that differs least; undefined when none is known any more, or all differ in more than {@link MOST_DIFFERING} files. */
export async function findNearestTree(
  store: Store,
  tree: ObjectId,
  candidates: readonly ObjectId[],
  signal: AbortSignal | undefined,
): Promise<ObjectId | undefined> {
  let nearest: ObjectId | undefined;
  let least = MOST_DIFFERING + 1;
  for (const candidate of candidates) {
    const differing = await countDiffering(store, tree, candidate, least, signal);
    if (differing >= least) continue;
    least = differing;
    nearest = candidate;
  }
  return nearest;
}

/** At most `limit`, which is also the count of a tree that is not known. */
async function countDiffering(
  store: Store,
  tree: ObjectId,
  other: ObjectId,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  let count = 0;
  try {
    for await (const paths of nulFields(store.stream([...COMPARE, '--end-of-options', other, tree], { signal }))) {
      count += paths.length;
      if (count >= limit) return limit;
    }
    return count;
  } catch {
    signal?.throwIfAborted();
    return limit;
  }
}

/** As `archiveTree`, of what makes another tree into this one when it is laid over it. */
export async function* archiveTreeOver(
  store: Store,
  tree: ObjectId,
  below: ObjectId,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    const near = await pathsUnlike(store, tree, below, signal);
    if (!near) throw objectMissing(below); // all of this tree, laid over that one, would show what only that one has
    for (const name of await hiddenNames(store, tree, below, near, signal))
      yield tarHeader({ type: 'whiteout', name, mode: 0 });
    const only = withDirectories(near);
    yield* tarParts(store, tree, '', { only, near, large: new Map(), timeSeconds: undefined, signal });
    yield TAR_END;
  } catch (error) {
    throw toLitterboxError('tree.read', error, { signal, gitCode: 'OBJECT_MISSING' });
  }
}

/** The topmost names of the tree below that this one has not, in directories that it has. */
async function hiddenNames(
  store: Store,
  tree: ObjectId,
  below: ObjectId,
  differing: ReadonlySet<ByteString>,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<ByteString>> {
  const gone: ByteString[] = [];
  const args = [...COMPARE, '--diff-filter=D', '--end-of-options', below, tree];
  for await (const paths of nulFields(store.stream(args, { signal }))) gone.push(...paths);
  if (gone.length === 0) return new Set();
  const chains = gone.map(pathsTo);
  const asked = new Set(chains.flat());
  // A directory that is a file now, or a submodule, differs itself.
  const near = new Set([...gone, ...[...asked].filter((path) => differing.has(path))]);
  const isDirectory = new Map<ByteString, boolean>();
  if (tree !== store.format.emptyTree)
    for await (const entry of listTree(store, tree, signal, near))
      if (asked.has(entry.path)) isDirectory.set(entry.path, isTree(entry) || isGitlink(entry));
  // What is a file now hides by itself the directory that was there.
  const hidden = chains.map((chain) => chain.find((path) => isDirectory.get(path) !== true));
  return new Set(hidden.filter((path) => path !== undefined && !isDirectory.has(path)) as ByteString[]);
}

/** The directories above a path, from the top, and the path itself. */
function pathsTo(path: ByteString): readonly ByteString[] {
  const parts = path.split('/');
  return parts.map((_part, index) => parts.slice(0, index + 1).join('/'));
}
