import type { ObjectId } from '@litterbox/core/provider';
import type { ByteString } from '../git/byte-text.ts';
import { addEdit, editedDirectory, editTree } from '../objects/edit-tree.ts';
import { TreeLookup } from '../objects/tree-lookup.ts';
import type { TreeMode } from '../objects/tree-object.ts';
import type { ChangedEntry } from '../person/already-there.ts';
import { runsIn, withRuns } from '../publish/file-changes.ts';
import { divisibleChanges } from '../publish/partial-tree.ts';
import type { Store } from '../store/store.ts';

/** Trees of an apply: the person's last commit, the result, and the result of all of the work, which is asked for where it is needed. */
export interface PlannedApply {
  readonly head: ObjectId;
  readonly result: ObjectId;
  readonly conflicts: ReadonlySet<ByteString>;
  whole(): Promise<ObjectId>;
}

/** The same apply on top of parts that the person has staged already. */
export interface AppliedOnTop {
  /** The last commit, with those files as they are staged. */
  readonly from: ObjectId;
  /** With the parts that are staged and those of this apply. */
  readonly result: ObjectId;
}

/**
 * Finds files that the person has in index and work tree as the last commit with some changes of this work, and nothing else: parts of an
 * apply before, which are not committed yet. Any other edit of theirs stays in the way.
 *
 * @param entries files that differ from the last commit
 */
export async function onStagedParts(
  store: Store,
  planned: PlannedApply,
  entries: readonly ChangedEntry[],
  signal: AbortSignal | undefined,
): Promise<AppliedOnTop> {
  const { head, result, conflicts } = planned;
  const [ofHead, ofResult] = [new TreeLookup(store.reader, head), new TreeLookup(store.reader, result)];
  const [staged, joined] = [editedDirectory(), editedDirectory()];
  let isFound = false;
  return await store.put(async (sink) => {
    for (const { path, isAsStaged, mode, oid } of entries) {
      if (!isAsStaged || conflicts.has(path)) continue;
      const [old, next] = [await ofHead.entry(path), await ofResult.entry(path)];
      if (!old || !next || [old.mode, next.mode].some((one) => one !== mode)) continue;
      if (old.oid === next.oid || next.oid === oid) continue; // not of this apply, or there already
      const whole = await planned.whole();
      const all = await new TreeLookup(store.reader, whole).entry(path);
      const step = { path, old, ...(all && { new: all }) };
      const changes = await divisibleChanges(store, { head, result: whole, conflicts }, step, signal);
      if (!changes || !all) continue;
      const read = async (id: ObjectId) => await store.reader.blob(id);
      const sides = [await read(old.oid), await read(all.oid)] as const;
      const before = runsIn(sides, changes.runs, await read(oid as ObjectId));
      const wanted = runsIn(sides, changes.runs, await read(next.oid));
      if (!before || !wanted) continue;
      const both = sink.put('blob', withRuns(sides, changes.runs, { changes: [...before, ...wanted] }));
      addEdit(staged, path, { type: 'entry', mode: mode as TreeMode, oid: oid as ObjectId });
      addEdit(joined, path, { type: 'entry', mode: mode as TreeMode, oid: both });
      isFound = true;
    }
    if (!isFound) return { from: head, result };
    const [from, onTop] = [
      await editTree(store.reader, sink, head, staged),
      await editTree(store.reader, sink, result, joined),
    ];
    return { from: from ?? head, result: onTop ?? result };
  });
}
