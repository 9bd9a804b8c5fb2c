import {
  type FileChange,
  type IntegrationPlan,
  LitterboxError,
  type ObjectId,
  type PlanRequest,
  type RiskyChange,
  type SandboxId,
} from '@litterbox/core/provider';
import { type ByteString, fromByteString, toByteString } from './byte-text.ts';
import { serializeCommit } from './commit-object.ts';
import { readHeadRef, resolveHead } from './find-base.ts';
import { type MergeArguments, parseMergeArguments } from './merge-arguments.ts';
import { type ConflictStage, mergeTrees } from './merge-trees.ts';
import { type ConfiguredPaths, readConfiguredPaths } from './configured-paths.ts';
import { compareTrees, type PathStep } from './read-diff.ts';
import { HUGE_BYTES, type RiskFacts, riskyChanges } from './risky-changes.ts';
import { readMeta, readMilestones, readTip, type SandboxMeta } from './sandbox-refs.ts';
import type { Store } from './store.ts';
import { pathsWithUnseen } from './unseen-lines.ts';
import { isOn, readUserConfig } from './user-config.ts';
import type { UserRepository } from './user-repository.ts';
import { findOverlap, requireNothingUnderWay } from './user-state.ts';

const OPERATION = 'integration.plan';
const MAX_LINK_BYTES = 4096;

/** Behind {@link IntegrationPlan.token}: everything execution needs, as JSON. */
export interface PlanToken {
  readonly version: 1;
  readonly theirs: ObjectId;
  readonly headTree: ObjectId;
  readonly resultTree: ObjectId;
  readonly stages: readonly ConflictStage[];
  readonly steps: readonly PathStep[];
  readonly kind: 'fast-forward' | 'merge-commit' | 'plain-commit' | 'stage' | 'nothing';
  readonly message: string;
  readonly arguments: MergeArguments;
}

export async function makePlan(
  store: Store,
  user: UserRepository,
  id: SandboxId,
  request: PlanRequest,
  signal: AbortSignal | undefined,
): Promise<IntegrationPlan> {
  const options = parseMergeArguments(request.arguments);
  const meta = await readMeta(store, id);
  const headRef = await readHeadRef(user, { signal });
  const head = await resolveHead(user, headRef, { signal });
  await requireNothingUnderWay(user, signal);
  const tip = await readTip(store, id);
  const headTree = await store.commitTree(head);
  const config = await readUserConfig(user, '^(merge|diff|commit)\\.', signal);

  const message = request.message ?? options.message;
  const theirs = await theirCommit(store, id, meta, tip, message);
  const merged = await mergeTrees(
    store,
    { ours: head, theirs, slug: meta.slug, ...(meta.synthetic ? { baseTree: meta.base.tree } : {}) },
    options,
    mergeSettings(config),
    signal,
  );
  const isContained = !meta.synthetic && (await isAncestor(store, theirs, head, signal));
  const upToDate =
    isContained || (merged.stages.length === 0 && merged.tree === headTree && options.strategy !== 'ours');
  const kind = upToDate ? 'nothing' : await kindOf(store, request, options, meta, head, theirs, config, signal);
  const resultTree = kind === 'fast-forward' ? await store.commitTree(theirs) : merged.tree;

  const steps: PathStep[] = [];
  const onStep = (step: PathStep) => steps.push(step);
  const changes = upToDate ? [] : await compareTrees(store, [headTree, resultTree], { signal, onStep });
  const written = new Set(steps.filter((step) => step.new).map(({ path }) => path));
  const removed = new Set(steps.filter((step) => !step.new).map(({ path }) => path));
  const overlap = upToDate ? { tracked: [], untracked: [] } : await findOverlap(user, written, removed, signal);
  const token: PlanToken = {
    version: 1,
    theirs,
    headTree,
    resultTree,
    stages: kind === 'nothing' ? [] : merged.stages,
    steps,
    kind,
    message: message ?? `Merge sandbox '${meta.slug}'\n`,
    arguments: withDefaultSigning(options, config),
  };
  return {
    integration: request.integration,
    sandbox: id,
    slug: meta.slug,
    tip: tip.commit,
    head,
    ...(headRef === undefined ? {} : { headRef }),
    changes,
    conflicts: [...new Set(token.stages.map(({ path }) => path))].map(fromByteString),
    risky: await scanRisks(store, changes, steps, resultTree, await readConfiguredPaths(user, signal), signal),
    dirtyOverlap: [...overlap.tracked, ...overlap.untracked].map(fromByteString),
    upToDate,
    token,
  };
}

/** What is merged: the last milestone, or one commit of everything since, on top of it. Revisions stay in the store. */
async function theirCommit(
  store: Store,
  id: SandboxId,
  meta: SandboxMeta,
  tip: { readonly tree: ObjectId; readonly commit: ObjectId; readonly number: number },
  message: string | undefined,
): Promise<ObjectId> {
  const last = (await readMilestones(store, id)).at(-1);
  const parent = last?.commit ?? meta.base.commit;
  if ((last?.number ?? 0) === tip.number) return parent;
  const { atSeconds } = await store.reader.commit(tip.commit);
  return store.put((sink) =>
    sink.put(
      'commit',
      serializeCommit({
        tree: tip.tree,
        parents: [parent],
        atSeconds,
        message: message ?? `Changes of sandbox '${meta.slug}'\n`,
      }),
    ),
  );
}

async function kindOf(
  store: Store,
  request: PlanRequest,
  options: MergeArguments,
  meta: SandboxMeta,
  head: ObjectId,
  theirs: ObjectId,
  config: ReadonlyMap<string, string>,
  signal: AbortSignal | undefined,
): Promise<PlanToken['kind']> {
  if (request.integration === 'apply') return 'stage';
  const configured = { false: 'never', no: 'never', only: 'only' }[config.get('merge.ff') ?? ''];
  const rule = options.fastForward ?? configured ?? 'allowed';
  const canForward = !meta.synthetic && options.strategy !== 'ours' && (await isAncestor(store, head, theirs, signal));
  if (rule === 'only' && !canForward) {
    throw new LitterboxError('CONFLICT', 'HEAD has commits that the sandbox does not have: no fast-forward.', {
      operation: OPERATION,
      hint: 'Merge without --ff-only.',
    });
  }
  if (options.squash) return 'stage';
  if (canForward && rule !== 'never') return 'fast-forward';
  // A base that the person never committed must not become part of their history.
  return meta.synthetic ? 'plain-commit' : 'merge-commit';
}

export async function isAncestor(
  store: Store,
  ancestor: ObjectId,
  descendant: ObjectId,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  return (await store.run(['merge-base', '--is-ancestor', ancestor, descendant], { signal })).code === 0;
}

/** The person's settings that decide how trees merge. Drivers are programs: not those. */
function mergeSettings(config: ReadonlyMap<string, string>): readonly string[] {
  const wanted =
    /^(merge\.(conflictstyle|renames|renamelimit|directoryrenames|renormalize)|diff\.(renames|renamelimit|algorithm))$/;
  return [...config].filter(([key]) => wanted.test(key)).map(([key, value]) => `${key}=${value}`);
}

function withDefaultSigning(options: MergeArguments, config: ReadonlyMap<string, string>): MergeArguments {
  if (options.signingKey !== undefined) return options;
  return isOn(config.get('commit.gpgsign')) ? { ...options, signingKey: '' } : options;
}

/** What of the changes between two trees can run code here. */
export async function scanRisks(
  store: Store,
  changes: readonly FileChange[],
  steps: readonly PathStep[],
  resultTree: ObjectId,
  configured: ConfiguredPaths,
  signal: AbortSignal | undefined,
): Promise<readonly RiskyChange[]> {
  if (changes.length === 0) return [];
  const byPath = new Map(steps.map((step) => [step.path, step]));
  const sizes = await sizesOf(store, steps, signal);
  const targets = new Map<ByteString, string>();
  for (const { path, new: next } of steps) {
    if (next?.mode !== '120000' || sizes.has(next.oid)) continue;
    targets.set(path, (await store.reader.blob(next.oid)).toString());
  }
  // One after the other: 80,000 at once are a tenth of all memory that there may be.
  const facts = function* (): Generator<RiskFacts, void, undefined> {
    for (const change of changes) {
      const step = byPath.get(toByteString(change.path));
      const entry = step?.new ?? step?.old;
      const linkTarget = step && targets.get(step.path);
      yield {
        change,
        mode: entry?.mode ?? '100644',
        sizeBytes: sizes.get(entry?.oid ?? '') ?? 0,
        wasExecutable: step?.old?.mode === '100755',
        ...(linkTarget === undefined ? {} : { linkTarget }),
      };
    }
  };
  const listing = await store.output(['ls-tree', '-r', '-z', '--name-only', '--full-tree', resultTree], { signal });
  const paths = new Set(listing.toString('latin1').split('\0').filter(Boolean).map(fromByteString));
  const isRead = (oid: ObjectId) => (sizes.get(oid) ?? 0) <= HUGE_BYTES;
  return riskyChanges(facts(), {
    changes,
    allPaths: paths,
    namedByGit: (path) => configured.reasonOf(path),
    withUnseen: await pathsWithUnseen(store, steps, isRead, signal),
  });
}

/** Sizes in bytes of what the steps write, of those alone that are too large for a link. */
async function sizesOf(
  store: Store,
  steps: readonly PathStep[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, number>> {
  const oids = steps.flatMap((step) => (step.new && step.new.mode !== '160000' ? [step.new.oid] : []));
  if (oids.length === 0) return new Map();
  const args = ['cat-file', '--batch-check=%(objectname) %(objectsize)'];
  const listed = (await store.output(args, { input: `${oids.join('\n')}\n`, signal })).toString('latin1');
  const large = new Map<string, number>();
  for (const [, oid = '', size = ''] of listed.matchAll(/^([0-9a-f]+) ([0-9]+)$/gm))
    if (Number(size) > MAX_LINK_BYTES) large.set(oid, Number(size));
  return large;
}
