import type { ObjectId, PlanRequest } from '@litterbox/core/provider';
import type { ByteString } from '../git/byte-text.ts';
import type { ChangedEntry } from '../person/already-there.ts';
import { readChangedEntries } from '../person/already-there.ts';
import { mergeSettings } from '../publish/merge-settings.ts';
import { readMergeAttributes } from '../publish/merge-attributes.ts';
import { type ConflictStage, type MergedTree, mergeTrees } from '../publish/merge-trees.ts';
import { partialTree } from '../publish/partial-tree.ts';
import { kindOf, type PlanKind } from '../publish/plan-kind.ts';
import { theirCommit } from '../publish/their-commit.ts';
import { findBegunFiles, noBegunFiles } from '../settle/begun-files.ts';
import { settleConflicts } from '../settle/settle-conflicts.ts';
import { onStagedParts } from '../settle/staged-parts.ts';
import type { ChosenWork, PlanScope } from './chosen-work.ts';

/** The chosen work merged with the branch, in the store alone. */
export interface MergedWork {
  readonly kind: PlanKind;
  /** Nothing of it is left for the branch. */
  readonly isNothing: boolean;
  /** Whether the person commits it themselves. */
  readonly isStaging: boolean;
  /** The commit in the store that was merged. */
  readonly theirs: ObjectId;
  /** The tree of the last commit with the person's edits that an apply goes on from. */
  readonly branchTree: ObjectId;
  /** The same with parts of an apply before, which are staged. */
  readonly fromTree: ObjectId;
  readonly resultTree: ObjectId;
  readonly stages: readonly ConflictStage[];
  readonly conflicts: ReadonlySet<ByteString>;
  /** Tracked files that differ from the last commit, where the person commits; they are not asked for otherwise. */
  readonly entries: readonly ChangedEntry[];
  /** Edits of the person's that the sandbox began with. */
  readonly begun: ReadonlySet<ByteString>;
}

export async function mergeChosenWork(scope: PlanScope, request: PlanRequest, chosen: ChosenWork): Promise<MergedWork> {
  const { store, user, signal } = scope;
  const { head, headTree, work, tip, options, config, meta } = chosen;
  const theirs = await theirCommit(store, work.onto, tip);
  // An apply goes on from edits of the person's that the sandbox began with, and from parts of an apply before.
  const isStaging = request.integration === 'apply' && request.commit !== true;
  const entries = isStaging ? await readChangedEntries(user, signal) : [];
  const begins = { head: headTree, began: work.ontoTree, work: tip.tree, changed: entries };
  const begun = isStaging ? await findBegunFiles(store, user, begins, signal) : noBegunFiles(headTree);
  const branchTree = begun.tree;
  const ours = branchTree === headTree ? head : await theirCommit(store, head, { ...tip, tree: branchTree });
  const merge = await mergerOf(scope, chosen, ours, branchTree);
  const { tree, stages } = await settleConflicts(store, await merge(theirs), request.settled ?? [], meta.slug);
  const isContained = work.isHeld && work.steps.length === 0;
  const isNothing = isContained || (stages.length === 0 && tree === branchTree && options.strategy !== 'ours');
  const kind = isNothing ? 'nothing' : kindOf(request, options, work, head, config);
  const conflicts = new Set(isNothing ? [] : stages.map(({ path }) => path));
  const whole = { head: branchTree, result: kind === 'fast-forward' ? tip.tree : tree, conflicts };
  const ofAll = async () =>
    chosen.ofWork.length === 0 ? tree : (await merge(await theirCommit(store, work.onto, chosen.newest))).tree;
  const onTop = await onStagedParts(store, { ...whole, whole: ofAll }, kind === 'stage' ? entries : [], signal);
  const apply = { head: onTop.from, result: onTop.result, conflicts };
  const resultTree = await partialTree(store, apply, chosen.ofApply, meta.slug, signal);
  return {
    kind,
    isNothing,
    isStaging,
    theirs,
    branchTree,
    fromTree: onTop.from,
    resultTree,
    stages,
    conflicts,
    entries,
    begun: begun.paths,
  };
}

/** Merges commits of the sandbox's into `ours`, by the person's rules. */
async function mergerOf(
  { store, user, signal }: PlanScope,
  { work, tip, meta, options, config }: ChosenWork,
  ours: ObjectId,
  branchTree: ObjectId,
): Promise<(theirs: ObjectId) => Promise<MergedTree>> {
  const trees = { base: work.ontoTree, ours: branchTree, theirs: tip.tree };
  const attributes = await readMergeAttributes(store, user, trees, signal);
  const rules = { configuration: mergeSettings(config), attributes };
  const sides = { ours, slug: meta.slug, ...(!work.isWhole && { baseTree: work.ontoTree }) };
  return async (theirs) => await mergeTrees(store, { ...sides, theirs }, options, rules, signal);
}
