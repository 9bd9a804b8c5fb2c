import type { Forecast, ForecastConflict, ForecastOptions, ObjectId, SandboxId, Slug } from '@litterbox/core/provider';
import { readHeadRef, resolveHead } from '../base/find-base.ts';
import { type ByteString, fromByteString } from '../git/byte-text.ts';
import { nameAttributes } from '../person/attribute-files.ts';
import { readPlainHead } from '../person/plain-head.ts';
import { readUserConfig } from '../person/user-config.ts';
import type { UserRepository } from '../person/user-repository.ts';
import { forecastKnown, triedMerges, triedName, withRevisions } from '../publish/forecast-known.ts';
import { mergeTrees } from '../publish/merge-trees.ts';
import { readCheckedInTip } from '../publish/read-checked-in-tip.ts';
import { findUntakenWork } from '../publish/untaken-work.ts';
import type { KeptAnswers } from '../store/kept-answers.ts';
import { compareTrees } from '../store/read-diff.ts';
import { readMeta, readTip } from '../store/sandbox-refs.ts';
import type { Store } from '../store/store.ts';
import { readMergeAttributes } from '../publish/merge-attributes.ts';
import { mergeSettings } from '../publish/merge-settings.ts';
import { theirCommit } from '../publish/their-commit.ts';

/** More paths of one conflict are not kept: it is tried again. */
const MAX_KEPT_PATHS = 200;
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

/**
 * Tries merges in the store: with HEAD, and of each two sandboxes that changed the same paths. Nothing of it stays but objects, and what was
 * found for those who are in a hurry.
 *
 * @param budgetMs gives what is known, and tries what is not until then. @defaultValue all is tried, known or not
 */
export async function forecastConflicts(
  store: Store,
  user: UserRepository,
  ids: readonly SandboxId[],
  { budgetMs, signal }: ForecastOptions,
): Promise<Forecast> {
  const startedMs = performance.now();
  const isOver = () => budgetMs !== undefined && performance.now() - startedMs > budgetMs;
  const made = withRevisions(store.refs, ids);
  if (made.length === 0) return { conflicts: [], untried: 0 };
  const known = budgetMs === undefined ? undefined : forecastKnown(store, user, made, store.git.userEnvironment);
  if (known) return known;
  const tries = await Tries.open(store, user, signal);
  const conflicts: ForecastConflict[] = [];
  const unknown: SandboxId[] = [];
  const add = (found: ForecastConflict) => void (found.paths.length > 0 && conflicts.push(found));
  for (const id of made) {
    const paths =
      (budgetMs === undefined ? undefined : tries.known(id)) ?? (isOver() ? undefined : await tries.withHead(id));
    if (paths) add({ sandbox: id, paths });
    else unknown.push(id);
  }
  let untried = 0;
  for (const [index, id] of made.entries())
    for (const other of made.slice(index + 1)) {
      const known = budgetMs === undefined ? undefined : tries.known(id, other);
      const paths = known ?? (isOver() ? undefined : await tries.between(id, other));
      if (paths) add({ sandbox: id, other, paths });
      else untried++;
    }
  await tries.save();
  return { conflicts, untried, ...(unknown.length > 0 && { unknown }) };
}

interface TriesNeeds {
  readonly store: Store;
  readonly user: UserRepository;
  readonly head: ObjectId;
  /** The person's settings of merging. */
  readonly configuration: readonly string[];
  readonly tried: KeptAnswers<readonly string[]>;
  readonly signal: AbortSignal | undefined;
}

/** Merges that are tried in one forecast, each once. */
class Tries {
  readonly #needs: TriesNeeds;
  /** Merges of two sandboxes that were made. */
  #pairs = 0;
  readonly #works = new Map<SandboxId, Promise<Work | undefined>>();

  private constructor(needs: TriesNeeds) {
    this.#needs = needs;
  }

  static async open(store: Store, user: UserRepository, signal: AbortSignal | undefined): Promise<Tries> {
    const [plain, configured] = await Promise.all([
      readPlainHead(user, store),
      readUserConfig(user, '^((merge|diff)\\.|core\\.attributesfile$)', signal),
    ]);
    const head = plain?.commit ?? (await resolveHead(user, await readHeadRef(user, { signal }), { signal }));
    const configuration = mergeSettings(configured);
    const attributes = nameAttributes(user, store.git.userEnvironment, configured.get('core.attributesfile'));
    const tried = triedMerges(store, head, [attributes, ...configuration]);
    return new Tries({ store, user, head, configuration, tried, signal });
  }

  known(...ids: readonly SandboxId[]): readonly string[] | undefined {
    return this.#needs.tried.get(this.#nameOf(ids));
  }

  async withHead(id: SandboxId): Promise<readonly string[]> {
    const work = await this.#work(id);
    const { store, head } = this.#needs;
    const ours = { commit: head, tree: await store.commitTree(head) };
    return this.#keep([id], work ? await this.#conflict(ours, work, work.isWhole ? undefined : work.onto) : []);
  }

  /** At once where they changed no common path; undefined when too many were tried. */
  async between(id: SandboxId, otherId: SandboxId): Promise<readonly string[] | undefined> {
    const [paths, otherPaths] = [await this.#changed(id), await this.#changed(otherId)];
    if (!mayMeet(paths, otherPaths)) return this.#keep([id, otherId], []);
    const [one, other] = [await this.#work(id), await this.#work(otherId)];
    if (!one || !other) return this.#keep([id, otherId], []);
    if (this.#pairs++ >= MAX_PAIRS) return undefined;
    const base = one.onto === other.onto ? one.onto : undefined;
    return this.#keep([id, otherId], await this.#conflict(one, other, base));
  }

  async save(): Promise<void> {
    await this.#needs.tried.save();
  }

  #work(id: SandboxId): Promise<Work | undefined> {
    const { store, user, head, signal } = this.#needs;
    const work = this.#works.get(id) ?? workOf(store, user, id, head, signal);
    this.#works.set(id, work);
    return work;
  }

  /** Paths that differ, without asking git for what it said before. */
  async #changed(id: SandboxId): Promise<ReadonlySet<ByteString>> {
    const name = `changed ${this.#nameOf([id])}`;
    const known = this.#needs.tried.get(name);
    if (known) return new Set(known);
    const paths = (await this.#work(id))?.paths ?? new Set<ByteString>();
    if (paths.size <= MAX_KEPT_PATHS) this.#needs.tried.set(name, [...paths]);
    return paths;
  }

  #keep(ids: readonly SandboxId[], paths: readonly string[]): readonly string[] {
    if (paths.length <= MAX_KEPT_PATHS) this.#needs.tried.set(this.#nameOf(ids), paths);
    return paths;
  }

  #nameOf(ids: readonly SandboxId[]): string {
    return triedName(this.#needs.store.refs, ids);
  }

  async #conflict(ours: Pick<Work, 'commit' | 'tree'>, theirs: Work, base?: ObjectId): Promise<readonly string[]> {
    const { store, user, configuration, signal } = this.#needs;
    const trees = { base: theirs.onto, ours: ours.tree, theirs: theirs.tree };
    const attributes = await readMergeAttributes(store, user, trees, signal);
    const sides = { ours: ours.commit, theirs: theirs.commit, slug: theirs.slug, ...(base && { baseTree: base }) };
    const { stages } = await mergeTrees(store, sides, OPTIONS, { configuration, attributes }, signal);
    return [...new Set(stages.map(({ path }) => fromByteString(path)))];
  }
}

async function workOf(
  store: Store,
  user: UserRepository,
  id: SandboxId,
  head: ObjectId,
  signal: AbortSignal | undefined,
): Promise<Work | undefined> {
  if ((await readTip(store, id)).number === 0) return undefined;
  const meta = await readMeta(store, id);
  const { tip, checkedIn } = await readCheckedInTip(store, user, id, meta.base.tree, signal);
  const { onto, ontoTree, isWhole } = await findUntakenWork(store, id, meta, tip, head, checkedIn, signal);
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
