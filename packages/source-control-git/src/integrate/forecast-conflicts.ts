import type { Forecast, ForecastConflict, ObjectId, SandboxId, Slug } from '@litterbox/core/provider';
import { readHeadRef, resolveHead } from '../base/find-base.ts';
import { type ByteString, fromByteString } from '../git/byte-text.ts';
import { readUserConfig } from '../person/user-config.ts';
import type { UserRepository } from '../person/user-repository.ts';
import { mergeTrees } from '../publish/merge-trees.ts';
import { readPointedTip } from '../publish/read-pointed-tip.ts';
import { findUntakenWork } from '../publish/untaken-work.ts';
import { compareTrees } from '../store/read-diff.ts';
import { readMeta, sandboxRefs } from '../store/sandbox-refs.ts';
import type { Store } from '../store/store.ts';
import { readMergeAttributes } from '../publish/merge-attributes.ts';
import { mergeSettings } from '../publish/merge-settings.ts';
import { theirCommit } from '../publish/their-commit.ts';

/** Merges of two sandboxes that are tried at most: each starts git. */
const MAX_PAIRS = 200;
const OPTIONS = { strategy: 'ort', strategyOptions: [] } as const;

/** The work of a sandbox that the branch does not have. */
interface Work {
  readonly id: SandboxId;
  readonly slug: Slug;
  /** As it would be merged. */
  readonly commit: ObjectId;
  readonly tree: ObjectId;
  /** The tree that it stands on. */
  readonly onto: ObjectId;
  readonly isWhole: boolean;
  readonly paths: ReadonlySet<ByteString>;
}

/** Tries merges in the store: with HEAD, and of each two sandboxes that changed the same paths. Nothing of it stays but objects. */
export async function forecastConflicts(
  store: Store,
  user: UserRepository,
  ids: readonly SandboxId[],
  signal: AbortSignal | undefined,
): Promise<Forecast> {
  const head = await resolveHead(user, await readHeadRef(user, { signal }), { signal });
  const headTree = await store.commitTree(head);
  const configuration = mergeSettings(await readUserConfig(user, '^(merge|diff)\\.', signal));
  const conflictOf = async (ours: Pick<Work, 'commit' | 'tree'>, theirs: Work, base?: ObjectId) => {
    const trees = { base: theirs.onto, ours: ours.tree, theirs: theirs.tree };
    const attributes = await readMergeAttributes(store, user, trees, signal);
    const sides = { ours: ours.commit, theirs: theirs.commit, slug: theirs.slug, ...(base && { baseTree: base }) };
    const { stages } = await mergeTrees(store, sides, OPTIONS, { configuration, attributes }, signal);
    return [...new Set(stages.map(({ path }) => fromByteString(path)))];
  };
  const works: Work[] = [];
  for (const id of ids) {
    const work = await workOf(store, user, id, head, signal);
    if (work) works.push(work);
  }
  const conflicts: ForecastConflict[] = [];
  const add = (found: ForecastConflict) => void (found.paths.length > 0 && conflicts.push(found));
  for (const work of works)
    add({
      sandbox: work.id,
      paths: await conflictOf({ commit: head, tree: headTree }, work, work.isWhole ? undefined : work.onto),
    });
  const pairs = works.flatMap((one, index) =>
    works.slice(index + 1).flatMap((other) => (mayMeet(one.paths, other.paths) ? [[one, other] as const] : [])),
  );
  for (const [one, other] of pairs.slice(0, MAX_PAIRS)) {
    const base = one.onto === other.onto ? one.onto : undefined;
    add({ sandbox: one.id, other: other.id, paths: await conflictOf(one, other, base) });
  }
  return { conflicts, untried: Math.max(0, pairs.length - MAX_PAIRS) };
}

async function workOf(
  store: Store,
  user: UserRepository,
  id: SandboxId,
  head: ObjectId,
  signal: AbortSignal | undefined,
): Promise<Work | undefined> {
  if (store.refs.read(sandboxRefs(id).meta) === undefined) return undefined;
  const meta = await readMeta(store, id);
  const { tip, pointers } = await readPointedTip(store, user, id, meta.base.tree, signal);
  const { onto, ontoTree, isWhole } = await findUntakenWork(store, id, meta, tip, head, pointers, signal);
  if (ontoTree === tip.tree) return undefined;
  const changes: ByteString[] = [];
  await compareTrees(store, [ontoTree, tip.tree], { signal, onStep: ({ path }) => changes.push(path) });
  const commit = await theirCommit(store, onto, tip);
  return { id, slug: meta.slug, commit, tree: tip.tree, onto: ontoTree, isWhole, paths: new Set(changes) };
}

/** Whether both changed a path, or one a file where the other has a directory. Renames do not meet elsewhere: both names are changes. */
function mayMeet(one: ReadonlySet<ByteString>, other: ReadonlySet<ByteString>): boolean {
  const isAbove = (paths: ReadonlySet<ByteString>, path: ByteString) => {
    for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1))
      if (paths.has(path.slice(0, slash))) return true;
    return paths.has(path);
  };
  return [...one].some((path) => isAbove(other, path)) || [...other].some((path) => isAbove(one, path));
}
