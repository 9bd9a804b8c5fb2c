import { advice, LitterboxError, type SettledFile, type Slug, step, visibleName } from '@litterbox/core/provider';
import { toByteString } from '../git/byte-text.ts';
import { addEdit, type Edit, editedDirectory, editTree } from '../objects/edit-tree.ts';
import type { ObjectSink } from '../objects/object-sink.ts';
import type { TreeMode } from '../objects/tree-object.ts';
import type { ConflictStage, MergedTree } from '../publish/merge-trees.ts';
import type { Store } from '../store/store.ts';
import { conflictDigest, type ConflictStages, stagesOf } from './read-conflict.ts';

/**
 * The merge with files as a person settled them: they conflict no more.
 *
 * @throws LitterboxError `CHANGED_SINCE_SHOWN` when a file does not conflict as the person saw it
 */
export async function settleConflicts(
  store: Store,
  merged: MergedTree,
  settled: readonly SettledFile[],
  slug: Slug,
): Promise<MergedTree> {
  if (settled.length === 0) return merged;
  const edits = editedDirectory();
  const done = new Set<string>();
  const tree = await store.put(async (sink) => {
    for (const file of settled) {
      const path = toByteString(file.path);
      const stages = stagesOf(merged.stages, file.path);
      if (done.has(path)) throw twice(file.path);
      if (conflictDigest(stages) !== file.digest) throw notAsShown(slug, file.path);
      done.add(path);
      addEdit(edits, path, editOf(sink, file, stages));
    }
    return (await editTree(store.reader, sink, merged.tree, edits)) ?? store.format.emptyTree;
  });
  return { tree, stages: merged.stages.filter(({ path }) => !done.has(path)) };
}

function editOf(sink: ObjectSink, file: SettledFile, stages: ConflictStages): Exclude<Edit, { type: 'directory' }> {
  if ('take' in file) {
    const side = stages[file.take];
    return side ? { type: 'entry', mode: side.mode as TreeMode, oid: side.oid } : { type: 'delete' };
  }
  return { type: 'entry', mode: modeOf(file.path, stages), oid: sink.put('blob', Buffer.from(file.text)) };
}

/** That of the side which changed it. */
function modeOf(path: string, { base, ours, theirs }: ConflictStages): TreeMode {
  const sides = [ours, theirs].filter((side): side is ConflictStage => side !== undefined);
  if (sides.length > 0 && sides.every(({ mode }) => mode.startsWith('100')))
    return (sides.find(({ mode }) => mode !== base?.mode) ?? sides[0])?.mode as TreeMode;
  throw new LitterboxError('INVALID_ARGUMENT', `${visibleName(path)} is no text: it is taken as one side has it.`, {
    operation: 'integration.plan',
    hint: 'Choose a side: `take` is `ours` or `theirs`.',
    facts: { path },
  });
}

const twice = (path: string) =>
  new LitterboxError('INVALID_ARGUMENT', `${visibleName(path)} is settled twice.`, {
    operation: 'integration.plan',
    hint: 'Settle each file once.',
    facts: { path },
  });

function notAsShown(slug: Slug, path: string): LitterboxError {
  return new LitterboxError(
    'CHANGED_SINCE_SHOWN',
    `${visibleName(path)} does not conflict as it did when it was shown: your branch or the sandbox has another content by now.`,
    {
      operation: 'integration.plan',
      hint: advice`Look at it again, and settle it as it is now: ${step('sandbox-diff', { sandbox: slug })}.`,
      facts: { path },
    },
  );
}
