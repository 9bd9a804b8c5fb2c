import type { ObjectId } from '@litterbox/core/provider';
import type { ByteString } from '../git/byte-text.ts';
import { addEdit, editedDirectory, editTree } from '../objects/edit-tree.ts';
import { type ChangedEntry, findLooseAlready } from '../person/already-there.ts';
import type { UserRepository } from '../person/user-repository.ts';
import { TreeLookup } from '../objects/tree-lookup.ts';
import type { TreeMode } from '../objects/tree-object.ts';
import { compareTrees, type PathStep } from '../store/read-diff.ts';
import type { Store } from '../store/store.ts';

/** Files that an apply goes on from. */
export interface BegunFiles {
  /** The tree of the last commit with those files. */
  readonly tree: ObjectId;
  readonly paths: ReadonlySet<ByteString>;
}

/** Trees, and what differs from the first. */
export interface BegunRequest {
  /** The tree of the last commit. */
  readonly head: ObjectId;
  /** The one that the sandbox began with. */
  readonly began: ObjectId;
  /** The one that it has now: a file that the person has so already counts as well. */
  readonly work: ObjectId;
  /** Tracked files that differ from the last commit. */
  readonly changed: readonly ChangedEntry[];
}

export function noBegunFiles(head: ObjectId): BegunFiles {
  return { tree: head, paths: new Set() };
}

/**
 * Those uncommitted changes of the person's that the sandbox began with and that the work tree still has exactly so. An apply goes on from
 * them: they are no edits that it would run over. A file of which a part alone is staged is none of them.
 */
export async function findBegunFiles(
  store: Store,
  user: UserRepository,
  { head, began, work, changed }: BegunRequest,
  signal: AbortSignal | undefined,
): Promise<BegunFiles> {
  if (head === began) return noBegunFiles(head);
  const entries = new Map(changed.map((entry) => [entry.path, entry]));
  const steps: PathStep[] = [];
  await compareTrees(store, [head, began], { signal, onStep: (step) => steps.push(step) });
  const candidates = steps.filter(({ path, old, new: next }) => {
    const entry = entries.get(path);
    return entry === undefined ? !old && next : entry.isAsStaged || entry.oid === old?.oid;
  });
  const paths = await findLooseAlready(user, candidates, signal);
  const ofWork = new TreeLookup(store.reader, work);
  const others: PathStep[] = [];
  for (const { path } of candidates.filter((step) => !paths.has(step.path))) {
    const entry = await ofWork.entry(path);
    others.push({ path, ...(entry && { new: entry }) });
  }
  const taken = await findLooseAlready(user, others, signal);
  if (paths.size + taken.size === 0) return { tree: head, paths };
  const edits = editedDirectory();
  const found = [...candidates.filter(({ path }) => paths.has(path)), ...others.filter(({ path }) => taken.has(path))];
  for (const { path, new: next } of found)
    addEdit(edits, path, next ? { type: 'entry', mode: next.mode as TreeMode, oid: next.oid } : { type: 'delete' });
  const tree = await store.put(async (sink) => await editTree(store.reader, sink, head, edits));
  return { tree: tree ?? store.format.emptyTree, paths };
}
