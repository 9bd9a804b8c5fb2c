import {
  type FilePart,
  LitterboxError,
  type ObjectId,
  type Slug,
  advice,
  step,
  visibleName,
} from '@litterbox/core/provider';
import { type ByteString, toByteString } from '../git/byte-text.ts';
import { largeFileBytes } from '../large-files/large-file-pointer.ts';
import { addEdit, editedDirectory, editTree } from '../objects/edit-tree.ts';
import type { TreeMode } from '../objects/tree-object.ts';
import { readBlobSizes } from '../store/read-blob-sizes.ts';
import { compareTrees, type PathStep } from '../store/read-diff.ts';
import type { Store } from '../store/store.ts';
import { type FileChanges, readFileChanges, withRuns } from './file-changes.ts';

/** Bytes of a file above which it is taken whole: both sides of it are read into memory. */
const MAX_FILE_BYTES = 32 * 2 ** 20;
const REGULAR = new Set(['100644', '100755']);

/** An apply of all: the person's tree, and the tree that it becomes. */
export interface WholeApply {
  readonly head: ObjectId;
  readonly result: ObjectId;
  readonly conflicts: ReadonlySet<ByteString>;
}

/**
 * The changes of one file that may be taken one by one; undefined when the file is whole or nothing: new, gone, of another mode, no text,
 * of Git LFS, too large, or in conflict.
 */
export async function divisibleChanges(
  store: Store,
  { head, result, conflicts }: WholeApply,
  { path, old, new: next }: PathStep,
  signal: AbortSignal | undefined,
): Promise<FileChanges | undefined> {
  if (!old || !next || old.mode !== next.mode || !REGULAR.has(old.mode) || conflicts.has(path)) return undefined;
  for await (const [, size] of readBlobSizes(store, [old.oid, next.oid], signal))
    if (size > MAX_FILE_BYTES) return undefined;
  for (const { oid } of [old, next]) if (largeFileBytes(await store.reader.blob(oid)) !== undefined) return undefined;
  return await readFileChanges(store, [head, result], path, signal);
}

/** Chosen parts of files, by what they are parts of. */
export interface PartsOfWork {
  readonly ofWork: readonly FilePart[];
  readonly ofApply: readonly FilePart[];
}

/**
 * Parts that were seen as changes of the work itself, as the page shows them, and parts of an apply to the branch. Where the branch is as the
 * sandbox began they are the same.
 */
export async function partsOfWork(
  store: Store,
  work: Pick<WholeApply, 'head' | 'result'>,
  parts: readonly FilePart[],
  signal: AbortSignal | undefined,
): Promise<PartsOfWork> {
  const whole = { ...work, conflicts: new Set<ByteString>() };
  const steps = await stepsOf(store, whole, parts, signal);
  const ofWork: FilePart[] = [];
  for (const part of parts) {
    const found = steps.get(toByteString(part.path));
    const changes = found && (await divisibleChanges(store, whole, found, signal));
    if (changes?.digest === part.digest) ofWork.push(part);
  }
  return { ofWork, ofApply: parts.filter((part) => !ofWork.includes(part)) };
}

async function stepsOf(
  store: Store,
  { head, result }: WholeApply,
  parts: readonly FilePart[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<ByteString, PathStep>> {
  const steps = new Map<ByteString, PathStep>();
  const paths = parts.map(({ path }) => path);
  if (paths.length === 0) return steps;
  await compareTrees(store, [head, result], { paths, signal, onStep: (found) => steps.set(found.path, found) });
  return steps;
}

/**
 * The tree that has all of the work but for some files, of which it has some changes alone.
 *
 * @throws LitterboxError `CHANGED_SINCE_SHOWN` when a file does not change as somebody saw it
 */
export async function partialTree(
  store: Store,
  whole: WholeApply,
  parts: readonly FilePart[],
  slug: Slug,
  signal: AbortSignal | undefined,
): Promise<ObjectId> {
  if (parts.length === 0) return whole.result;
  const steps = await stepsOf(store, whole, parts, signal);
  const edits = editedDirectory();
  return await store.put(async (sink) => {
    for (const part of parts) {
      const found = steps.get(toByteString(part.path));
      const changes = found && (await divisibleChanges(store, whole, found, signal));
      if (!found?.old || !found.new || changes?.digest !== part.digest) throw notAsShown(slug, part.path);
      if (part.changes.some((number) => number >= changes.runs.length)) throw notAsShown(slug, part.path);
      const sides = [await store.reader.blob(found.old.oid), await store.reader.blob(found.new.oid)] as const;
      const oid = sink.put('blob', withRuns(sides, changes.runs, part));
      addEdit(edits, found.path, { type: 'entry', mode: found.new.mode as TreeMode, oid });
    }
    return (await editTree(store.reader, sink, whole.result, edits)) ?? store.format.emptyTree;
  });
}

function notAsShown(slug: Slug, path: string): LitterboxError {
  return new LitterboxError(
    'CHANGED_SINCE_SHOWN',
    `The changes of ${visibleName(path)} are not those that were shown: your branch has some of them, or changed the same file.`,
    {
      operation: 'integration.plan',
      hint: advice`Take the file whole: ${step('sandbox-apply', { sandbox: slug, paths: [path] })}. To choose among its changes as they are now, add -p in a terminal.`,
      facts: { path },
    },
  );
}
