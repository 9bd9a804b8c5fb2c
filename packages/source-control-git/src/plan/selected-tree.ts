import {
  type FileChange,
  LitterboxError,
  type ObjectId,
  type Slug,
  visibleName,
  advice,
  step,
} from '@litterbox/core/provider';
import type { ByteString } from '../git/byte-text.ts';
import { addEdit, editedDirectory, editTree } from '../objects/edit-tree.ts';
import { compareTrees, type PathStep } from '../store/read-diff.ts';
import type { Store } from '../store/store.ts';
import type { TreeMode } from '../objects/tree-object.ts';

/** What a sandbox began with, what the person has of its work, and what it has now. */
export interface SelectedFrom {
  readonly base: ObjectId;
  readonly onto: ObjectId;
  readonly tip: ObjectId;
  readonly slug: Slug;
}

/**
 * The tree that the person has of the work, with what the sandbox changed at some paths and nothing else of it.
 *
 * @throws LitterboxError `NOT_FOUND` for a path at which the sandbox changed nothing
 */
export async function selectedTree(
  store: Store,
  { base, onto, tip, slug }: SelectedFrom,
  paths: readonly string[],
  signal: AbortSignal | undefined,
): Promise<ObjectId> {
  const changed = withDirectories(await compareTrees(store, [base, tip], { paths, signal }));
  for (const path of paths) {
    if (changed.has(path.replace(/\/+$/, ''))) continue;
    // Git knows other ways to write a path, such as ./a.
    if ((await compareTrees(store, [base, tip], { paths: [path], signal })).length > 0) continue;
    throw new LitterboxError('NOT_FOUND', `The sandbox ${slug} changed nothing at ${visibleName(path)}.`, {
      operation: 'integration.plan',
      hint: advice`See what it changed: ${step('sandbox-diff', { sandbox: slug, stat: true })}.`,
    });
  }
  const steps: PathStep[] = [];
  await compareTrees(store, [onto, tip], { paths, signal, onStep: (step) => steps.push(step) });
  const edits = editedDirectory();
  const written = new Set(steps.filter((step) => step.new).map(({ path }) => path));
  const isReplaced = (path: ByteString) =>
    path.split('/').some((_, end, names) => end > 0 && written.has(names.slice(0, end).join('/')));
  for (const { path, new: next } of steps)
    if (next) addEdit(edits, path, { type: 'entry', mode: next.mode as TreeMode, oid: next.oid });
    else if (!isReplaced(path)) addEdit(edits, path, { type: 'delete' }); // else a file takes the place of its directory
  return await store.put(async (sink) => (await editTree(store.reader, sink, onto, edits)) ?? store.format.emptyTree);
}

/** The paths of changes, and of every directory on their way. */
function withDirectories(changes: readonly FileChange[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { path } of changes)
    for (let at = path.length; at > 0; at = path.lastIndexOf('/', at - 1)) {
      const above = path.slice(0, at);
      if (found.has(above)) break; // and with it all above
      found.add(above);
    }
  return found;
}
