import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isLitterboxError } from '@litterbox/core/provider';
import { moveReviewBranch } from '../publish/cut-milestone.ts';
import { makerOf } from '../git/durable-files.ts';
import { readJournal } from './integration-journal.ts';
import { recoverIntegration } from './recover-integration.ts';
import { removeDead } from '../git/remove-dead.ts';
import { readHistories } from '../store/sandbox-refs.ts';
import type { Store } from '../store/store.ts';
import type { UserRepository } from '../person/user-repository.ts';

export async function reconcileRepository(
  store: Store,
  user: UserRepository,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const done: string[] = [];
  if (await readJournal(store)) {
    done.push(
      ...(await store.userLock.hold('repository.reconcile', () => recoverIntegration(store, user), { signal })),
    );
  }
  for await (const { id, slug } of readHistories(store)) {
    signal?.throwIfAborted();
    if (store.refs.list(`refs/litterbox/${id}/milestones`).length === 0) continue;
    const move = () => moveReviewBranch(store, user, id, slug);
    const moved = await store.userLock.hold('repository.reconcile', move, { signal }).catch((error: unknown) => {
      if (!isLitterboxError(error, 'CONFLICT')) throw error;
      return false; // its owner works on it: that is no reason to refuse everything else
    });
    if (moved) done.push(`Moved the branch litterbox/${slug} to its last milestone.`);
  }
  const refs = join(store.gitDirectory, 'refs');
  if (mayHaveLocks(refs)) await store.lock.hold('repository.reconcile', async () => removeLocks(refs), { signal });
  await removeLeftovers(store, user);
  return done;
}

/** Every writer holds the store's lock, which we hold: whoever made these is dead. */
function removeLocks(directory: string): void {
  for (const path of listLocks(directory)) rmSync(path, { force: true });
}

/** Looks without the lock, for which every program would wait before each of its calls. */
function mayHaveLocks(directory: string): boolean {
  try {
    return listLocks(directory).length > 0;
  } catch {
    return true; // somebody removes a sandbox just now
  }
}

function listLocks(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.lock'))
    .map((name) => join(directory, name));
}

/** Temporary files carry the id of their process. One that runs under a dead one's id only keeps them a while longer. */
async function removeLeftovers(store: Store, user: UserRepository): Promise<void> {
  const objects = join(store.gitDirectory, 'objects');
  const madeBy = (name: string) => {
    const [, pid] = /^(?:tmp_obj_|tmp_pack_|ignore-|merge-|index-|incoming-)(\d+)-/.exec(name) ?? [];
    return pid === undefined ? makerOf(name) : Number(pid);
  };
  for (const directory of [store.directory, store.workDirectory, store.gitDirectory, objects, join(objects, 'pack')])
    await removeDead(directory, madeBy);
  await removeDead(join(objects, 'info'), madeBy);
  // Of the user's repository only what has our own name.
  for (const place of ['', 'info', 'objects/pack']) await removeDead(join(user.commonDirectory, place), makerOf);
  if (user.gitDirectory !== user.commonDirectory) await removeDead(user.gitDirectory, makerOf);
}
