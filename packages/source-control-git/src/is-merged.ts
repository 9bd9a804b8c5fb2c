import type { SandboxId } from '@litterbox/core/provider';
import { readHeadRef, resolveHead } from './find-base.ts';
import { isAncestor } from './make-plan.ts';
import { mergeTrees } from './merge-trees.ts';
import { readMeta, readMilestones, readTip, sandboxRefs } from './sandbox-refs.ts';
import type { Store } from './store.ts';
import type { UserRepository } from './user-repository.ts';

export async function isMerged(
  store: Store,
  user: UserRepository,
  id: SandboxId,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const meta = await readMeta(store, id);
  const tip = await readTip(store, id);
  if (tip.tree === meta.base.tree) return true;
  const head = await resolveHead(user, await readHeadRef(user, { signal }), { signal });
  const refs = sandboxRefs(id);
  const merged = store.refs.read(refs.merged);
  if (store.refs.read(refs.mergedTip) === tip.commit && merged && (await isAncestor(store, merged, head, signal))) {
    return true;
  }
  const last = (await readMilestones(store, id)).at(-1);
  if (last?.number === tip.number && (await isAncestor(store, last.commit, head, signal))) return true;
  // Merged by other means, such as a squash or a cherry-pick: merging again would change nothing.
  const sides = { ours: head, theirs: tip.commit, slug: meta.slug, baseTree: meta.base.tree };
  const { tree, stages } = await mergeTrees(store, sides, { strategy: 'ort', strategyOptions: [] }, [], signal);
  return stages.length === 0 && tree === (await store.commitTree(head));
}
