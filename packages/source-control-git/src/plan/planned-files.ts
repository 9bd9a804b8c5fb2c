import type { FileChange } from '@litterbox/core/provider';
import { type ByteString, fromByteString, toByteString } from '../git/byte-text.ts';
import type { LargeFileContent } from '../large-files/checked-in-trees.ts';
import { mayHaveLargeFiles } from '../large-files/large-file-attributes.ts';
import { madePointers } from '../large-files/made-pointers.ts';
import { compareTrees, type PathStep } from '../store/read-diff.ts';
import type { ChosenWork, PlanScope } from './chosen-work.ts';
import type { MergedWork } from './merged-work.ts';
import { findOverlap, NO_OVERLAP } from './user-state.ts';
import { readWritten, withLargeFiles, type WrittenFiles } from './written-files.ts';

/** Changes that a plan makes to the files of the branch, and files of the work tree that are in its way. */
export interface PlannedFiles {
  /** As a person is told of them, without files that are there already. */
  readonly changes: readonly FileChange[];
  /** From the tree that the plan begins with to its result, without files that are there already. */
  readonly steps: readonly PathStep[];
  readonly allSteps: readonly PathStep[];
  readonly written: WrittenFiles;
  /** Contents of Git LFS to which the trees have pointers. */
  readonly largeFiles: readonly LargeFileContent[];
  /** Files of the person's that the result would run over. */
  readonly inTheWay: readonly string[];
  /** Files that the work tree has as the result has them. */
  readonly already: readonly string[];
  /** Files that index and work tree have as the plan begins with them, where the last commit has others. */
  readonly begun: readonly ByteString[];
  /** Nothing is left to do. */
  readonly upToDate: boolean;
}

export async function planFiles(scope: PlanScope, chosen: ChosenWork, merged: MergedWork): Promise<PlannedFiles> {
  const { store, user, signal } = scope;
  const { kind, isNothing, isStaging, conflicts } = merged;
  const allSteps: PathStep[] = [];
  const onStep = (step: PathStep) => allSteps.push(step);
  const all = isNothing ? [] : await compareTrees(store, [merged.fromTree, merged.resultTree], { signal, onStep });
  const known = { begun: merged.begun, ...(isStaging && { changed: merged.entries }) };
  const overlap = isNothing
    ? NO_OVERLAP
    : await findOverlap(user, allSteps, { ...known, isStaging: kind === 'stage' }, signal);
  // A commit that is made here gets those files too; one of the person's has them.
  const already = kind === 'stage' ? overlap.already : new Set<ByteString>();
  const steps = allSteps.filter(({ path }) => !already.has(path));
  const largeFiles = isNothing ? [] : await largeFilesOf(scope, chosen);
  const written = await readWritten(store, steps, largeFiles, signal);
  const compared = all.filter(({ path }) => !already.has(toByteString(path)));
  return {
    changes: withLargeFiles(compared, steps, written),
    steps,
    allSteps,
    written,
    largeFiles,
    inTheWay: [...overlap.tracked, ...overlap.untracked, ...overlap.hidden].map(fromByteString),
    already: [...already].map(fromByteString),
    begun: overlap.begun,
    upToDate: isNothing || (kind === 'stage' && steps.length === 0 && conflicts.size === 0),
  };
}

/** Contents that the trees of the plan have pointers to: those of the tip, and of milestones that become commits. */
async function largeFilesOf(
  { store, user, id, signal }: PlanScope,
  { newest, work, checkedIn }: ChosenWork,
): Promise<readonly LargeFileContent[]> {
  const own = [...checkedIn.contents.values()];
  if (!(await mayHaveLargeFiles(user, store, newest.tree))) return own;
  const milestones = new Set(work.steps.map(({ milestone }) => milestone));
  return [...own, ...(await madePointers(store, id, (commit) => milestones.has(commit), signal)).values()];
}
