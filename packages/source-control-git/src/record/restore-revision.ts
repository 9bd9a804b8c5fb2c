import { type ObjectId, type Revision, type RevisionMessage, type SandboxId } from '@litterbox/core/provider';
import { putCommit } from './put-commit.ts';
import { resolveRevision } from '../store/read-log.ts';
import { readTip, sandboxRefs } from '../store/sandbox-refs.ts';
import { settleJournal } from '../store/settle-journal.ts';
import type { Store } from '../store/store.ts';

/** Appends a revision with the tree of an earlier one. */
export async function restoreRevision(
  store: Store,
  id: SandboxId,
  revision: ObjectId,
  message: RevisionMessage,
  signal: AbortSignal | undefined,
): Promise<Revision | undefined> {
  const { commit: parent, tree: tipTree, number } = await readTip(store, id);
  const { tree } = await resolveRevision(store, id, revision, signal);
  if (tree === tipTree) return undefined;
  const { atSeconds } = await store.reader.commit(parent);
  const next = number + 1;
  const commit = await store.put((sink) => putCommit(sink, { tree, parent, atSeconds, number: next }, message));
  await settleJournal(store, signal); // it must not hold an older tip
  await store.lock.hold('revision.restore', () => store.refs.write(sandboxRefs(id).tip, commit, parent), { signal });
  return { commit, tree, number: next };
}
