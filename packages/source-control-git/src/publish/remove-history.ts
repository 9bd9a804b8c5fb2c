import { rm } from 'node:fs/promises';
import { type ObjectId, failpoint, type SandboxId } from '@litterbox/core/provider';
import { removePin } from '../record/base-pin.ts';
import { serializeCommit } from '../objects/commit-object.ts';
import { ExportPlace } from './export-place.ts';
import { heldByPerson } from '../person/held-commits.ts';
import { mayHaveLargeFiles } from '../large-files/large-file-attributes.ts';
import { madePointers } from '../large-files/made-pointers.ts';
import { CheckedInTrees } from '../large-files/checked-in-trees.ts';
import { printedDirectory } from '../store/printed-files.ts';
import { readMeta, readMilestones, readTip, reviewBranch, sandboxRefs } from '../store/sandbox-refs.ts';
import type { Store } from '../store/store.ts';
import type { UserRepository } from '../person/user-repository.ts';

/** Each step may be repeated; the sandbox's own refs go last, so that a second call finds what a first one left. */
export async function removeHistory(
  store: Store,
  user: UserRepository,
  id: SandboxId,
  signal: AbortSignal | undefined,
): Promise<void> {
  const refs = sandboxRefs(id);
  await store.userLock.hold(
    'sandbox.remove',
    async () => {
      if (store.refs.read(refs.meta) !== undefined) {
        const meta = await readMeta(store, id);
        const milestones = await readMilestones(store, id);
        await bury(store, id);
        failpoint('remove.after-tombstone');
        const commits = milestones.map(({ commit }) => commit);
        const isLeft = await removeReviewBranch(user, reviewBranch(meta.slug), new Set(commits));
        await leaveLargeFiles(store, user, id, commits, isLeft, signal);
        failpoint('remove.after-branch');
        await new ExportPlace(store, user).remove(meta.slug);
      }
      await removePin(user, id, { signal });
      failpoint('remove.after-pin');
      await store.lock.hold('sandbox.remove', async () => {
        // As it began, so that what is left of that in the journal brings nothing back.
        const meta = { name: refs.meta, old: store.refs.read(refs.meta), value: undefined };
        await store.journal.append({ refs: [meta], objects: [] });
        store.refs.writeJournalled(refs.meta, undefined);
        failpoint('remove.after-meta');
        await store.refs.remove(refs.root);
      });
      await rm(printedDirectory(store, id), { recursive: true, force: true }); // now: who writes there looks for the history afterwards
    },
    { signal },
  );
}

/** Keeps every revision reachable under a commit that says when. Whoever cleans up reads its date. */
async function bury(store: Store, id: SandboxId): Promise<void> {
  const refs = sandboxRefs(id);
  const tip = await readTip(store, id);
  // Of a history that was begun anew under the same id, the old one stays reachable too.
  const before = store.refs.read(refs.tombstone);
  if (before !== undefined && (await store.reader.commit(before)).parents.includes(tip.commit)) return;
  const { slug } = await readMeta(store, id);
  const last = (await readMilestones(store, id)).at(-1);
  const tombstone = await store.put((sink) =>
    sink.put(
      'commit',
      serializeCommit({
        tree: tip.tree,
        parents: [tip.commit, ...(last ? [last.commit] : []), ...(before === undefined ? [] : [before])],
        atSeconds: Math.floor(Date.now() / 1000),
        message: `Removed sandbox ${slug}\n\nSandbox: ${id}\n`,
      }),
    ),
  );
  await store.lock.hold('sandbox.remove', () => store.refs.write(refs.tombstone, tombstone));
}

/** What branches of the person name has to be whole once the store does not tell any more where the contents are. */
async function leaveLargeFiles(
  store: Store,
  user: UserRepository,
  id: SandboxId,
  milestones: readonly ObjectId[],
  isLeft: boolean,
  signal: AbortSignal | undefined,
): Promise<void> {
  const last = milestones.at(-1);
  if (last === undefined || !(await mayHaveLargeFiles(user, store, await store.commitTree(last)))) return;
  const held = new Set(isLeft ? milestones : await heldByPerson(user, milestones, { signal }));
  const made = await madePointers(store, id, (commit) => held.has(commit), signal);
  await CheckedInTrees.place(store, user, [...made.values()], signal);
}

/** Leaves it, and says so, when the person committed to it, or has it checked out. Without a milestone none is ours. */
async function removeReviewBranch(user: UserRepository, branch: string, ours: ReadonlySet<string>): Promise<boolean> {
  if (ours.size === 0) return false;
  const format = '--format=%(objectname) %(worktreepath)';
  const found = await user.text(['for-each-ref', format, branch]);
  const [oid = '', ...workTree] = found.split(' ');
  if (!ours.has(oid) || workTree.join(' ') !== '') return found !== '';
  await user.output(['update-ref', '-d', branch, oid]);
  return false;
}
