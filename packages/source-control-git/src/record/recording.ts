import {
  type CallOptions,
  LitterboxError,
  type ObjectId,
  type RecordRequest,
  type SandboxId,
  secretIn,
} from '@litterbox/core/provider';
import { bytesOf, type ByteString, fromByteString } from '../git/byte-text.ts';
import { nearestAbove } from '../git/nearest-above.ts';
import { type IgnoreMatcher, type IgnoreQuery, parentOf } from '../ignore/ignore-matcher.ts';
import type { ObjectSink } from '../objects/object-sink.ts';
import { TreeLookup } from '../objects/tree-lookup.ts';
import { sandboxRefs } from '../store/sandbox-refs.ts';
import type { Store } from '../store/store.ts';
import { type ChangedWorkspace, join, readChanges, type Refusal, refusalWarning } from './changed-workspace.ts';
import { type Fetched, fetchContents, type LeftOut, type Wanted } from './fetch-contents.ts';
import { RecordWarnings } from './record-warnings.ts';

export const OPERATION = 'revision.record';

interface RecordingNeeds {
  readonly store: Store;
  readonly matcher: IgnoreMatcher;
  readonly id: SandboxId;
  readonly request: RecordRequest;
  readonly options: CallOptions | undefined;
}

/** The history of a sandbox as a recording found it. */
interface Began {
  readonly tip: ObjectId;
  readonly tree: ObjectId;
  /** The number of the tip; 0 is the base. */
  readonly number: number;
  readonly atSeconds: number;
  /** The tree of ignore rules that no revision has. */
  readonly rules: ObjectId | undefined;
}

/** The findings of a recording. */
interface Found {
  readonly began: Began;
  readonly tip: TreeLookup;
  readonly untrackedRules: TreeLookup;
  readonly scanned: ChangedWorkspace;
}

/** A recording under way: what it began from, what has changed since, and the objects that it writes. */
export class Recording implements Disposable {
  readonly warnings = new RecordWarnings();
  /** Files with ignore rules that count, as they are now. */
  readonly ruleFiles = new Map<ByteString, Fetched>();
  readonly sink: ObjectSink;
  readonly #needs: RecordingNeeds;
  readonly #found: Found;
  /** Whether the path, or a directory above it, is gone. */
  readonly #isDeleted: (path: ByteString) => boolean;
  readonly #isDeletedRule: (path: ByteString) => boolean;

  private constructor(needs: RecordingNeeds, found: Found) {
    this.#needs = needs;
    this.#found = found;
    this.sink = needs.store.sink();
    this.#isDeleted = isAmong(found.scanned.deleted);
    this.#isDeletedRule = isAmong(found.scanned.deletedRules);
  }

  /** @throws LitterboxError `NOT_FOUND` where the sandbox has no history */
  static async begin(needs: RecordingNeeds): Promise<Recording> {
    const { store, id, request, options } = needs;
    const refs = sandboxRefs(id);
    const oldTip = store.refs.read(refs.tip);
    if (oldTip === undefined || store.refs.read(refs.meta) === undefined)
      throw new LitterboxError('NOT_FOUND', `There is no history of sandbox ${id}.`, { operation: OPERATION });
    const { tree, revision, atSeconds } = await store.reader.commit(oldTip);
    const began = { tip: oldTip, tree, number: revision?.number ?? 0, atSeconds, rules: store.refs.read(refs.rules) };
    const tip = new TreeLookup(store.reader, tree);
    const untrackedRules = new TreeLookup(store.reader, began.rules);
    const scanned = await readChanges(request.changes, tip, untrackedRules, options?.signal);
    return new Recording(needs, { began, tip, untrackedRules, scanned });
  }

  get store(): Store {
    return this.#needs.store;
  }

  get began(): Began {
    return this.#found.began;
  }

  get tip(): TreeLookup {
    return this.#found.tip;
  }

  get untrackedRules(): TreeLookup {
    return this.#found.untrackedRules;
  }

  get scanned(): ChangedWorkspace {
    return this.#found.scanned;
  }

  get signal(): AbortSignal | undefined {
    return this.#needs.options?.signal;
  }

  get message(): RecordRequest['message'] {
    return this.#needs.request.message;
  }

  get refs(): ReturnType<typeof sandboxRefs> {
    return sandboxRefs(this.#needs.id);
  }

  /** Writes contents into the store. */
  async fetch(wanted: ReadonlyMap<ByteString, Wanted>): Promise<ReadonlyMap<ByteString, Fetched>> {
    const { store, request, options } = this.#needs;
    const { secrets = [] } = request;
    const sources = { scanned: this.scanned.contents, archive: request.contents.bind(request), secrets };
    const leftOut: LeftOut = {
      special: (path) =>
        this.warnings.add({ type: 'refused-path', code: 'PATH_SPECIAL_SYMLINK', path: fromByteString(path) }),
      holdsSecret: (path, secret) => this.warnings.add({ type: 'holds-secret', path: fromByteString(path), secret }),
    };
    return await fetchContents(store, this.sink, sources, this.#nameless(wanted, leftOut), leftOut, options);
  }

  /** Those whose names hold no secret. */
  #nameless(wanted: ReadonlyMap<ByteString, Wanted>, leftOut: LeftOut): ReadonlyMap<ByteString, Wanted> {
    const { secrets = [] } = this.#needs.request;
    if (secrets.length === 0) return wanted;
    const kept = new Map<ByteString, Wanted>();
    for (const [path, want] of wanted) {
      const secret = secretIn(bytesOf(path), secrets);
      if (secret === undefined) kept.set(path, want);
      else leftOut.holdsSecret(path, secret);
    }
    return kept;
  }

  /** Those of the paths that git ignores, by the rules that were fetched until now. */
  async ignored(queries: readonly IgnoreQuery[]): Promise<ReadonlySet<ByteString>> {
    if (queries.length === 0) return new Set();
    return await this.#needs.matcher.ignored(queries, async (directory) => await this.#ruleOf(directory), this.signal);
  }

  async #ruleOf(directory: ByteString) {
    const path = join(directory, '.gitignore');
    const fresh = this.ruleFiles.get(path);
    if (fresh) return isRegular(fresh) ? fresh : undefined;
    const entry = this.#isDeleted(path) ? undefined : await this.tip.entry(path);
    if (entry) return isRegular(entry) ? entry : undefined;
    return this.#isDeletedRule(path) ? undefined : await this.untrackedRules.entry(path);
  }

  /** Warns of paths that were refused, unless git ignores them. */
  async warnOfRefusals(): Promise<void> {
    const refusedAt = (path: ByteString, { code }: Refusal) => (code === 'PATH_GIT_DIR' ? parentOf(path) : path);
    const { refusals } = this.scanned;
    const quiet = await this.ignored(
      [...refusals]
        .map(([path, refusal]) => ({ path: refusedAt(path, refusal), isDirectory: refusal.code === 'PATH_GIT_DIR' }))
        .filter(({ path }) => path !== ''),
    );
    for (const [path, refusal] of refusals)
      if (!quiet.has(refusedAt(path, refusal))) this.warnings.add(refusalWarning(path, refusal));
  }

  [Symbol.dispose](): void {
    this.sink[Symbol.dispose]();
  }
}

function isAmong(entries: ReadonlyMap<ByteString, unknown>): (path: ByteString) => boolean {
  const entryAbove = nearestAbove(entries);
  return (path) => entries.has(path) || entryAbove(path) !== undefined;
}

export const isRegular = ({ mode }: { readonly mode: string }): boolean => mode.startsWith('100');
