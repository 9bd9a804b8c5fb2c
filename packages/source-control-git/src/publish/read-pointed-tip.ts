import type { ObjectId, Revision, SandboxId } from '@litterbox/core/provider';
import { serializeCommit } from '../objects/commit-object.ts';
import { LargeFilePointers } from '../large-files/point-large-files.ts';
import { readTip } from '../store/sandbox-refs.ts';
import type { Store } from '../store/store.ts';
import type { UserRepository } from '../person/user-repository.ts';

/** The last revision of a sandbox as the person's repository gets it. */
export interface PointedTip {
  readonly recorded: Revision;
  /** With pointers in the place of large files; its tree is the recorded one where there are none. */
  readonly tip: Revision;
  readonly pointers: LargeFilePointers;
}

/** @param base the tree that the sandbox began with */
export async function readPointedTip(
  store: Store,
  user: UserRepository,
  id: SandboxId,
  base: ObjectId,
  signal: AbortSignal | undefined,
): Promise<PointedTip> {
  const pointers = new LargeFilePointers(store, user, base, signal);
  const recorded = await readTip(store, id);
  return { recorded, tip: { ...recorded, tree: await pointers.in(recorded.tree) }, pointers };
}

/** A commit of a revision's tree with pointers: the revision itself where it has no large files. */
export async function pointedCommit(store: Store, revision: ObjectId, pointers: LargeFilePointers): Promise<ObjectId> {
  const recorded = await store.commitTree(revision);
  const tree = await pointers.in(recorded);
  if (tree === recorded) return revision;
  const commit = serializeCommit({ tree, parents: [], atSeconds: 0, message: 'Changes of a sandbox\n' });
  return store.put((sink) => sink.put('commit', commit));
}
