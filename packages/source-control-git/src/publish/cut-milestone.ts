import {
  LitterboxError,
  type Milestone,
  type ObjectId,
  failpoint,
  type SandboxId,
  shown,
  type Slug,
} from '@litterbox/core/provider';
import { serializeCommit } from '../objects/commit-object.ts';
import { CheckedInTrees } from '../large-files/checked-in-trees.ts';
import { publishObjects } from './publish-objects.ts';
import { withReviewNote } from './review-note.ts';
import { readMeta, readMilestones, readTip, reviewBranch, sandboxRefs } from '../store/sandbox-refs.ts';
import type { Store } from '../store/store.ts';
import type { UserRepository } from '../person/user-repository.ts';

const OPERATION = 'milestone.cut';

export async function cutMilestone(
  store: Store,
  user: UserRepository,
  id: SandboxId,
  message: string,
  signal: AbortSignal | undefined,
): Promise<Milestone | undefined> {
  return store.userLock.hold(
    OPERATION,
    async () => {
      const meta = await readMeta(store, id);
      const tip = await readTip(store, id);
      const milestones = await readMilestones(store, id);
      const last = milestones.at(-1);
      const branch = reviewBranch(meta.slug);
      const revisions = tip.number - (last?.number ?? 0);
      if (revisions === 0) return undefined;
      const ours = milestones.map(({ commit }) => commit);
      const now = await requireOurs(user, branch, ours, signal);
      await requireNotCheckedOut(user, branch, signal);
      const { atSeconds } = await store.reader.commit(tip.commit);
      // The contents stay in the store until a person takes the work: an agent may ask for this.
      const checkedIn = new CheckedInTrees(store, user, meta.base.tree, signal);
      const tree = await checkedIn.of(tip.tree);
      const commit = await store.put((sink) =>
        sink.put(
          'commit',
          serializeCommit({
            tree,
            parents: [last?.commit ?? meta.base.commit],
            atSeconds: Math.max(Math.floor(Date.now() / 1000), atSeconds),
            message: withReviewNote(message, tip.number),
          }),
        ),
      );
      failpoint('milestone.after-commit');
      await publishObjects(store, user, [commit], [store.refs.read(sandboxRefs(id).pin) ?? meta.base.commit], signal);
      failpoint('milestone.after-publish');
      // The store first: what it names, reconcile can put on the branch.
      await store.lock.hold(OPERATION, () =>
        store.refs.write(`${sandboxRefs(id).milestones}/${tip.number}`, commit, 'absent'),
      );
      failpoint('milestone.after-ref');
      await placeReviewBranch(user, branch, commit, now);
      return { commit, branch, revisions, ...(checkedIn.contents.size > 0 && { largeFiles: checkedIn.contents.size }) };
    },
    { signal },
  );
}

/** Puts the review branch on the last milestone. True when it was elsewhere. Repeatable; the caller holds the user lock. */
export async function moveReviewBranch(
  store: Store,
  user: UserRepository,
  id: SandboxId,
  slug: Slug,
): Promise<boolean> {
  const commits = (await readMilestones(store, id)).map(({ commit }) => commit);
  const last = commits.at(-1);
  if (last === undefined) return false;
  const branch = reviewBranch(slug);
  const now = await requireOurs(user, branch, commits, undefined);
  if (now === last) return false;
  await requireNotCheckedOut(user, branch, undefined);
  await placeReviewBranch(user, branch, last, now);
  return true;
}

/** @param now where the branch is; git refuses when it is elsewhere by then, and reconcile looks again */
async function placeReviewBranch(
  user: UserRepository,
  branch: string,
  commit: ObjectId,
  now: ObjectId | undefined,
): Promise<void> {
  const old = now ?? '0'.repeat(commit.length);
  await user.output(['update-ref', '-m', 'litterbox: milestone', branch, commit, old]);
}

/** @throws LitterboxError `CONFLICT` when the review branch cannot be made, or holds what is none of these milestones. */
export async function requireReviewBranch(
  user: UserRepository,
  slug: Slug,
  milestones: readonly { readonly commit: ObjectId }[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const commits = milestones.map(({ commit }) => commit);
  await requireOurs(user, reviewBranch(slug), commits, signal);
}

/** The branch's commit. @throws LitterboxError `CONFLICT` when it is not one of ours. */
async function requireOurs(
  user: UserRepository,
  branch: string,
  ours: readonly ObjectId[],
  signal: AbortSignal | undefined,
): Promise<ObjectId | undefined> {
  const { code, stdout } = await user.run(['rev-parse', '--verify', '-q', branch], { signal });
  if (code !== 0) {
    await requireRoom(user, branch, signal);
    return undefined;
  }
  const now = stdout.toString().trimEnd() as ObjectId;
  if (ours.includes(now)) return now;
  throw new LitterboxError('CONFLICT', `The branch ${shown(branch)} holds commits that are not Litterbox's.`, {
    operation: OPERATION,
    hint: `Rename it with git branch -m, then repeat.`,
    facts: { branch },
  });
}

/**
 * A branch that moves below a work tree shows there as the opposite of what came, staged: the person's next commit would undo it.
 *
 * @throws LitterboxError `CONFLICT` with the work tree.
 */
async function requireNotCheckedOut(
  user: UserRepository,
  branch: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const found = await user.text(['for-each-ref', '--format=%(worktreepath)', branch], { signal });
  if (found === '') return;
  const name = branch.slice('refs/heads/'.length);
  throw new LitterboxError('CONFLICT', `The branch ${shown(name)} is checked out in ${shown(found)}.`, {
    operation: OPERATION,
    hint: `Look at it without the branch, with git -C ${shown(found)} switch --detach; then cut the milestone again.`,
    facts: { branch, workTree: found },
  });
}

/** git keeps no branch beside another one whose name is a directory of it. @throws LitterboxError `CONFLICT`. */
async function requireRoom(user: UserRepository, branch: string, signal: AbortSignal | undefined): Promise<void> {
  const above = branch.slice(0, branch.lastIndexOf('/'));
  const listed = await user.text(['for-each-ref', '--format=%(refname)', above], { signal });
  const other = listed.split('\n').find((name) => name === above || name.startsWith(`${branch}/`));
  if (other === undefined) return;
  throw new LitterboxError(
    'CONFLICT',
    `git cannot create the branch ${shown(branch)}: ${shown(other)} is in its way.`,
    {
      operation: OPERATION,
      hint: `Rename that one with git branch -m, then repeat.`,
      facts: { branch, other },
    },
  );
}
