import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  type IntegrationPlan,
  type IntegrationResult,
  LitterboxError,
  type ObjectId,
  advice,
  failpoint,
  step,
  visibleName,
} from '@litterbox/core/provider';
import { fromByteString } from '../git/byte-text.ts';
import { readChangedEntries } from '../person/already-there.ts';
import { createStash } from '../person/create-stash.ts';
import { filteredAmong, readTreeFilters } from '../person/external-filters.ts';
import { oneLine } from '../git/git-failure.ts';
import { readHeadRef, resolveHead } from '../base/find-base.ts';
import { findBegunFiles } from '../settle/begun-files.ts';
import { headMoved, Integration } from './integrate.ts';
import { type IntegrationRecord, readJournal } from './integration-journal.ts';
import type { PlanToken } from '../plan/plan-token.ts';
import { CheckedInTrees } from '../large-files/checked-in-trees.ts';
import { publishObjects } from '../publish/publish-objects.ts';
import { requireSteadyFilters } from './steady-filters.ts';
import { recoverIntegration } from './recover-integration.ts';
import { PersonsCommits, withSandbox } from '../person/persons-commits.ts';
import type { PathStep } from '../store/read-diff.ts';
import type { Store } from '../store/store.ts';
import { rememberTaken } from '../publish/taken-work.ts';
import type { UserRepository } from '../person/user-repository.ts';
import { requireClean } from '../person/require-clean.ts';
import { findOverlap, type Overlap, requireNothingUnderWay, requireUnlocked } from '../plan/user-state.ts';
import { requireRoom } from './work-tree-room.ts';

const OPERATION = 'integration.execute';

export async function executePlan(
  store: Store,
  user: UserRepository,
  plan: IntegrationPlan,
  autostash: boolean,
  signal: AbortSignal | undefined,
): Promise<IntegrationResult> {
  const token = plan.token as PlanToken;
  if (token?.version !== 1) throw new LitterboxError('INVALID_ARGUMENT', 'This is no plan.', { operation: OPERATION });
  return store.userLock.hold(
    OPERATION,
    async () => {
      if (await readJournal(store)) await recoverIntegration(store, user);
      const headRef = await readHeadRef(user, { signal });
      if ((await resolveHead(user, headRef, { signal })) !== plan.head || headRef !== plan.headRef) {
        throw headMoved(plan.head);
      }
      await requireNothingUnderWay(user, signal);
      if (token.kind === 'nothing') {
        if (plan.integration === 'merge')
          await rememberTaken(store, plan.sandbox, { commit: plan.head, tip: plan.tip });
        return { outcome: 'up-to-date', conflicts: [] };
      }
      await requireUnlocked(user, headRef);
      return await carryOut({ store, user, plan, token, autostash, signal });
    },
    { signal },
  );
}

/** A plan that is carried out. */
interface Order {
  readonly store: Store;
  readonly user: UserRepository;
  readonly plan: IntegrationPlan;
  readonly token: PlanToken;
  readonly autostash: boolean;
  readonly signal: AbortSignal | undefined;
}

async function carryOut(order: Order): Promise<IntegrationResult> {
  const { store, user, plan, token, signal } = order;
  const isStaging = token.kind === 'stage';
  const overlap = await findOverlap(user, token.steps, { isStaging, begun: new Set(token.begun) }, signal);
  const isStashing = order.autostash && overlap.tracked.length > 0;
  // A stash puts back what was there already, on top of all.
  const isDone = ({ path }: PathStep) => (isStashing ? overlap.alreadyUntracked : overlap.already).has(path);
  const steps = token.steps.filter((step) => !isDone(step));
  if (isStaging && token.stages.length === 0 && steps.length === 0) return { outcome: 'up-to-date', conflicts: [] };
  if (plan.upToDate) throw notThereAnyMore();
  await requireNothingLost(order, overlap, isStashing);
  await placeObjects(order, steps);
  const hasConflicts = token.stages.length > 0;
  const { theirs, newHead } = await makeCommits(user, plan, token, hasConflicts, signal);
  // The last moment at which nothing has happened.
  signal?.throwIfAborted();

  const stash = isStashing ? await createStash(user, 'litterbox autostash') : undefined;
  const stateFiles = stateFilesFor(plan, token, theirs, stash);
  const conflicts = new Set(token.stages.map(({ path }) => path));
  const leftOut = [...overlap.leftOut].filter((path) => !conflicts.has(path));
  const record = recordOf(order, { newHead, steps, stateFiles, stash, marks: overlap.marks, leftOut });
  // Before HEAD moves: a commit that no branch contains counts as not taken.
  // A commit of some of the files does not hold the work.
  const commit = plan.integration === 'apply' && token.isPart ? undefined : (theirs ?? newHead);
  await rememberTaken(store, plan.sandbox, { tip: plan.tip, ...(commit !== undefined && { commit }) });
  const integration = new Integration(store, user, record);
  await moveThere(order, integration, newHead);
  await integration.phase('unstashing');
  const stashConflicts = (await integration.unstash()) ?? [];
  failpoint('integrate.after-unstash');
  failpoint('integrate.before-close');
  await integration.close();
  failpoint('integrate.after-close');
  if (hasConflicts) return { outcome: 'conflicts', conflicts: plan.conflicts };
  if (newHead === undefined) return { outcome: 'staged', conflicts: stashConflicts };
  return { outcome: 'committed', commit: newHead, conflicts: stashConflicts };
}

/** Refuses where the result would run over something of the person's that no stash holds. */
async function requireNothingLost(order: Order, overlap: Overlap, isStashing: boolean): Promise<void> {
  const { user, token, autostash, signal } = order;
  if (token.kind !== 'stage') await requireNothingBegun(order, overlap);
  requireClean(overlap.untracked.map(fromByteString), 'move');
  requireClean(overlap.hidden.map(fromByteString), 'unmark');
  if (token.begun?.some((path) => !overlap.begun.includes(path))) throw notThereAnyMore();
  if (isStashing) requireClean(overlap.begun.map(fromByteString), 'parts');
  if (!autostash) requireClean(overlap.tracked.map(fromByteString), 'stash');
  if (!isStashing) return;
  requireClean(overlap.lostByStash.map(fromByteString), 'unmark');
  // They would go back through it when the tree has what the sandbox made of the program.
  const filters = await readTreeFilters(user, signal);
  const filtered = await filteredAmong(user, filters, overlap.dirty, undefined, signal);
  requireClean([...filtered.keys()].map(fromByteString), 'filter');
}

/** Brings the objects of the result into the person's repository, and makes sure of room for its files. */
async function placeObjects({ store, user, plan, token, signal }: Order, steps: readonly PathStep[]): Promise<void> {
  const { fromTree } = token;
  const trees = [token.resultTree, ...(fromTree ? [fromTree] : []), ...token.drafts.map(({ tree }) => tree)];
  failpoint('integrate.before-objects');
  await CheckedInTrees.place(store, user, token.largeFiles, signal);
  await publishObjects(store, user, [...trees, ...token.stages.map(({ oid }) => oid)], [plan.head], signal);
  await requireSteadyFilters(user, token, signal);
  await requireRoom(store, user, steps, join(user.gitDirectory, 'index'), signal);
}

/** The journal, by which a killed process is undone or finished. */
function recordOf(
  { user, plan, token }: Order,
  {
    newHead,
    stash,
    ...rest
  }: Pick<IntegrationRecord, 'steps' | 'stateFiles' | 'marks' | 'leftOut'> & {
    readonly newHead: ObjectId | undefined;
    readonly stash: ObjectId | undefined;
  },
): IntegrationRecord {
  const uuid = randomUUID();
  return {
    version: 1,
    phase: 'updating',
    integration: plan.integration,
    sandbox: plan.sandbox,
    slug: plan.slug,
    root: user.root,
    head: plan.head,
    ...(token.fromTree && { from: token.fromTree }),
    ...(newHead !== undefined && { newHead }),
    marker: `litterbox ${uuid}\n`,
    nextIndex: join(user.gitDirectory, `index.litterbox-${uuid}`),
    ...(stash !== undefined && { stash }),
    keepsStash: token.stages.length > 0,
    ...rest,
  };
}

/** Moves files, index and HEAD, or puts back all of them. */
async function moveThere(
  { user, plan, token }: Order,
  integration: Integration,
  newHead: ObjectId | undefined,
): Promise<void> {
  await integration.stash();
  await integration.phase('updating');
  failpoint('integrate.after-journal');
  try {
    await integration.prepareRollBack();
    await integration.lock();
  } catch (error) {
    await integration.release();
    throw error;
  }
  try {
    failpoint('integrate.after-lock');
    await integration.updateFiles(token.stages, undefined);
    failpoint('integrate.after-files');
    await integration.phase('finishing');
    failpoint('integrate.before-head');
    await integration.finish();
    failpoint('integrate.after-finish');
  } catch (error) {
    const now = await user.text(['rev-parse', '--verify', 'HEAD']).catch(() => undefined);
    if (newHead !== undefined && now === newHead) throw error; // reconcile finishes it
    await integration.rollBack().catch((cause: unknown) => {
      throw halfDone(plan, cause);
    });
    if (now !== plan.head) throw headMoved(plan.head);
    throw error;
  }
}

/** A commit of the work over changes that it began with needs those committed: put aside, they would conflict with it. */
async function requireNothingBegun(
  { store, user, token: { headTree, onto, stages }, autostash, signal }: Order,
  { tracked, untracked }: Overlap,
): Promise<void> {
  if (tracked.length + untracked.length === 0) return;
  const began = await store.commitTree(onto);
  const trees = { head: headTree, began, work: began };
  const changed = await readChangedEntries(user, signal);
  const { paths } = await findBegunFiles(store, user, { ...trees, changed }, signal);
  const conflicts = new Set(stages.map(({ path }) => path));
  const stashed = autostash ? tracked.filter((path) => conflicts.has(path)) : tracked;
  requireClean([...stashed, ...untracked].filter((path) => paths.has(path)).map(fromByteString), 'begun');
}

const notThereAnyMore = () =>
  new LitterboxError('CONFLICT', 'Your work tree is not any more as it was when this was planned.', {
    operation: OPERATION,
    hint: 'Repeat it.',
  });

/** Neither done nor undone: the journal stays, and who changes something next undoes it. */
function halfDone({ integration, slug }: IntegrationPlan, cause: unknown): LitterboxError {
  const text = cause instanceof Error ? cause.message : String(cause);
  const isFull = /No space left on device|ENOSPC|EDQUOT/.test(text);
  return new LitterboxError(
    isFull ? 'DISK_FULL' : 'REPO_CORRUPT',
    `The ${integration} of ${slug} is half done in the work tree, and could not be undone: ${oneLine(text)}`,
    {
      operation: OPERATION,
      hint: advice`${isFull ? 'Make room. ' : ''}Then run ${step(`sandbox-${integration}`, { sandbox: slug })} again: it undoes that first, and keeps what it does not know.`,
    },
    { cause },
  );
}

/**
 * The person's commits: `theirs` is the sandbox's work on what the branch has of it already, and `newHead` what HEAD moves to. Each is
 * absent where there is none.
 */
async function makeCommits(
  user: UserRepository,
  plan: IntegrationPlan,
  token: PlanToken,
  hasConflicts: boolean,
  signal: AbortSignal | undefined,
): Promise<{ readonly theirs?: ObjectId; readonly newHead?: ObjectId }> {
  if (token.kind === 'stage' || (token.kind === 'plain-commit' && hasConflicts)) return {};
  const commits = await PersonsCommits.of(user, token.arguments, signal);
  const { resultTree: tree } = token;
  if (token.kind === 'plain-commit') {
    const message = withSandbox(token.message, plan.slug);
    return { newHead: await commits.make({ tree, parents: [plan.head], message }) };
  }
  let theirs = token.onto;
  for (const draft of token.drafts) {
    const message = withSandbox(draft.message, plan.slug);
    theirs = await commits.make({ tree: draft.tree, parents: [theirs], message });
  }
  if (hasConflicts) return { theirs };
  if (token.kind === 'fast-forward') return { theirs, newHead: theirs };
  return { theirs, newHead: await commits.make({ tree, parents: [plan.head, theirs], message: token.message }) };
}

/** What git leaves behind a merge that conflicts, so that `git merge --abort` and `git commit` know. */
function stateFilesFor(
  plan: IntegrationPlan,
  token: PlanToken,
  theirs: ObjectId | undefined,
  stash: ObjectId | undefined,
): Readonly<Record<string, string>> {
  const message = theirs === undefined ? withSandbox(token.message, plan.slug) : token.message.replace(/\n*$/, '\n');
  if (token.stages.length === 0) {
    return token.kind === 'stage' && plan.integration === 'merge' ? { SQUASH_MSG: message } : {};
  }
  const list = plan.conflicts.map((path) => `#\t${visibleName(path)}\n`).join('');
  // With HEAD itself as the second parent a commit ends up with one: an apply brings in files, not history.
  return {
    ORIG_HEAD: `${plan.head}\n`,
    MERGE_HEAD: `${theirs ?? plan.head}\n`,
    MERGE_MSG: `${message}\n# Conflicts:\n${list}`,
    MERGE_MODE: theirs !== undefined && token.arguments.fastForward === 'never' ? 'no-ff' : '',
    ...(stash === undefined ? {} : { MERGE_AUTOSTASH: `${stash}\n` }),
  };
}
