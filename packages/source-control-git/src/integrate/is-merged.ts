import { type SandboxId } from '@litterbox/core/provider';
import { readHeadRef, resolveHead } from '../base/find-base.ts';
import { holdsChanges } from '../publish/holds-changes.ts';
import { checkedInCommit, readCheckedInTip } from '../publish/read-checked-in-tip.ts';
import { readMeta } from '../store/sandbox-refs.ts';
import type { Store } from '../store/store.ts';
import { findUntakenWork } from '../publish/untaken-work.ts';
import type { UserRepository } from '../person/user-repository.ts';

export async function isMerged(
  store: Store,
  user: UserRepository,
  id: SandboxId,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const meta = await readMeta(store, id);
  const { recorded, tip, checkedIn } = await readCheckedInTip(store, user, id, meta.base.tree, signal);
  if (tip.tree === meta.base.tree) return true;
  const head = await resolveHead(user, await readHeadRef(user, { signal }), { signal });
  const work = await findUntakenWork(store, id, meta, tip, head, checkedIn, signal);
  if (work.isHeld && work.steps.length === 0) return true;
  // Merged by other means, such as a squash or a cherry-pick: merging again would change nothing.
  const to = await checkedInCommit(store, recorded.commit, checkedIn);
  return holdsChanges(store, head, { from: meta.base.tree, to, slug: meta.slug }, signal);
}
