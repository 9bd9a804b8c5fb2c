import type {
  ConflictFile,
  FileChange,
  IntegrationPlan,
  OfferedFile,
  PlanRequest,
  Revision,
  SandboxId,
} from '@litterbox/core/provider';
import { fromByteString, toByteString } from '../git/byte-text.ts';
import { readConfiguredPaths } from '../person/configured-paths.ts';
import { hooksPassedOver } from '../person/hooks-passed-over.ts';
import { withDefaultSigning } from '../person/merge-arguments.ts';
import type { UserRepository } from '../person/user-repository.ts';
import { offeredFiles } from '../publish/offered-files.ts';
import type { PlanKind } from '../publish/plan-kind.ts';
import { unmergedBase } from '../publish/unmerged-base.ts';
import type { UntakenWork } from '../publish/untaken-work.ts';
import { readConflict } from '../settle/read-conflict.ts';
import { readMilestones } from '../store/sandbox-refs.ts';
import type { Store } from '../store/store.ts';
import { type ChosenWork, type PlanScope, readChosenWork } from './chosen-work.ts';
import { filtersPassedOver, withRisks } from './filters-passed-over.ts';
import { type MergedWork, mergeChosenWork } from './merged-work.ts';
import { passingChanges } from './passing-changes.ts';
import type { PlanToken } from './plan-token.ts';
import { type PlannedFiles, planFiles } from './planned-files.ts';
import { scanRisks } from './scan-risks.ts';
import { WorkMessages } from './work-messages.ts';

export async function makePlan(
  store: Store,
  user: UserRepository,
  id: SandboxId,
  request: PlanRequest,
  signal: AbortSignal | undefined,
): Promise<IntegrationPlan> {
  const scope: PlanScope = { store, user, id, signal };
  const chosen = await readChosenWork(scope, request);
  const merged = await mergeChosenWork(scope, request, chosen);
  const files = await planFiles(scope, chosen, merged);
  const token = await tokenOf(scope, chosen, merged, files);
  const configured = await readConfiguredPaths(user, signal);
  const commits = token.drafts.map((draft) => draft.tree);
  const passing = await passingChanges(store, chosen.work.ontoTree, commits, files.largeFiles, configured, signal);
  const { changes, steps } = files;
  const changed = new Set(changes.map(({ path }) => path));
  const filters = await filtersPassedOver(store, chosen.config, steps, merged.resultTree, signal);
  const risky = await scanRisks(store, changes, steps, files.written, merged.resultTree, configured, signal);
  const { meta, head, headRef, work } = chosen;
  const { conflicts } = merged;
  return {
    integration: request.integration,
    sandbox: id,
    slug: meta.slug,
    tip: chosen.tip.commit,
    head,
    ...(headRef !== undefined && { headRef }),
    changes: changes.map((change) => (conflicts.has(toByteString(change.path)) ? withoutCounts(change) : change)),
    conflicts: [...conflicts].map(fromByteString),
    risky: [...withRisks(risky, filters.risky), ...passing.risky.filter(({ path }) => !changed.has(path))],
    ...(chosen.halves.length > 0 && { halfRenames: chosen.halves }),
    ...(passing.paths.length > 0 && { passing: passing.paths }),
    dirtyOverlap: files.inTheWay,
    ...(files.already.length > 0 && { already: files.already }),
    upToDate: files.upToDate,
    unmilestoned: await countUnmilestoned(store, id, chosen.newest),
    messages: messagesOf(token),
    ...(await unmergedBase(store, id, meta, work, head, signal)),
    ...(await passedOver(user, merged.kind, { filters: filters.names, mergeOptions: chosen.notFollowed }, signal)),
    token,
  };
}

async function tokenOf(
  { store }: PlanScope,
  { meta, work, tip, headTree, isPart, config, options, message }: ChosenWork,
  { kind, isNothing, theirs, branchTree, fromTree, resultTree, stages }: MergedWork,
  { allSteps, begun, largeFiles }: PlannedFiles,
): Promise<PlanToken> {
  const messages = await WorkMessages.read(store, meta.slug, work, tip.commit);
  const isOne = kind === 'plain-commit' || kind === 'stage';
  const words = kind === 'merge-commit' ? `Merge sandbox '${meta.slug}'\n` : isOne ? messages.ofAll() : '';
  return {
    version: 1,
    theirs,
    onto: work.onto,
    drafts: draftsOf(kind, work, messages, message),
    headTree: branchTree,
    ...(fromTree !== headTree && { fromTree, begun }),
    ...(isPart && { isPart }),
    resultTree,
    stages: isNothing ? [] : stages,
    steps: allSteps,
    largeFiles,
    kind,
    message: message ?? words,
    arguments: withDefaultSigning(options, config),
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
