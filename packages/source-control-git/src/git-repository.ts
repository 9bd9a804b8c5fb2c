import {
  type Asker,
  type Base,
  type BaseSource,
  type BlamedLines,
  type CallOptions,
  type ConflictFile,
  type DiffOptions,
  type ExportPlan,
  type FileChange,
  type OfferedFile,
  type Forecast,
  type ForecastOptions,
  type FoundBase,
  type Heap,
  type IntegrationPlan,
  type IntegrationResult,
  type LargeFileState,
  type LitterboxErrorCode,
  type LogEntry,
  type PrintedContent,
  type Milestone,
  type ObjectId,
  type PlanRequest,
  type ProgressOptions,
  type RecordedWork,
  type RecordRequest,
  type RevisionResult,
  type RepositoryId,
  type Revision,
  type RevisionMessage,
  type SandboxHistory,
  type SandboxId,
  type Slug,
  type SourceRepository,
  type TreeOptions,
  type SubmoduleState,
  LitterboxError,
  advice,
  step,
} from '@litterbox/core/provider';
import { beginHistory } from './record/begin-history.ts';
import { fromByteString } from './git/byte-text.ts';
import { describeBase } from './base/describe-base.ts';
import { findIgnoredSecrets } from './base/find-ignored-secrets.ts';
import { findLargeFiles } from './large-files/find-large-files.ts';
import { findSubmodules } from './base/find-submodules.ts';
import { findBase, listLeftOut } from './base/find-base.ts';
import { findDrift } from './base/find-drift.ts';
import { forkHistory } from './publish/fork-history.ts';
import { IgnoreMatcher } from './ignore/ignore-matcher.ts';
import type { Integration } from './integrate/integration.ts';
import { cutMilestone } from './publish/cut-milestone.ts';
import { PersonalRules } from './person/personal-rules.ts';
import { readContent } from './store/read-content.ts';
import { readBlame } from './store/read-blame.ts';
import { readChangedFiles, readDiff } from './store/read-diff.ts';
import { readLog, resolveRevision } from './store/read-log.ts';
import { recordRevision } from './record/record-revision.ts';
import { requireOwnRepository } from './person/require-own-repository.ts';
import { removeHistory } from './publish/remove-history.ts';
import { PrintedFiles } from './store/printed-files.ts';
import { readWorks } from './store/read-works.ts';
import { readHistories, readHistory } from './store/sandbox-refs.ts';
import type { Store } from './store/store.ts';
import { recoverJournal } from './store/settle-journal.ts';
import { toLitterboxError } from './git/to-litterbox-error.ts';
import { readWorkTimes } from './person/work-times.ts';
import { archiveTree, listContentIds } from './base/tree-archive.ts';
import { archiveTreeOver, findNearestTree } from './base/tree-over.ts';
import { Upkeep } from './store/upkeep.ts';
import type { UserRepository } from './person/user-repository.ts';

/** Sandboxes whose ignore rules are kept ready. */
const MAX_MATCHERS = 8;

/** One user repository and its store. Delegates, and translates failures. */
export class GitRepository implements SourceRepository {
  readonly #user: UserRepository;
  readonly #store: Store;
  readonly #integration: Integration | undefined;
  readonly #personal: PersonalRules;
  readonly #matchers = new Map<SandboxId, IgnoreMatcher>();
  readonly #upkeep: Upkeep;
  readonly #printed: PrintedFiles;
  #recovering: Promise<unknown> | undefined;
  readonly #heap: Heap;
  readonly #asker: Asker;
  readonly #closed: () => void;

  constructor(
    user: UserRepository,
    store: Store,
    integration: Integration | undefined,
    heap: Heap,
    asker: Asker,
    closed: () => void,
  ) {
    this.#user = user;
    this.#store = store;
    this.#integration = integration;
    this.#personal = new PersonalRules(user, store.git.userEnvironment);
    this.#upkeep = new Upkeep(store);
    this.#printed = new PrintedFiles(store);
    this.#heap = heap;
    this.#asker = asker;
    this.#closed = closed;
  }

  get id(): RepositoryId {
    return this.#store.id;
  }

  get root(): string {
    return this.#user.root;
  }

  get isPersons(): boolean {
    return this.#user.isPersons;
  }

  base(source: BaseSource, options?: ProgressOptions): Promise<FoundBase> {
    const call = { signal: options?.signal };
    const find = () => findBase(this.#user, this.#store, source, this.#asker, call);
    return this.#translate('sandbox.base', call, find, 'REPO_CORRUPT');
  }

  describe({ commit }: Pick<Base, 'commit'>, options?: CallOptions) {
    const call = { signal: options?.signal };
    const describe = () => describeBase(this.#user, this.#store, commit, call);
    return this.#translate('sandbox.base', call, describe, 'REPO_CORRUPT');
  }

  leftOut(limit: number, options?: CallOptions) {
    const call = { signal: options?.signal };
    return this.#translate('work-tree.list', call, () => listLeftOut(this.#user, limit, call), 'REPO_CORRUPT');
  }

  drift(tree: ObjectId, options?: CallOptions) {
    const call = { signal: options?.signal };
    return this.#translate('work-tree.compare', call, () => findDrift(this.#user, this.#store, tree, call));
  }

  isUncommitted(commit: ObjectId, options?: CallOptions): Promise<boolean> {
    const read = async () => (await this.#store.reader.commit(commit)).synthetic;
    return this.#translate('sandbox.base', options, read, 'REPO_CORRUPT');
  }

  ignoredSecrets(options?: CallOptions): Promise<readonly string[]> {
    const call = { signal: options?.signal };
    return this.#translate('work-tree.list', call, () => findIgnoredSecrets(this.#user, call), 'REPO_CORRUPT');
  }

  tree(tree: ObjectId, options?: TreeOptions): ReadableStream<Uint8Array> {
    return ReadableStream.from(this.#leanly(archiveTree(this.#user, this.#store, tree, options)));
  }

  treeOver(tree: ObjectId, below: ObjectId, options?: CallOptions): ReadableStream<Uint8Array> {
    return ReadableStream.from(this.#leanly(archiveTreeOver(this.#store, tree, below, options?.signal)));
  }

  nearestTree(tree: ObjectId, candidates: readonly ObjectId[], options?: CallOptions) {
    const find = () => findNearestTree(this.#store, tree, candidates, options?.signal);
    return this.#translate('tree.compare', options, find);
  }

  largeFiles(base: Pick<Base, 'commit' | 'tree'>, options?: CallOptions): Promise<readonly LargeFileState[]> {
    const find = () => findLargeFiles(this.#user, this.#store, base, options?.signal);
    return this.#translate('tree.list', options, find);
  }

  async submodules(tree: ObjectId, options?: CallOptions): Promise<readonly SubmoduleState[]> {
    const find = () => findSubmodules(this.#user, this.#store, tree, options?.signal);
    const found = await this.#translate('tree.list', options, find);
    return found.map(({ path, commit, missing }) => ({
      path: fromByteString(path),
      commit,
      ...(missing !== undefined && { missing }),
    }));
  }

  contentIds(tree: ObjectId, isWanted: (path: string) => boolean, options?: CallOptions) {
    return this.#translate('tree.list', options, () => listContentIds(this.#store, tree, isWanted, options?.signal));
  }

  workTimes(tree: ObjectId, sinceSeconds: number, options?: CallOptions) {
    const read = () => readWorkTimes(this.#user, this.#store, tree, sinceSeconds, options?.signal);
    return this.#translate('work-tree.list', options, read, 'REPO_CORRUPT');
  }

  begin(
    sandbox: { readonly id: SandboxId; readonly slug: Slug; readonly base: Base },
    options?: CallOptions,
  ): Promise<SandboxHistory> {
    return this.#translate('sandbox.begin', options, async () => {
      await requireOwnRepository(this.#user);
      const history = await beginHistory(this.#store, this.#user, sandbox, options?.signal);
      this.#upkeep.recorded(0);
      return history;
    });
  }

  fork(
    source: SandboxId,
    sandbox: { readonly id: SandboxId; readonly slug: Slug },
    options?: CallOptions,
  ): Promise<SandboxHistory> {
    return this.#translate('sandbox.fork', options, async () => {
      await requireOwnRepository(this.#user);
      return await forkHistory(this.#store, this.#user, source, sandbox, options?.signal);
    });
  }

  history(id: SandboxId, options?: CallOptions): Promise<SandboxHistory> {
    return this.#translate('history.read', options, () => readHistory(this.#store, id));
  }

  histories(options?: CallOptions): AsyncIterable<SandboxHistory> {
    return this.#iterate('history.list', options, () => readHistories(this.#store));
  }

  works(ids: readonly SandboxId[], options?: CallOptions): Promise<ReadonlyMap<SandboxId, RecordedWork>> {
    return this.#translate('history.read', options, () => readWorks(this.#store, ids, options?.signal));
  }

  record(id: SandboxId, request: RecordRequest, options?: CallOptions): Promise<RevisionResult> {
    return this.#translate('revision.record', options, async () => {
      const { result, looseObjects } = await recordRevision(
        this.#store,
        await this.#matcherOf(id),
        id,
        request,
        options,
      );
      this.#upkeep.recorded(looseObjects);
      return result;
    });
  }

  milestone(id: SandboxId, message: string, options?: CallOptions): Promise<Milestone | undefined> {
    return this.#translate('milestone.cut', options, async () => {
      await requireOwnRepository(this.#user);
      return await cutMilestone(this.#store, this.#user, id, message, options?.signal);
    });
  }

  log(id: SandboxId, options?: CallOptions & { readonly limit?: number }): AsyncIterable<LogEntry> {
    return this.#iterate('history.log', options, () => readLog(this.#store, id, options));
  }

  diff(id: SandboxId, options?: DiffOptions): AsyncIterable<Uint8Array> {
    return this.#iterate('history.diff', options, () => readDiff(this.#store, id, options));
  }

  changes(id: SandboxId, options?: DiffOptions): Promise<readonly FileChange[]> {
    return this.#translate('history.changes', options, () => readChangedFiles(this.#store, id, options));
  }

  blame(
    id: SandboxId,
    path: string,
    options?: CallOptions & { readonly upTo?: ObjectId },
  ): Promise<readonly BlamedLines[]> {
    return this.#translate('history.blame', options, () => readBlame(this.#store, id, path, options));
  }

  content(
    id: SandboxId,
    path: string,
    options: CallOptions & { readonly at: ObjectId; readonly maxBytes: number },
  ): Promise<Uint8Array | undefined> {
    return this.#translate('history.content', options, () => readContent(this.#store, id, path, options));
  }

  resolve(id: SandboxId, name: string, options?: CallOptions): Promise<Revision> {
    return this.#translate('revision.resolve', options, () => resolveRevision(this.#store, id, name, options?.signal));
  }

  plan(id: SandboxId, request: PlanRequest, options?: ProgressOptions): Promise<IntegrationPlan> {
    return this.#translate('integration.plan', options, async () => {
      await requireOwnRepository(this.#user);
      return await this.#forPeople().makePlan(this.#store, this.#user, id, request, options?.signal);
    });
  }

  offered(plan: IntegrationPlan, options?: CallOptions): AsyncIterable<OfferedFile> {
    return this.#iterate('integration.plan', options, () =>
      this.#forPeople().offeredOf(this.#store, plan, options?.signal),
    );
  }

  conflict(plan: IntegrationPlan, path: string, options?: CallOptions): Promise<ConflictFile> {
    return this.#translate('integration.conflict', options, () =>
      this.#forPeople().conflictOf(this.#store, plan, path, options?.signal),
    );
  }

  execute(
    plan: IntegrationPlan,
    options: ProgressOptions & { readonly autostash: boolean },
  ): Promise<IntegrationResult> {
    return this.#translate('integration.execute', options, () =>
      this.#forPeople().executePlan(this.#store, this.#user, plan, options.autostash, options.signal),
    );
  }

  forecast(ids: readonly SandboxId[], options?: ForecastOptions): Promise<Forecast> {
    return this.#translate('integration.forecast', options, () =>
      this.#forPeople().forecastConflicts(this.#store, this.#user, ids, { ...options }),
    );
  }

  isMerged(id: SandboxId, options?: CallOptions): Promise<boolean> {
    return this.#translate('integration.check', options, () =>
      this.#forPeople().isMerged(this.#store, this.#user, id, options?.signal),
    );
  }

  restore(
    id: SandboxId,
    revision: ObjectId,
    message: RevisionMessage,
    options?: CallOptions,
  ): Promise<Revision | undefined> {
    return this.#translate('revision.restore', options, () =>
      this.#forPeople().restoreRevision(this.#store, id, revision, message, options?.signal),
    );
  }

  planExport(id: SandboxId, options?: CallOptions): Promise<ExportPlan> {
    return this.#translate('tree.export', options, async () => {
      await requireOwnRepository(this.#user);
      return await this.#forPeople().planExport(this.#store, this.#user, id, options?.signal);
    });
  }

  exportTree(
    id: SandboxId,
    options?: CallOptions & { readonly tree?: ObjectId },
  ): Promise<{ readonly directory: string; readonly files: number }> {
    return this.#translate('tree.export', options, () =>
      this.#forPeople().exportTree(this.#store, this.#user, id, options),
    );
  }

  keepPrinted(id: SandboxId, content: PrintedContent, options?: CallOptions): Promise<void> {
    return this.#translate('printed.keep', options, () => this.#printed.keep(id, content));
  }

  printed(id: SandboxId, digest: string, options?: CallOptions): Promise<Uint8Array | undefined> {
    return this.#translate('printed.read', options, () => this.#printed.read(id, digest));
  }

  remove(id: SandboxId, options?: CallOptions): Promise<void> {
    return this.#translate('sandbox.remove', options, async () => {
      await this.#printed.settle(id);
      await this.#matchers.get(id)?.[Symbol.asyncDispose]();
      this.#matchers.delete(id);
      await removeHistory(this.#store, this.#user, id, options?.signal);
    });
  }

  reconcile(options?: CallOptions): Promise<readonly string[]> {
    return this.#translate('repository.reconcile', options, () =>
      this.#forPeople().reconcileRepository(this.#store, this.#user, options?.signal),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed();
    await this.#printed[Symbol.asyncDispose]();
    await Promise.all([...this.#matchers.values()].map((matcher) => matcher[Symbol.asyncDispose]()));
    this.#matchers.clear();
    await this.#upkeep[Symbol.asyncDispose]();
    await this.#store[Symbol.asyncDispose]();
  }

  #forPeople(): Integration {
    if (this.#integration) return this.#integration;
    throw new LitterboxError('PERMISSION_DENIED', 'This program cannot change the repository of the person.', {
      operation: 'repository.change',
      hint: advice`A person does it: ${step('sandbox-diff')}, then ${step('sandbox-merge')}.`,
    });
  }

  /** Once: what a power cut took from the store is made again before anything of it is read. */
  async #recovered(): Promise<void> {
    const recovering = (this.#recovering ??= recoverJournal(this.#store));
    try {
      await recovering;
    } catch (error) {
      if (this.#recovering === recovering) this.#recovering = undefined; // there may be room the next time
      throw error;
    }
  }

  async #matcherOf(id: SandboxId): Promise<IgnoreMatcher> {
    const matcher = this.#matchers.get(id) ?? new IgnoreMatcher(this.#store, this.#personal);
    this.#matchers.delete(id);
    this.#matchers.set(id, matcher); // the one used last is last
    for (const [oldest, other] of this.#matchers) {
      if (this.#matchers.size <= MAX_MATCHERS) break;
      this.#matchers.delete(oldest);
      await other[Symbol.asyncDispose]();
    }
    return matcher;
  }

  async #translate<T>(
    operation: string,
    options: CallOptions | undefined,
    body: () => Promise<T>,
    gitCode: LitterboxErrorCode = 'STORE_CORRUPT',
  ): Promise<T> {
    options?.signal?.throwIfAborted();
    try {
      await this.#recovered();
      return await this.#heap.lean(body);
    } catch (error) {
      throw toLitterboxError(operation, error, { signal: options?.signal, gitCode });
    }
  }

  async *#iterate<T>(
    operation: string,
    options: CallOptions | undefined,
    body: () => AsyncIterable<T>,
  ): AsyncGenerator<T, void, undefined> {
    options?.signal?.throwIfAborted();
    try {
      await this.#recovered();
      yield* this.#leanly(body());
    } catch (error) {
      throw toLitterboxError(operation, error, { signal: options?.signal, gitCode: 'STORE_CORRUPT' });
    }
  }

  /** The same items, with a lean heap from the first to the last of them. */
  async *#leanly<T>(items: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const phase = this.#heap.lean(() => promise);
    try {
      yield* items;
    } finally {
      resolve();
      await phase;
    }
  }
}
