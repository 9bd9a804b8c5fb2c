import type { ObjectId, SandboxId } from '@litterbox/core/provider';
import { parseLargeFilePointer } from './large-file-pointer.ts';
import { nulFields } from '../git/nul-fields.ts';
import type { LargeFileContent } from './checked-in-trees.ts';
import { readMilestones, readTip } from '../store/sandbox-refs.ts';
import type { Store } from '../store/store.ts';

/**
 * The contents that milestones of a sandbox have pointers to, by the pointers. They are in the history of the sandbox: a milestone differs
 * from the revision that it was cut at by its pointers alone.
 *
 * @param isWanted which milestones @defaultValue all
 */
export async function madePointers(
  store: Store,
  id: SandboxId,
  isWanted: (milestone: ObjectId) => boolean,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<ObjectId, LargeFileContent>> {
  const found = new Map<ObjectId, LargeFileContent>();
  const milestones = (await readMilestones(store, id)).filter(({ commit }) => isWanted(commit));
  if (milestones.length === 0) return found;
  const revisions = await revisionsOf(store, id, new Set(milestones.map(({ number }) => number)), signal);
  for (const { number, commit } of milestones) {
    const [recorded, pointed] = [revisions.get(number), await store.commitTree(commit)];
    if (recorded === undefined || recorded === pointed) continue;
    const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', recorded, pointed];
    let isPath = true; // a line of modes and ids, then a path, which may look like one
    for await (const fields of nulFields(store.stream(args, { signal }))) {
      for (const field of fields) {
        isPath = !isPath;
        if (isPath) continue;
        const [, , blob, oid] = field.split(' ') as [string, string, ObjectId, ObjectId];
        if (oid === undefined || found.has(oid)) continue;
        const pointer = parseLargeFilePointer(await store.reader.blob(oid));
        if (pointer) found.set(oid, { ...pointer, blob });
      }
    }
  }
  return found;
}

/** The trees of the revisions of these numbers. */
async function revisionsOf(
  store: Store,
  id: SandboxId,
  numbers: ReadonlySet<number>,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<number, ObjectId>> {
  const found = new Map<number, ObjectId>();
  let { commit }: { commit: ObjectId | undefined } = await readTip(store, id);
  while (commit !== undefined && found.size < numbers.size) {
    signal?.throwIfAborted();
    const { revision, tree, parents }: Awaited<ReturnType<typeof store.reader.commit>> =
      await store.reader.commit(commit);
    if (!revision) break; // the base
    if (numbers.has(revision.number)) found.set(revision.number, tree);
    commit = parents[0];
  }
  return found;
}
