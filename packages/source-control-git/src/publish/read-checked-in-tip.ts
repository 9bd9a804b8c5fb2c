import type { ObjectId, Revision, SandboxId } from '@litterbox/core/provider';
import { serializeCommit } from '../objects/commit-object.ts';
import { CheckedInTrees } from '../large-files/checked-in-trees.ts';
import { readTip } from '../store/sandbox-refs.ts';
import type { Store } from '../store/store.ts';
import type { UserRepository } from '../person/user-repository.ts';

/** The last revision of a sandbox as the person's repository gets it. */
export interface CheckedInTip {
  readonly recorded: Revision;
  /** As it is checked in; its tree is the recorded one where that is the same. */
  readonly tip: Revision;
  readonly checkedIn: CheckedInTrees;
}

/** @param base the tree that the sandbox began with */
export async function readCheckedInTip(
  store: Store,
  user: UserRepository,
  id: SandboxId,
  base: ObjectId,
  signal: AbortSignal | undefined,
): Promise<CheckedInTip> {
  const checkedIn = new CheckedInTrees(store, user, base, signal);
  const recorded = await readTip(store, id);
  return { recorded, tip: { ...recorded, tree: await checkedIn.of(recorded.tree) }, checkedIn };
}

/** A commit of a revision's tree as it is checked in: the revision itself where that is the same. */
export async function checkedInCommit(store: Store, revision: ObjectId, checkedIn: CheckedInTrees): Promise<ObjectId> {
  const recorded = await store.commitTree(revision);
  const tree = await checkedIn.of(recorded);
  if (tree === recorded) return revision;
  const commit = serializeCommit({ tree, parents: [], atSeconds: 0, message: 'Changes of a sandbox\n' });
  return store.put((sink) => sink.put('commit', commit));
}
