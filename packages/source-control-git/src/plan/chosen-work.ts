import {
  checkedMessage,
  type HalfRename,
  LitterboxError,
  type ObjectId,
  type PlanRequest,
  type Revision,
  type SandboxId,
} from '@litterbox/core/provider';
import { readHeadRef, resolveHead } from '../base/find-base.ts';
import type { ByteString } from '../git/byte-text.ts';
import type { CheckedInTrees } from '../large-files/checked-in-trees.ts';
import { type MergeArguments, parseMergeArguments, withConfiguredArguments } from '../person/merge-arguments.ts';
import { readUserConfig } from '../person/user-config.ts';
import type { UserRepository } from '../person/user-repository.ts';
import { halfRenames } from '../publish/half-renames.ts';
import { partialTree, type PartsOfWork, partsOfWork } from '../publish/partial-tree.ts';
import { readCheckedInTip } from '../publish/read-checked-in-tip.ts';
import { findUntakenWork, type UntakenWork } from '../publish/untaken-work.ts';
import { readMeta, reviewBranch, type SandboxMeta } from '../store/sandbox-refs.ts';
import type { Store } from '../store/store.ts';
import { selectedTree } from './selected-tree.ts';
import { requireNothingUnderWay } from './user-state.ts';

/** The repositories and the sandbox that a plan is made for. */
export interface PlanScope {
  readonly store: Store;
  readonly user: UserRepository;
  readonly id: SandboxId;
  readonly signal: AbortSignal | undefined;
}

/** The part of a sandbox's work that a request takes, and the branch that is to have it. */
export interface ChosenWork extends PartsOfWork {
  readonly meta: SandboxMeta;
  readonly head: ObjectId;
  /** Absent where nothing is checked out by a branch. */
  readonly headRef: string | undefined;
  readonly headTree: ObjectId;
  /** The person's settings of git that a merge follows. */
  readonly config: ReadonlyMap<string, string>;
  readonly options: MergeArguments;
  /** Configured options that Litterbox does not follow. */
  readonly notFollowed: string | undefined;
  /** The person's own message. */
  readonly message: string | undefined;
  readonly work: UntakenWork;
  /** The last revision, checked in. */
  readonly newest: Revision;
  /** The same with the chosen files and parts of files alone. */
  readonly tip: Revision;
  readonly checkedIn: CheckedInTrees;
  /** Whether files or parts were named. */
  readonly isPart: boolean;
  /** Chosen halves of renames, whose other half stays. */
  readonly halves: readonly HalfRename[];
}

/** @throws LitterboxError `CONFLICT` on the sandbox's own branch, `MERGE_IN_PROGRESS`, and what the request's arguments make of themselves. */
export async function readChosenWork(scope: PlanScope, request: PlanRequest): Promise<ChosenWork> {
  const { store, user, id, signal } = scope;
  const meta = await readMeta(store, id);
  parseMergeArguments(request.arguments);
  const headRef = await readHeadRef(user, { signal });
  const head = await resolveHead(user, headRef, { signal });
  if (headRef === reviewBranch(meta.slug)) throw onReviewBranch(meta);
  await requireNothingUnderWay(user, signal);
  const { tip: newest, checkedIn } = await readCheckedInTip(store, user, id, meta.base.tree, signal);
  const headTree = await store.commitTree(head);
  const config = await readUserConfig(user, '^((merge|diff|commit|filter)\\.|branch\\..*\\.mergeoptions$)', signal);
  const { options, notFollowed } = withConfiguredArguments(request.arguments, mergeOptionsOf(config, headRef, request));
  const message = request.message ?? options.message;
  if (message !== undefined) checkedMessage(message);
  const work = await findUntakenWork(store, id, meta, newest, head, checkedIn, signal);
  const chosen = await chooseParts(scope, request, { meta, work, newest });
  return { meta, head, headRef, headTree, config, options, notFollowed, message, work, newest, checkedIn, ...chosen };
}

async function chooseParts(
  { store, signal }: PlanScope,
  { paths: named = [], parts = [] }: PlanRequest,
  { meta, work, newest }: Pick<ChosenWork, 'meta' | 'work' | 'newest'>,
): Promise<Pick<ChosenWork, 'tip' | 'ofWork' | 'ofApply' | 'isPart' | 'halves'>> {
  const paths = [...named, ...parts.map(({ path }) => path)];
  const isPart = paths.length > 0;
  const from = { base: meta.base.tree, onto: work.ontoTree, tip: newest.tree, slug: meta.slug };
  const selected = isPart ? await selectedTree(store, from, paths, signal) : newest.tree;
  const whole = { head: work.ontoTree, result: selected, conflicts: new Set<ByteString>() };
  const { ofWork, ofApply } = await partsOfWork(store, whole, parts, signal);
  const tip = { ...newest, tree: await partialTree(store, whole, ofWork, meta.slug, signal) };
  const halves = isPart ? await halfRenames(store, work.ontoTree, newest.tree, paths, signal) : [];
  return { tip, ofWork, ofApply, isPart, halves };
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

function onReviewBranch({ slug, base }: SandboxMeta): LitterboxError {
  const name = base.headRef?.replace('refs/heads/', '');
  return new LitterboxError(
    'CONFLICT',
    `litterbox/${slug} is checked out: the sandbox's own branch cannot take its work.`,
    {
      operation: 'integration.plan',
      hint: `Check out the branch that is to have it${name === undefined ? '' : `, such as with git switch ${name}`}.`,
    },
  );
}
