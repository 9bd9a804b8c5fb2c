import type { ObjectId, Revision, SandboxId } from '@litterbox/core/provider';
import { LargeFilePointers } from './point-large-files.ts';
import { readTip } from './sandbox-refs.ts';
import type { Store } from './store.ts';
import type { UserRepository } from './user-repository.ts';

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
