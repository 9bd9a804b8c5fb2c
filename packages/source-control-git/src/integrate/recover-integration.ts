import { type ObjectId } from '@litterbox/core/provider';
import { createStash } from '../person/create-stash.ts';
import { readHeadRef } from '../base/find-base.ts';
import { Integration } from './integrate.ts';
import { readJournal } from './integration-journal.ts';
import type { Store } from '../store/store.ts';
import type { UserRepository } from '../person/user-repository.ts';
import { requireUnlocked } from '../plan/user-state.ts';

/**
 * Finishes or undoes what a killed process left half-done. The caller holds the user lock, so whoever began it is
 * dead. Says what it did.
 */
export async function recoverIntegration(store: Store, user: UserRepository): Promise<readonly string[]> {
  const record = await readJournal(store);
  if (!record || record.root !== user.root) return []; // another work tree's, for whoever opens that
  const integration = new Integration(store, user, record);
  const what = `the interrupted ${record.integration} of ${record.slug}`;
  const head = (await user.text(['rev-parse', '--verify', 'HEAD']).catch(() => undefined)) as ObjectId | undefined;
  // A git of ours that was killed may have left a lock, but so may one of the person's: it is theirs to remove.
  if (record.phase !== 'updating') await requireUnlocked(user, await readHeadRef(user, {}), record.marker);
  if (record.phase === 'stashing' || record.phase === 'unstashing') await integration.unlock();
  if (record.phase === 'stashing') {
    if (await rescueEdits(user, record.stash))
      await user.plumbing.output(['reset', '-q', '--hard', 'HEAD'], { setting: 'user' });
    const conflicts = await integration.unstash();
    await integration.close();
    return [`Undid ${what}; uncommitted work is ${conflicts ? 'in git stash' : 'back'}.`];
  }
  if (record.phase === 'unstashing' && record.stash !== undefined && !record.keepsStash) {
    await restoreFromIndex(user);
  }
  const isForward =
    record.phase === 'unstashing' ||
    (record.phase === 'finishing' && (head === record.head || head === record.newHead));
  if (!isForward) {
    const rescued = await integration.rollBack();
    return [`Undid ${what}.`, ...rescued.map((line) => `Kept a file that was neither old nor new: rescued/${line}.`)];
  }
  if (record.phase === 'finishing') {
    await integration.finish();
    await integration.phase('unstashing');
  }
  const conflicts = await integration.unstash();
  await integration.close();
  return [`Finished ${what}${conflicts ? '; uncommitted work is in git stash' : ''}.`];
}

/** Whatever differs from HEAD, put into the person's stash list, unless `known` holds the same. False when nothing does. */
async function rescueEdits(user: UserRepository, known?: ObjectId): Promise<boolean> {
  const edits = await createStash(user, 'litterbox rescue');
  if (edits === undefined) return false;
  if (known !== undefined && (await treesOf(user, edits)) === (await treesOf(user, known))) return true;
  await user.plumbing.output(['stash', 'store', '-q', '-m', 'litterbox rescue', edits], { setting: 'user' });
  return true;
}

/** The trees of work tree and index in a stash. */
async function treesOf(user: UserRepository, stash: ObjectId): Promise<string> {
  return await user.text(['rev-parse', `${stash}^{tree}`, `${stash}^2^{tree}`]);
}

/** Takes back a stash that was half put back: the index still has the result. */
async function restoreFromIndex(user: UserRepository): Promise<void> {
  await user.plumbing.run(['update-index', '-q', '--refresh'], { setting: 'user' });
  const args = ['diff-files', '-z', '--name-only', '--ignore-submodules=all'];
  const differing = await user.plumbing.output(args, { setting: 'user' });
  if (differing.length === 0) return;
  await rescueEdits(user);
  await user.plumbing.output(['checkout-index', '-f', '-u', '-q', '-z', '--stdin'], {
    setting: 'user',
    input: differing,
  });
}
