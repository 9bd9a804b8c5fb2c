import { createHash } from 'node:crypto';
import { decodeRaw, encodeRaw, ObjectId } from '@litterbox/core/provider';
import type { TarEntry } from '../tools/read-tar.ts';

/** A file or a link of a tree. The content of a link is where it leads. */
export interface TreeFile {
  readonly type: 'file' | 'symlink';
  readonly isExecutable: boolean;
  readonly content: Uint8Array;
}

/** Files and links by their paths, text as in `raw-text.ts`. */
export type FileTree = ReadonlyMap<string, TreeFile>;

export function digestOf(...parts: readonly (string | Uint8Array)[]): ObjectId {
  const hash = createHash('sha1');
  for (const part of parts) {
    const bytes = typeof part === 'string' ? encodeRaw(part) : part;
    hash.update(`${bytes.length}:`).update(bytes);
  }
  return ObjectId.parse(hash.digest('hex'));
}

/** The same for the same files, in whatever order they came. */
export function treeIdOf(tree: FileTree): ObjectId {
  const paths = [...tree.keys()].sort();
  return digestOf(
    'tree',
    ...paths.flatMap((path) => {
      const file = tree.get(path);
      return file ? [path, file.type, String(file.isExecutable), file.content] : [];
    }),
  );
}

export function isSameFile(one: TreeFile | undefined, other: TreeFile | undefined): boolean {
  if (!one || !other) return one === other;
  return (
    one.type === other.type &&
    one.isExecutable === other.isExecutable &&
    Buffer.compare(one.content, other.content) === 0
  );
}

/** The paths of which the two trees hold something else, sorted. */
export function differences(one: FileTree, other: FileTree): readonly string[] {
  return [...new Set([...one.keys(), ...other.keys()])]
    .filter((path) => !isSameFile(one.get(path), other.get(path)))
    .sort();
}

/** Puts a file into a tree: what has another type above or below its path goes. */
export function putFile(tree: Map<string, TreeFile>, path: string, file: TreeFile): void {
  for (const other of tree.keys()) if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) tree.delete(other);
  tree.set(path, file);
}

/** The tree as entries of an archive: the directories above a file come before it, unless only some files are wanted. */
export function entriesOf(tree: FileTree, wanted?: ReadonlySet<string>): readonly TarEntry[] {
  const entries: TarEntry[] = [];
  const told = new Set<string>();
  for (const path of [...tree.keys()].sort()) {
    const file = tree.get(path);
    if (!file || (wanted && !wanted.has(path))) continue;
    for (let cut = path.indexOf('/'); cut !== -1; cut = path.indexOf('/', cut + 1)) {
      const above = path.slice(0, cut);
      if (wanted || told.has(above)) continue;
      told.add(above);
      entries.push({ path: above, type: 'directory', isExecutable: true, content: new Uint8Array(), target: '' });
    }
    const { type, isExecutable, content } = file;
    entries.push({ path, type, isExecutable, content, target: type === 'symlink' ? decodeRaw(content) : '' });
  }
  return entries;
}

/** What of a tree differs from another, with the directories above it and above what only the other one has. */
export function entriesUnlike(tree: FileTree, other: FileTree): readonly TarEntry[] {
  const wanted = new Set<string>();
  for (const path of differences(tree, other)) {
    wanted.add(path);
    for (let cut = path.indexOf('/'); cut !== -1; cut = path.indexOf('/', cut + 1)) wanted.add(path.slice(0, cut));
  }
  return entriesOf(tree).filter(({ path }) => wanted.has(path));
}
