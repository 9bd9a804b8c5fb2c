import type { ObjectId, Slug } from '@litterbox/core/provider';
import { mergeTrees } from './merge-trees.ts';
import type { Store } from '../store/store.ts';

/** From a tree to that of a commit. */
interface Changes {
  readonly from: ObjectId;
  readonly to: ObjectId;
  readonly slug: Slug;
}

const NO_RULES = { configuration: [], attributes: '' };

/** Whether `head` has the changes already, by whatever way they came: merging them into it changes nothing. */
export async function holdsChanges(
  store: Store,
  head: ObjectId,
  { from, to, slug }: Changes,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const sides = { ours: head, theirs: to, slug, baseTree: from };
  const { tree, stages } = await mergeTrees(store, sides, { strategy: 'ort', strategyOptions: [] }, NO_RULES, signal);
  return stages.length === 0 && tree === (await store.commitTree(head));
}
