import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  type IntegrationPlan,
  type IntegrationResult,
  LitterboxError,
  type ObjectId,
  reach,
  visibleName,
} from '@litterbox/core/provider';
import { fromByteString } from './byte-text.ts';
import { createStash } from './create-stash.ts';
import { readHeadRef, resolveHead } from './find-base.ts';
import { GitFailure } from './git-failure.ts';
import { headMoved, Integration } from './integrate.ts';
import { type IntegrationRecord, readJournal } from './integration-journal.ts';
import type { PlanToken } from './make-plan.ts';
import { publishObjects } from './publish-objects.ts';
import { requireSteadyFilters } from './steady-filters.ts';
import { recoverIntegration } from './recover-integration.ts';
import { sandboxRefs } from './sandbox-refs.ts';
import type { Store } from './store.ts';
import type { UserRepository } from './user-repository.ts';
import { findOverlap, requireClean, requireNothingUnderWay, requireUnlocked } from './user-state.ts';

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
        await rememberMerged(store, plan, plan.head);
        return { outcome: 'up-to-date', conflicts: [] };
      }
      await requireUnlocked(user, headRef);
      return carryOut(store, user, plan, token, autostash, signal);
    },
    { signal },
  );
}

async function carryOut(
  store: Store,
  user: UserRepository,
  plan: IntegrationPlan,
  token: PlanToken,
  autostash: boolean,
  signal: AbortSignal | undefined,
): Promise<IntegrationResult> {
  const written = new Set(token.steps.filter((step) => step.new).map(({ path }) => path));
  const removed = new Set(token.steps.filter((step) => !step.new).map(({ path }) => path));
  const overlap = await findOverlap(user, written, removed, signal);
  requireClean(overlap.untracked.map(fromByteString), false);
  if (!autostash) requireClean(overlap.tracked.map(fromByteString), true);
  const hasConflicts = token.stages.length > 0;

  const stageOids = token.stages.map(({ oid }) => oid);
  reach('integrate.before-objects');
  await publishObjects(store, user, [token.theirs, token.resultTree, ...stageOids], [plan.head], signal);
  await requireSteadyFilters(user, token, signal);
  const newHead = hasConflicts ? undefined : await commitFor(user, plan, token, signal);
  // The last moment at which nothing has happened.
  signal?.throwIfAborted();

  const stash = overlap.tracked.length > 0 ? await createStash(user, 'litterbox autostash') : undefined;
  const uuid = randomUUID();
  const record: IntegrationRecord = {
    version: 1,
    phase: 'updating',
    integration: plan.integration,
    sandbox: plan.sandbox,
    slug: plan.slug,
    root: user.root,
    head: plan.head,
    ...(newHead === undefined ? {} : { newHead }),
    marker: `litterbox ${uuid}\n`,
    nextIndex: join(user.gitDirectory, `index.litterbox-${uuid}`),
    steps: token.steps,
    stateFiles: stateFilesFor(plan, token, stash),
    ...(stash === undefined ? {} : { stash }),
    keepsStash: hasConflicts,
  };
  const integration = new Integration(store, user, record);
  await integration.stash();
  await integration.phase('updating');
  reach('integrate.after-journal');
  try {
    await integration.lock();
  } catch (error) {
    await integration.release();
    throw error;
  }
  try {
    reach('integrate.after-lock');
    await integration.updateFiles(token.stages, undefined);
    reach('integrate.after-files');
    await integration.phase('finishing');
    reach('integrate.before-head');
    await integration.finish();
    reach('integrate.after-finish');
  } catch (error) {
    const now = await user.text(['rev-parse', '--verify', 'HEAD']).catch(() => undefined);
    if (newHead !== undefined && now === newHead) throw error; // reconcile finishes it
    await integration.rollBack();
    if (now !== plan.head) throw headMoved(plan.head);
    throw error;
  }
  await integration.phase('unstashing');
  const stashConflicts = (await integration.unstash()) ?? [];
  reach('integrate.after-unstash');
  await rememberMerged(store, plan, newHead);
  reach('integrate.before-close');
  await integration.close();
  reach('integrate.after-close');
  if (hasConflicts) return { outcome: 'conflicts', conflicts: plan.conflicts };
  if (newHead === undefined) return { outcome: 'staged', conflicts: stashConflicts };
  return { outcome: 'committed', commit: newHead, conflicts: stashConflicts };
}

/** So that `isMerged` knows of merges that no comparison of trees would show. */
async function rememberMerged(store: Store, plan: IntegrationPlan, newHead: ObjectId | undefined): Promise<void> {
  if (newHead === undefined || plan.integration !== 'merge') return;
  await store.lock.hold(OPERATION, async () => {
    const refs = sandboxRefs(plan.sandbox);
    if (store.refs.read(refs.meta) === undefined) return;
    await store.refs.write(refs.merged, newHead);
    await store.refs.write(refs.mergedTip, plan.tip);
  });
}

/** The commit HEAD will move to; `undefined` when it stays where it is. */
async function commitFor(
  user: UserRepository,
  plan: IntegrationPlan,
  token: PlanToken,
  signal: AbortSignal | undefined,
): Promise<ObjectId | undefined> {
  if (token.kind === 'fast-forward') return token.theirs;
  if (token.kind !== 'merge-commit' && token.kind !== 'plain-commit') return undefined;
  const identity = await user.run(['var', 'GIT_COMMITTER_IDENT'], { setting: 'user', signal });
  const strict = await user.run(['-c', 'user.useConfigOnly=true', 'var', 'GIT_COMMITTER_IDENT'], {
    setting: 'user',
    signal,
  });
  if (identity.code !== 0 || strict.code !== 0) {
    throw new LitterboxError('INVALID_ARGUMENT', 'git does not know who you are, so it cannot make a commit.', {
      operation: OPERATION,
      hint: 'Set user.name and user.email with git config --global.',
    });
  }
  const { signOff, signingKey } = token.arguments;
  const who = strict.stdout.toString().replace(/ \d+ [+-]\d+\s*$/, '');
  const parents = ['-p', plan.head, ...(token.kind === 'merge-commit' ? ['-p', token.theirs] : [])];
  const signing = signingKey === undefined ? [] : [`-S${signingKey}`];
  const args = ['commit-tree', ...signing, ...parents, '-F', '-', token.resultTree];
  const input = signOff ? withSignOff(token.message, who) : token.message;
  const made = await user.run(args, { setting: 'user', input, signal });
  if (made.code === 0) return made.stdout.toString().trimEnd() as ObjectId;
  if (signingKey === undefined) throw new GitFailure(args, made.code, made.stderr);
  throw new LitterboxError('INVALID_ARGUMENT', `The commit could not be signed: ${made.stderr.trim()}`, {
    operation: OPERATION,
    hint: 'Check user.signingKey and gpg.program.',
  });
}

function withSignOff(message: string, who: string): string {
  const text = message.replace(/\n+$/, '');
  const line = `Signed-off-by: ${who}`;
  const last = text.split('\n\n').at(-1) ?? '';
  const hasTrailers = text.includes('\n\n') && last.split('\n').every((each) => /^[A-Za-z-]+: /.test(each));
  return `${text}${hasTrailers ? '\n' : '\n\n'}${line}\n`;
}

/** What git leaves behind a merge that conflicts, so that `git merge --abort` and `git commit` know. */
function stateFilesFor(
  plan: IntegrationPlan,
  token: PlanToken,
  stash: ObjectId | undefined,
): Readonly<Record<string, string>> {
  const message = token.message.replace(/\n*$/, '\n');
  if (token.stages.length === 0) {
    return token.kind === 'stage' && plan.integration === 'merge' ? { SQUASH_MSG: message } : {};
  }
  const list = plan.conflicts.map((path) => `#\t${visibleName(path)}\n`).join('');
  // With HEAD itself as the second parent a commit ends up with one: an apply brings in files, not history.
  const brings = token.kind === 'merge-commit' || token.kind === 'fast-forward';
  return {
    ORIG_HEAD: `${plan.head}\n`,
    MERGE_HEAD: `${brings ? token.theirs : plan.head}\n`,
    MERGE_MSG: `${message}\n# Conflicts:\n${list}`,
    MERGE_MODE: brings && token.arguments.fastForward === 'never' ? 'no-ff' : '',
    ...(stash === undefined ? {} : { MERGE_AUTOSTASH: `${stash}\n` }),
  };
}
