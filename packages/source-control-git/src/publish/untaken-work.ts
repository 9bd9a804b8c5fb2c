import { type ObjectId, type Revision, type SandboxId } from '@litterbox/core/provider';
import { holdsChanges } from './holds-changes.ts';
import type { CheckedInTrees } from '../large-files/checked-in-trees.ts';
import { checkedInCommit } from './read-checked-in-tip.ts';
import { readMilestones, type SandboxMeta } from '../store/sandbox-refs.ts';
import type { Store } from '../store/store.ts';
import { readTaken } from './taken-work.ts';

/** One commit that the work becomes: a milestone, or what came after the last one. */
export interface WorkStep {
  readonly tree: ObjectId;
  /** The review branch's commit; absent for what no milestone holds. */
  readonly milestone?: ObjectId;
  /** Its last revision. */
  readonly number: number;
}

/** What of a sandbox's work the person's branch does not have. */
export interface UntakenWork {
  /** What the branch has last of it: the base, a milestone, what an integration made, or HEAD where the person committed it. The steps stand on it. */
  readonly onto: ObjectId;
  /** The sandbox's tree at that point. */
  readonly ontoTree: ObjectId;
  /** The number of the revision at that point; 0 is the base. */
  readonly ontoNumber: number;
  /** False when the branch does not have even the base: it began on another branch, or the person rewrote the branch since. */
  readonly isHeld: boolean;
  /** Whether the commit `onto` is in the branch and has the sandbox's tree, so that commits of the sandbox's trees may stand on it. */
  readonly isWhole: boolean;
  readonly steps: readonly WorkStep[];
}

interface Point {
  readonly commit: ObjectId;
  readonly tree: ObjectId;
  readonly number: number;
}

/**
 * Finds what of the work `head` does not have: by the last commit of it that `head` contains, and beyond that by what an integration
 * brought in and the person committed themselves.
 *
 * @param tip as the person would have it: checked in
 */
export async function findUntakenWork(
  store: Store,
  id: SandboxId,
  meta: SandboxMeta,
  tip: Revision,
  head: ObjectId,
  checkedIn: CheckedInTrees,
  signal: AbortSignal | undefined,
): Promise<UntakenWork> {
  const milestones = await readMilestones(store, id);
  const base: Point = { ...meta.base, number: 0 };
  const points: Point[] = [base];
  for (const { commit, number } of milestones) points.push({ commit, number, tree: await store.commitTree(commit) });
  const outside = await listOutside(store, points, head, signal);
  const others: (Omit<Point, 'commit'> & { readonly last: ObjectId })[] = [];
  for (const { commit, tip: revision, last = revision } of await readTaken(store, id)) {
    const { tree: recorded, revision: facts } = await store.reader.commit(revision);
    const point = { tree: await checkedIn.of(recorded), number: facts?.number ?? 0 };
    if (commit !== undefined && (await isAncestor(store, commit, head, signal))) points.push({ ...point, commit });
    else others.push({ ...point, last: (await store.reader.read(last)) ? last : revision });
  }
  // Of one number the last counts: what an integration made comes after the milestone that it took.
  const newestFirst = points.toReversed().toSorted((a, b) => b.number - a.number);
  let held = newestFirst.find(({ commit }) => !outside.has(commit));
  for (const { tree, number, last } of others.toSorted((a, b) => a.number - b.number)) {
    const { tree: from, number: before } = held ?? base;
    if (number <= before || tree === from) continue;
    const to = await checkedInCommit(store, last, checkedIn);
    if (await holdsChanges(store, head, { from, to, slug: meta.slug }, signal)) held = { commit: head, tree, number };
  }
  const { commit: onto, tree: ontoTree, number } = held ?? base;
  const steps: WorkStep[] = [];
  for (const { commit, number: at } of milestones)
    if (at > number) steps.push({ tree: await store.commitTree(commit), milestone: commit, number: at });
  if (tip.number > Math.max(number, milestones.at(-1)?.number ?? 0)) steps.push({ tree: tip.tree, number: tip.number });
  return {
    onto,
    ontoTree,
    ontoNumber: number,
    isHeld: held !== undefined,
    isWhole: held !== undefined && (await store.commitTree(onto)) === ontoTree,
    steps,
  };
}

/** Those of the commits that `head` does not contain. All of them are in the store, or in the repository that it borrows from. */
async function listOutside(
  store: Store,
  points: readonly Point[],
  head: ObjectId,
  signal: AbortSignal | undefined,
): Promise<Set<string>> {
  const commits = points.map(({ commit }) => commit);
  const input = `${commits.join('\n')}\n^${head}\n`;
  const listed = await store.output(['rev-list', '--stdin'], { input, signal });
  return new Set(listed.toString().split('\n').filter(Boolean));
}

export async function isAncestor(
  store: Store,
  ancestor: ObjectId,
  descendant: ObjectId,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  return (await store.run(['merge-base', '--is-ancestor', ancestor, descendant], { signal })).code === 0;
}
