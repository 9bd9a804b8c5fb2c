import { type ObjectId } from '@litterbox/core/provider';
import type { ByteString } from '../git/byte-text.ts';
import type { ObjectReader } from './object-reader.ts';
import type { ObjectSink } from './object-sink.ts';
import { isTree, serializeTree, type TreeEntry, type TreeMode } from './tree-object.ts';

/** What becomes of one name in a directory. */
export type Edit =
  | { readonly type: 'entry'; readonly mode: TreeMode; readonly oid: ObjectId }
  | { readonly type: 'delete' }
  /** Edits further down. Where the base has a file, the directory takes its place if anything is left in it. */
  | EditedDirectory;

export interface EditedDirectory {
  readonly type: 'directory';
  readonly children: Map<ByteString, Edit>;
}

export function editedDirectory(): EditedDirectory {
  return { type: 'directory', children: new Map() };
}

/** A directory beats a file of the same name: a scan is no snapshot, and the next one settles it. */
export function addEdit(root: EditedDirectory, path: ByteString, edit: Exclude<Edit, EditedDirectory>): void {
  const names = path.split('/');
  const last = names.pop() as string;
  let directory = root;
  for (const name of names) {
    let next = directory.children.get(name);
    if (next?.type !== 'directory') {
      next = editedDirectory();
      directory.children.set(name, next);
    }
    directory = next;
  }
  if (directory.children.get(last)?.type !== 'directory') directory.children.set(last, edit);
}

/**
 * The tree with the edits in it; `undefined` when nothing is left. Reads only the trees on edited paths and writes
 * only those that differ, so the cost is that of the changes.
 */
export async function editTree(
  reader: ObjectReader,
  sink: ObjectSink,
  base: ObjectId | undefined,
  edits: EditedDirectory,
): Promise<ObjectId | undefined> {
  const entries = new Map<ByteString, TreeEntry>(base === undefined ? [] : await reader.tree(base));
  let isChanged = false;
  for (const [name, edit] of edits.children) {
    const old = entries.get(name);
    if (edit.type === 'delete') {
      isChanged = entries.delete(name) || isChanged;
    } else if (edit.type === 'entry') {
      if (old?.oid === edit.oid && old.mode === edit.mode) continue;
      entries.set(name, { name, mode: edit.mode, oid: edit.oid });
      isChanged = true;
    } else {
      const oldTree = old && isTree(old) ? old.oid : undefined;
      const oid = await editTree(reader, sink, oldTree, edit);
      if (oid === oldTree) continue; // also: nothing came of it, and what was no directory stays
      if (oid === undefined) entries.delete(name);
      else entries.set(name, { name, mode: '40000', oid });
      isChanged = true;
    }
  }
  if (!isChanged) return base;
  if (entries.size === 0) return undefined;
  const oid = sink.put('tree', serializeTree(entries.values()));
  reader.rememberTree(oid, entries);
  return oid;
}
