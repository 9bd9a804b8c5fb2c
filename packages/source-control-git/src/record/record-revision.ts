import {
  type CallOptions,
  LitterboxError,
  type ObjectId,
  failpoint,
  type RecordRequest,
  type RevisionResult,
  type RevisionMessage,
  type SandboxId,
  visibleName,
} from '@litterbox/core/provider';
import { type ByteString, fromByteString } from '../git/byte-text.ts';
import { type Candidate, isDeleted, join, type Refusal, readChanges, refusalWarning } from './changed-workspace.ts';
import { messageText, serializeCommit } from '../objects/commit-object.ts';
import { addEdit, editTree } from '../objects/edit-tree.ts';
import { type Fetched, fetchContents, isRule, MAX_FILE_BYTES, type Wanted } from './fetch-contents.ts';
import { type IgnoreMatcher, type IgnoreQuery, parentOf, type RuleOf } from '../ignore/ignore-matcher.ts';
import type { ObjectSink } from '../objects/object-sink.ts';
import { isSpecialName } from '../objects/path-rules.ts';
import { RecordWarnings } from './record-warnings.ts';
import { moveJournalled } from '../store/move-journalled.ts';
import { sandboxRefs } from '../store/sandbox-refs.ts';
import { settleJournal } from '../store/settle-journal.ts';
import type { Store } from '../store/store.ts';
import { isGitlink, isTree, type TreeEntry } from '../objects/tree-object.ts';
import { TreeLookup } from '../objects/tree-lookup.ts';

const OPERATION = 'revision.record';
/** A new file of this size is mentioned: few are meant to be kept. */
const LARGE_FILE_BYTES = 1024 * 1024;
/** Rounds of fetching rules that turned out to count; then all that are left are fetched at once. */
const MAX_RULE_ROUNDS = 6;
/** A journal of this size could not be settled for a long time, and must not grow for ever. */
const MAX_JOURNAL_BYTES = 8 * 1024 * 1024;

/** Changed files of one revision: more than the largest trees of source code have, and less than a minute's work. */
const MAX_FILES = 250_000;

export interface Recorded {
  readonly result: RevisionResult;
  /** Objects written as single files: the measure for repacking. */
  readonly looseObjects: number;
}

export async function recordRevision(
  store: Store,
  matcher: IgnoreMatcher,
  id: SandboxId,
  request: RecordRequest,
  options: CallOptions | undefined,
): Promise<Recorded> {
  const refs = sandboxRefs(id);
  const oldTip = store.refs.read(refs.tip);
  if (oldTip === undefined || store.refs.read(refs.meta) === undefined) {
    throw new LitterboxError('NOT_FOUND', `There is no history of sandbox ${id}.`, { operation: OPERATION });
  }
  const { tree: tipTree, revision: tipRevision, atSeconds } = await store.reader.commit(oldTip);
  const oldRules = store.refs.read(refs.rules);
  const tip = new TreeLookup(store.reader, tipTree);
  const untrackedRules = new TreeLookup(store.reader, oldRules);

  const scanned = await readChanges(request.changes, tip, untrackedRules, options?.signal);
  const { edits, ruleEdits, deleted, deletedRules } = scanned;
  const warnings = new RecordWarnings();
  using sink = store.sink();

  const fetch = (wanted: ReadonlyMap<ByteString, Wanted>) =>
    fetchContents(
      store,
      sink,
      { scanned: scanned.contents, archive: request.contents.bind(request) },
      wanted,
      (path, code) => warnings.add({ type: 'refused-path', code, path: fromByteString(path) }),
      options,
    );

  // Rules first: which of the other files count depends on them.
  const fetched = new Map<ByteString, Fetched>();
  const ruleOf: RuleOf = async (directory) => {
    const path = join(directory, '.gitignore');
    const fresh = fetched.get(path);
    if (fresh) return isRegular(fresh) ? fresh : undefined;
    const entry = isDeleted(deleted, path) ? undefined : await tip.entry(path);
    if (entry) return isRegular(entry) ? entry : undefined;
    return isDeleted(deletedRules, path) ? undefined : untrackedRules.entry(path);
  };
  const isIgnored = (queries: readonly IgnoreQuery[]) =>
    queries.length === 0 ? Promise.resolve(new Set<ByteString>()) : matcher.ignored(queries, ruleOf, options?.signal);
  const ruleFiles = await divide(ruleFilesOf(scanned.candidates), tip, warnings);
  for (const [path, content] of await fetch(wantedOf(ruleFiles.tracked))) fetched.set(path, content);
  let pendingRules = ruleFiles.untracked;
  for (let round = 0; pendingRules.length > 0; round++) {
    const directories = pendingRules.map(({ path }) => ({ path: parentOf(path), isDirectory: true })).filter(hasPath);
    const pruned: ReadonlySet<ByteString> = round < MAX_RULE_ROUNDS ? await isIgnored(directories) : new Set();
    const counting = pendingRules.filter(({ path }) => !pruned.has(parentOf(path)));
    if (counting.length === 0) break; // the others lie below ignored directories
    for (const [path, content] of await fetch(wantedOf(counting))) fetched.set(path, content);
    pendingRules = pendingRules.filter(({ path }) => pruned.has(parentOf(path)));
  }

  const refusedAt = (path: ByteString, { code }: Refusal) => (code === 'PATH_GIT_DIR' ? parentOf(path) : path);
  const quiet = await isIgnored(
    [...scanned.refusals]
      .map(([path, refusal]) => ({ path: refusedAt(path, refusal), isDirectory: refusal.code === 'PATH_GIT_DIR' }))
      .filter(hasPath),
  );
  for (const [path, refusal] of scanned.refusals) {
    if (!quiet.has(refusedAt(path, refusal))) warnings.add(refusalWarning(path, refusal));
  }

  if (scanned.candidates.size > MAX_FILES) {
    const kept: ByteString[] = [];
    for (const batch of batchesOf(scanned.candidates)) {
      const { tracked, untracked } = await divide(batch, tip, new RecordWarnings());
      const ignored = await isIgnored(untracked.map(({ path }) => ({ path, isDirectory: false })));
      for (const { path } of [...tracked, ...untracked]) if (!ignored.has(path)) kept.push(path);
    }
    if (kept.length > MAX_FILES) throw tooManyFiles(kept);
  }

  let changedFiles = 0;
  const recordedRules = new Set<ByteString>();
  // In batches, so that what is needed for one path is not held for all of them.
  for (const batch of batchesOf(scanned.candidates)) {
    options?.signal?.throwIfAborted();
    const { tracked, untracked } = await divide(batch, tip, warnings);
    const ignored = await isIgnored(untracked.map(({ path }) => ({ path, isDirectory: false })));
    const kept = [...tracked, ...untracked.filter(({ path }) => !ignored.has(path))];
    const wanted = kept.filter(({ path, sizeBytes }) => {
      if (fetched.has(path)) return false;
      if (sizeBytes <= MAX_FILE_BYTES) return true;
      warnings.add({ type: 'refused-path', code: 'FILE_TOO_LARGE', path: fromByteString(path) });
      return false;
    });
    const contents = await fetch(wantedOf(wanted));
    for (const { path, old } of kept) {
      const content = contents.get(path) ?? fetched.get(path);
      if (!content) continue;
      if (isRule(path)) recordedRules.add(path);
      if (old?.oid === content.oid && old.mode === content.mode) continue;
      changedFiles++;
      addEdit(edits, path, { type: 'entry', mode: content.mode, oid: content.oid });
      if (!old && content.sizeBytes > LARGE_FILE_BYTES) {
        warnings.add({ type: 'large-new-file', path: fromByteString(path), sizeBytes: content.sizeBytes });
      }
    }
  }
  const ignoreRulesChanged = await haveRulesChanged(fetched, deleted, deletedRules, tip, untrackedRules);
  for (const entry of deleted.values()) changedFiles += await countFiles(store, entry);

  for (const [path, content] of fetched) {
    if (recordedRules.has(path)) addEdit(ruleEdits, path, { type: 'delete' });
    else if (isRegular(content)) addEdit(ruleEdits, path, { type: 'entry', mode: '100644', oid: content.oid });
  }
  const rules = await editTree(store.reader, sink, oldRules, ruleEdits);
  const tree = (await editTree(store.reader, sink, tipTree, edits)) ?? sink.put('tree', Buffer.alloc(0));
  if (tree === tipTree && rules === oldRules) {
    return { result: { changedFiles: 0, ignoreRulesChanged, ...warnings.result() }, looseObjects: 0 };
  }

  const number = (tipRevision?.number ?? 0) + 1;
  failpoint('record.after-tree');
  const commit =
    tree === tipTree ? oldTip : putCommit(sink, { tree, parent: oldTip, atSeconds, number }, request.message);
  failpoint('record.after-commit');
  const objects = store.journal.usage.bytes < MAX_JOURNAL_BYTES ? sink.journalled : undefined;
  const looseObjects = objects ? 0 : sink.looseCount;
  if (!objects) {
    await settleJournal(store, options?.signal); // it must not hold older values of refs that are changed without it
    await sink.finish();
  }
  options?.signal?.throwIfAborted();
  await store.lock.hold(OPERATION, async () => {
    store.refs.expect(refs.tip, oldTip);
    failpoint('record.before-ref');
    const moves = [
      { name: refs.rules, old: oldRules, value: rules },
      { name: refs.tip, old: oldTip, value: commit },
    ].filter(({ old, value }) => old !== value);
    if (objects) {
      await moveJournalled(store, sink, { refs: moves, objects });
    } else {
      for (const { name, value } of moves)
        await (value === undefined ? store.refs.remove(name) : store.refs.write(name, value));
    }
    failpoint('record.after-ref');
  });
  if (commit === oldTip) return { result: { changedFiles: 0, ignoreRulesChanged, ...warnings.result() }, looseObjects };
  return {
    result: { revision: { commit, tree, number }, changedFiles, ignoreRulesChanged, ...warnings.result() },
    looseObjects,
  };
}

/** Before anything of them is asked for: what one revision takes of memory and time grows with their number. */
function tooManyFiles(paths: readonly ByteString[]): LitterboxError {
  const counts = new Map<ByteString, number>();
  for (const path of paths) {
    const top = path.includes('/') ? path.slice(0, path.indexOf('/') + 1) : '';
    counts.set(top, (counts.get(top) ?? 0) + 1);
  }
  const [most, files] = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one));
  const where = most === '' ? 'the top of the workspace' : visibleName(fromByteString(most));
  return new LitterboxError(
    'RESOURCE_EXHAUSTED',
    `${paths.length} files have changed that no rule ignores, ${files} of them in ${where}; a revision takes ${MAX_FILES} at most.`,
    {
      operation: OPERATION,
      hint: 'Have git ignore what is installed or built (a .gitignore in the workspace), or remove it; the next call records what is left.',
      facts: { files: paths.length, maxFiles: MAX_FILES },
    },
  );
}

/** Writes the commit of a revision. Its time never runs backwards along the history. */
export function putCommit(
  sink: ObjectSink,
  { tree, parent, atSeconds, number }: { tree: ObjectId; parent: ObjectId; atSeconds: number; number: number },
  message: RevisionMessage,
): ObjectId {
  return sink.put(
    'commit',
    serializeCommit({
      tree,
      parents: [parent],
      atSeconds: Math.max(Math.floor(Date.now() / 1000), atSeconds),
      message: messageText(message),
      revision: { number, trailers: message.trailers.length },
    }),
  );
}

/**
 * Paths whose contents are asked for in one go: few enough that what is held for them is still young when it is let go, and as many
 * as go into one archive of the sandbox.
 */
const BATCH = 1000;

type Named = readonly [ByteString, Candidate];

function* batchesOf(candidates: Iterable<Named>): Generator<readonly Named[], void, undefined> {
  let batch: Named[] = [];
  for (const named of candidates) {
    batch.push(named);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function ruleFilesOf(candidates: Iterable<Named>): readonly Named[] {
  const found: Named[] = [];
  for (const named of candidates) if (isRule(named[0])) found.push(named);
  return found;
}

const isRegular = ({ mode }: { readonly mode: string }) => mode.startsWith('100');
const hasPath = ({ path }: IgnoreQuery) => path !== '';

/** Whether what git ignores may be other than before: a rule file came, went or differs. */
async function haveRulesChanged(
  fetched: ReadonlyMap<ByteString, Fetched>,
  deleted: ReadonlyMap<ByteString, TreeEntry>,
  deletedRules: ReadonlyMap<ByteString, TreeEntry>,
  tip: TreeLookup,
  untrackedRules: TreeLookup,
): Promise<boolean> {
  if (deletedRules.size > 0 || [...deleted.keys()].some(isRule)) return true;
  for (const [path, { oid }] of fetched) {
    const old = (await tip.entry(path)) ?? (await untrackedRules.entry(path));
    if (old?.oid !== oid) return true;
  }
  return false;
}

/** A file that may be recorded. */
interface Placed {
  readonly path: ByteString;
  readonly executable: boolean;
  readonly sizeBytes: number;
  /** What the tip has there. */
  readonly old: TreeEntry | undefined;
}

/** Files the tip has, and files it has not. What can never be recorded is neither. */
async function divide(
  candidates: readonly Named[],
  tip: TreeLookup,
  warnings: RecordWarnings,
): Promise<{ readonly tracked: readonly Placed[]; readonly untracked: readonly Placed[] }> {
  const tracked: Placed[] = [];
  const untracked: Placed[] = [];
  let parent: ByteString | undefined;
  let entries: ReadonlyMap<ByteString, TreeEntry> | undefined;
  let submodule: ByteString | undefined;
  for (const [path, { type, executable, sizeBytes }] of candidates) {
    // Files come by directory: what is true of all in one is asked once.
    if (parent !== parentOf(path)) {
      parent = parentOf(path);
      submodule = await tip.gitlinkAbove(path);
      entries = await tip.directory(parent);
    }
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (submodule !== undefined) {
      warnings.add({ type: 'refused-path', code: 'PATH_SUBMODULE_UNSUPPORTED', path: fromByteString(path) });
    } else if (type === 'symlink' && isSpecialName(name)) {
      warnings.add({ type: 'refused-path', code: 'PATH_SPECIAL_SYMLINK', path: fromByteString(path) });
    } else {
      const old = entries?.get(name);
      const list = old && !isTree(old) && !isGitlink(old) ? tracked : untracked;
      list.push({ path, executable, sizeBytes, old });
    }
  }
  return { tracked, untracked };
}

function wantedOf(placed: readonly Placed[]): ReadonlyMap<ByteString, Wanted> {
  const wanted = new Map<ByteString, Wanted>();
  for (const { path, executable, old } of placed) {
    wanted.set(path, { executable, known: old && !isTree(old) ? old.oid : undefined });
  }
  return wanted;
}

async function countFiles(store: Store, entry: TreeEntry): Promise<number> {
  if (!isTree(entry)) return 1;
  let count = 0;
  for (const child of (await store.reader.tree(entry.oid)).values()) count += await countFiles(store, child);
  return count;
}
