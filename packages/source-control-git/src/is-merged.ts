import { type SandboxId } from '@litterbox/core/provider';
import { serializeCommit } from './commit-object.ts';
import { readHeadRef, resolveHead } from './find-base.ts';
import { mergeTrees } from './merge-trees.ts';
import { readPointedTip } from './read-pointed-tip.ts';
import { readMeta } from './sandbox-refs.ts';
import type { Store } from './store.ts';
import { findUntakenWork } from './untaken-work.ts';
import type { UserRepository } from './user-repository.ts';

const NO_RULES = { configuration: [], attributes: '' };

export async function isMerged(
  store: Store,
  user: UserRepository,
  id: SandboxId,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const meta = await readMeta(store, id);
  const { recorded, tip, pointers } = await readPointedTip(store, user, id, meta.base.tree, signal);
  if (tip.tree === meta.base.tree) return true;
  const head = await resolveHead(user, await readHeadRef(user, { signal }), { signal });
  const work = await findUntakenWork(store, id, meta, tip, head, pointers, signal);
  if (work.isHeld && work.steps.length === 0) return true;
  // Merged by other means, such as a squash or a cherry-pick: merging again would change nothing.
  const commit = serializeCommit({ tree: tip.tree, parents: [], atSeconds: 0, message: 'Changes of a sandbox\n' });
  const theirs = tip.tree === recorded.tree ? tip.commit : await store.put((sink) => sink.put('commit', commit));
  const sides = { ours: head, theirs, slug: meta.slug, baseTree: meta.base.tree };
  const { tree, stages } = await mergeTrees(store, sides, { strategy: 'ort', strategyOptions: [] }, NO_RULES, signal);
  return stages.length === 0 && tree === (await store.commitTree(head));
}
