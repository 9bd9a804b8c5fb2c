import { type SandboxId } from '@litterbox/core/provider';
import { readHeadRef, resolveHead } from './find-base.ts';
import { holdsChanges } from './holds-changes.ts';
import { pointedCommit, readPointedTip } from './read-pointed-tip.ts';
import { readMeta } from './sandbox-refs.ts';
import type { Store } from './store.ts';
import { findUntakenWork } from './untaken-work.ts';
import type { UserRepository } from './user-repository.ts';

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
  const to = await pointedCommit(store, recorded.commit, pointers);
  return holdsChanges(store, head, { from: meta.base.tree, to, slug: meta.slug }, signal);
}
