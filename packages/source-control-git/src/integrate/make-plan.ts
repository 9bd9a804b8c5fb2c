import {
  checkedMessage,
  type ConflictFile,
  type FileChange,
  type IntegrationPlan,
  LitterboxError,
  type ObjectId,
  type OfferedFile,
  type PlanRequest,
  type Revision,
  type SandboxId,
} from '@litterbox/core/provider';
import { type ByteString, fromByteString, toByteString } from '../git/byte-text.ts';
import { readHeadRef, resolveHead } from '../base/find-base.ts';
import { filtersPassedOver, withRisks } from './filters-passed-over.ts';
import { findBegunFiles, noBegunFiles } from '../settle/begun-files.ts';
import { halfRenames } from '../publish/half-renames.ts';
import { hooksPassedOver } from '../person/hooks-passed-over.ts';
import { readChangedEntries } from '../person/already-there.ts';
import { kindOf, type PlanKind } from '../publish/plan-kind.ts';
import { parseMergeArguments, withConfiguredArguments, withDefaultSigning } from '../person/merge-arguments.ts';
import { mergeTrees } from '../publish/merge-trees.ts';
import { readConfiguredPaths } from '../person/configured-paths.ts';
import { mergeSettings } from '../publish/merge-settings.ts';
import { readMergeAttributes } from '../publish/merge-attributes.ts';
import { mayHaveLargeFiles } from '../large-files/large-file-attributes.ts';
import { madePointers } from '../large-files/made-pointers.ts';
import type { LargeFileContent, CheckedInTrees } from '../large-files/checked-in-trees.ts';
import { compareTrees, type PathStep } from '../store/read-diff.ts';
import { readCheckedInTip } from '../publish/read-checked-in-tip.ts';
import { offeredFiles } from '../publish/offered-files.ts';
import { partialTree, partsOfWork } from '../publish/partial-tree.ts';
import { passingChanges } from './passing-changes.ts';
import type { PlanToken } from './plan-token.ts';
import { readConflict } from '../settle/read-conflict.ts';
import { scanRisks } from './scan-risks.ts';
import { readMeta, readMilestones, reviewBranch, type SandboxMeta } from '../store/sandbox-refs.ts';
import type { Store } from '../store/store.ts';
import { findUntakenWork, type UntakenWork } from '../publish/untaken-work.ts';
import { selectedTree } from './selected-tree.ts';
import { settleConflicts } from '../settle/settle-conflicts.ts';
import { theirCommit } from '../publish/their-commit.ts';
import { readUserConfig } from '../person/user-config.ts';
import { readWritten, withLargeFiles } from './written-files.ts';
import type { UserRepository } from '../person/user-repository.ts';
import { onStagedParts } from '../settle/staged-parts.ts';
import { findOverlap, NO_OVERLAP, requireNothingUnderWay } from './user-state.ts';
import { unmergedBase } from '../publish/unmerged-base.ts';
import { WorkMessages } from './work-messages.ts';

const OPERATION = 'integration.plan';

export async function makePlan(
  store: Store,
  user: UserRepository,
  id: SandboxId,
  request: PlanRequest,
  signal: AbortSignal | undefined,
): Promise<IntegrationPlan> {
  const meta = await readMeta(store, id);
  parseMergeArguments(request.arguments);
  const headRef = await readHeadRef(user, { signal });
  const head = await resolveHead(user, headRef, { signal });
  if (headRef === reviewBranch(meta.slug)) throw onReviewBranch(meta);
  await requireNothingUnderWay(user, signal);
  const { tip: newest, checkedIn } = await readCheckedInTip(store, user, id, meta.base.tree, signal);
  const committed = await store.commitTree(head);
  const config = await readUserConfig(user, '^((merge|diff|commit|filter)\\.|branch\\..*\\.mergeoptions$)', signal);
  const { options, notFollowed } = withConfiguredArguments(request.arguments, mergeOptionsOf(config, headRef, request));

  const message = request.message ?? options.message;
  if (message !== undefined) checkedMessage(message);
  const work = await findUntakenWork(store, id, meta, newest, head, checkedIn, signal);
  const { parts = [] } = request;
  const paths = [...(request.paths ?? []), ...parts.map(({ path }) => path)];
  const from = { base: meta.base.tree, onto: work.ontoTree, tip: newest.tree, slug: meta.slug };
  const selected = paths.length === 0 ? newest.tree : await selectedTree(store, from, paths, signal);
  const ofWhole = { head: work.ontoTree, result: selected, conflicts: new Set<ByteString>() };
  const { ofWork, ofApply } = await partsOfWork(store, ofWhole, parts, signal);
  const tip = { ...newest, tree: await partialTree(store, ofWhole, ofWork, meta.slug, signal) };
  const halves = paths.length === 0 ? [] : await halfRenames(store, work.ontoTree, newest.tree, paths, signal);
  const theirs = await theirCommit(store, work.onto, tip);
  // An apply goes on from edits of the person's that the sandbox began with, and from parts of an apply before.
  const isStaging = request.integration === 'apply' && request.commit !== true;
  const entries = isStaging ? await readChangedEntries(user, signal) : [];
  const begins = { head: committed, began: work.ontoTree, work: tip.tree, changed: entries };
  const begunFiles = isStaging ? await findBegunFiles(store, user, begins, signal) : noBegunFiles(committed);
  const headTree = begunFiles.tree;
  const ours = headTree === committed ? head : await theirCommit(store, head, { ...tip, tree: headTree });
  const sides = { ours, theirs, slug: meta.slug, ...(work.isWhole ? {} : { baseTree: work.ontoTree }) };
  const trees = { base: work.ontoTree, ours: headTree, theirs: tip.tree };
  const attributes = await readMergeAttributes(store, user, trees, signal);
  const rules = { configuration: mergeSettings(config), attributes };
  const merge = async (commit: ObjectId) =>
    await mergeTrees(store, { ...sides, theirs: commit }, options, rules, signal);
  const unsettled = await merge(theirs);
  const merged = await settleConflicts(store, unsettled, request.settled ?? [], meta.slug);
  const isContained = work.isHeld && work.steps.length === 0;
  const isNothing =
    isContained || (merged.stages.length === 0 && merged.tree === headTree && options.strategy !== 'ours');
  const kind = isNothing ? 'nothing' : kindOf(request, options, work, head, config);
  const conflicts = new Set(isNothing ? [] : merged.stages.map(({ path }) => path));
  const whole = { head: headTree, result: kind === 'fast-forward' ? tip.tree : merged.tree, conflicts };
  const ofAll = async () =>
    ofWork.length === 0 ? merged.tree : (await merge(await theirCommit(store, work.onto, newest))).tree;
  const onTop = await onStagedParts(store, { ...whole, whole: ofAll }, kind === 'stage' ? entries : [], signal);
  const fromTree = onTop.from;
  const begun = { head: fromTree, result: onTop.result, conflicts };
  const resultTree = await partialTree(store, begun, ofApply, meta.slug, signal);
  const messages = await WorkMessages.read(store, meta.slug, work, tip.commit);
  const isOne = kind === 'plain-commit' || kind === 'stage';
  const words = kind === 'merge-commit' ? `Merge sandbox '${meta.slug}'\n` : isOne ? messages.ofAll() : '';

  const steps: PathStep[] = [];
  const onStep = (step: PathStep) => steps.push(step);
  const all = isNothing ? [] : await compareTrees(store, [fromTree, resultTree], { signal, onStep });
  const stagingOptions = { begun: begunFiles.paths, ...(isStaging && { changed: entries }) };
  const overlap = isNothing
    ? NO_OVERLAP
    : await findOverlap(user, steps, { ...stagingOptions, isStaging: kind === 'stage' }, signal);
  // A commit that is made here gets those files too; one of the person's has them.
  const already = kind === 'stage' ? overlap.already : new Set<ByteString>();
  const compared = all.filter(({ path }) => !already.has(toByteString(path)));
  const left = steps.filter(({ path }) => !already.has(path));
  const upToDate = isNothing || (kind === 'stage' && left.length === 0 && conflicts.size === 0);
  const large = isNothing ? [] : await largeFilesOf(store, user, id, newest.tree, work, checkedIn, signal);
  const files = await readWritten(store, left, large, signal);
  const changes = withLargeFiles(compared, left, files);
  const token: PlanToken = {
    version: 1,
    theirs,
    onto: work.onto,
    drafts: draftsOf(kind, work, messages, message),
    headTree,
    ...(fromTree !== committed && { fromTree, begun: overlap.begun }),
    ...(paths.length > 0 && { isPart: true }),
    resultTree,
    stages: isNothing ? [] : merged.stages,
    steps,
    largeFiles: large,
    kind,
    message: message ?? words,
    arguments: withDefaultSigning(options, config),
  };
  const configured = await readConfiguredPaths(user, signal);
  const commits = token.drafts.map((draft) => draft.tree);
  const passing = await passingChanges(store, work.ontoTree, commits, large, configured, signal);
  const changed = new Set(changes.map(({ path }) => path));
  const filters = await filtersPassedOver(store, config, left, resultTree, signal);
  const risky = await scanRisks(store, changes, left, files, resultTree, configured, signal);
  return {
    integration: request.integration,
    sandbox: id,
    slug: meta.slug,
    tip: tip.commit,
    head,
    ...(headRef === undefined ? {} : { headRef }),
    changes: changes.map((change) => (conflicts.has(toByteString(change.path)) ? withoutCounts(change) : change)),
    conflicts: [...conflicts].map(fromByteString),
    risky: [...withRisks(risky, filters.risky), ...passing.risky.filter(({ path }) => !changed.has(path))],
    ...(halves.length > 0 && { halfRenames: halves }),
    ...(passing.paths.length > 0 && { passing: passing.paths }),
    dirtyOverlap: [...overlap.tracked, ...overlap.untracked, ...overlap.hidden].map(fromByteString),
    ...(already.size > 0 && { already: [...already].map(fromByteString) }),
    upToDate,
    unmilestoned: await countUnmilestoned(store, id, newest),
    messages: messagesOf(token),
    ...(await unmergedBase(store, id, meta, work, head, signal)),
    ...(await passedOver(user, kind, { filters: filters.names, mergeOptions: notFollowed }, signal)),
    token,
  };
}

/** The files of a planned apply, for somebody who takes parts of them. */
export function offeredOf(
  store: Store,
  { token, changes, conflicts }: IntegrationPlan,
  signal: AbortSignal | undefined,
): AsyncIterable<OfferedFile> {
  const { headTree, fromTree: head = headTree, resultTree: result, steps } = token as PlanToken;
  const whole = { head, result, steps, conflicts: new Set(conflicts.map(toByteString)) };
  return offeredFiles(store, whole, changes, signal);
}

/** One file in conflict, for somebody who settles it. */
export async function conflictOf(
  store: Store,
  { token, slug }: IntegrationPlan,
  path: string,
  signal: AbortSignal | undefined,
): Promise<ConflictFile> {
  return await readConflict(store, { stages: (token as PlanToken).stages, slug }, path, signal);
}

/** Revisions after the last milestone; none where there is no milestone, and so no branch that somebody could take for all of it. */
async function countUnmilestoned(store: Store, id: SandboxId, tip: Revision): Promise<number> {
  const last = (await readMilestones(store, id)).at(-1);
  return last === undefined ? 0 : tip.number - last.number;
}

function messagesOf({ kind, drafts, message }: PlanToken): readonly string[] {
  const all = drafts.map((draft) => draft.message);
  return kind === 'merge-commit' || kind === 'plain-commit' ? [...all, message] : all;
}

/** What the trees of the plan have pointers to: those of the tip, and of milestones that become commits. */
async function largeFilesOf(
  store: Store,
  user: UserRepository,
  id: SandboxId,
  tree: ObjectId,
  { steps }: UntakenWork,
  checkedIn: CheckedInTrees,
  signal: AbortSignal | undefined,
): Promise<readonly LargeFileContent[]> {
  const own = [...checkedIn.contents.values()];
  if (!(await mayHaveLargeFiles(user, store, tree))) return own;
  const milestones = new Set(steps.map(({ milestone }) => milestone));
  return [...own, ...(await madePointers(store, id, (commit) => milestones.has(commit), signal)).values()];
}

/** `git apply` has none, and a branch that nothing is checked out of has no name. */
function mergeOptionsOf(
  config: ReadonlyMap<string, string>,
  headRef: string | undefined,
  { integration }: PlanRequest,
): string | undefined {
  const branch = headRef?.replace('refs/heads/', '');
  return integration === 'merge' && branch !== undefined ? config.get(`branch.${branch}.mergeoptions`) : undefined;
}

async function passedOver(
  user: UserRepository,
  kind: PlanKind,
  { filters, mergeOptions }: { readonly filters: readonly string[]; readonly mergeOptions: string | undefined },
  signal: AbortSignal | undefined,
): Promise<Pick<IntegrationPlan, 'notFollowed'>> {
  const makesCommits = kind !== 'stage' && kind !== 'nothing';
  const hooks = makesCommits ? await hooksPassedOver(user, signal) : [];
  if (hooks.length + filters.length === 0 && mergeOptions === undefined) return {};
  return {
    notFollowed: { hooks, ...(filters.length > 0 && { filters }), ...(mergeOptions !== undefined && { mergeOptions }) },
  };
}

/** Of a file with conflict markers the counts would tell of those. */
function withoutCounts({ addedLines: _added, removedLines: _removed, ...change }: FileChange): FileChange {
  return change;
}

function onReviewBranch({ slug, base }: SandboxMeta): LitterboxError {
  const name = base.headRef?.replace('refs/heads/', '');
  return new LitterboxError(
    'CONFLICT',
    `litterbox/${slug} is checked out: the sandbox's own branch cannot take its work.`,
    {
      operation: OPERATION,
      hint: `Check out the branch that is to have it${name === undefined ? '' : `, such as with git switch ${name}`}.`,
    },
  );
}

/** A message of the person's is that of a merge commit where there is one, else of the last commit. */
function draftsOf(
  kind: PlanKind,
  work: UntakenWork,
  messages: WorkMessages,
  message: string | undefined,
): PlanToken['drafts'] {
  if (kind !== 'fast-forward' && kind !== 'merge-commit') return [];
  const words = messages.ofSteps();
  return work.steps.map(({ tree }, index) => {
    const isLast = index === work.steps.length - 1;
    const own = kind === 'fast-forward' && isLast ? message : undefined;
    return { tree, message: own ?? words[index] ?? '' };
  });
}
