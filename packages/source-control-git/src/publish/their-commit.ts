import type { ObjectId, Revision } from '@litterbox/core/provider';
import { serializeCommit } from '../objects/commit-object.ts';
import type { Store } from '../store/store.ts';

/** The commit that is merged: the tip's tree on the last commit that the person has. Revisions stay in the store. */
export async function theirCommit(store: Store, onto: ObjectId, tip: Revision): Promise<ObjectId> {
  const { atSeconds } = await store.reader.commit(tip.commit);
  const commit = serializeCommit({ tree: tip.tree, parents: [onto], atSeconds, message: 'Changes of a sandbox\n' });
  return store.put((sink) => sink.put('commit', commit));
}
