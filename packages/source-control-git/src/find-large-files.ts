import { type ObjectId } from '@litterbox/core/provider';
import type { ByteString } from './byte-text.ts';
import { mayHaveLargeFiles, throughLargeFiles } from './large-file-attributes.ts';
import { type LargeFilePointer, MAX_POINTER_BYTES, parseLargeFilePointer } from './large-file-pointer.ts';
import { LargeFileStorage } from './large-file-storage.ts';
import { type Listed, listTree } from './list-tree.ts';
import { readBlobSizes } from './read-blob-sizes.ts';
import type { Store } from './store.ts';
import { isGitlink, isSymlink, isTree } from './tree-object.ts';
import type { UserRepository } from './user-repository.ts';

/** A file of Git LFS in a tree, and where its content is. */
export interface LocatedLargeFile extends LargeFilePointer {
  readonly path: ByteString;
  /** Absolute path of its content; absent when it is not on this machine. */
  readonly content?: string;
}

/** The files of a tree that git-lfs would put in the place of their pointers. No program of the repository's runs. */
export async function findLargeFiles(
  user: UserRepository,
  store: Store,
  tree: ObjectId,
  signal: AbortSignal | undefined,
): Promise<readonly LocatedLargeFile[]> {
  if (!(await mayHaveLargeFiles(user, store, tree))) return [];
  const files: Listed[] = [];
  for await (const entry of listTree(store, tree, signal))
    if (!isTree(entry) && !isGitlink(entry) && !isSymlink(entry)) files.push(entry);
  const paths = files.map(({ path }) => path);
  const through = await throughLargeFiles(store, tree, paths, signal);
  const candidates = files.filter(({ path }) => through.has(path));
  const small = new Set<ObjectId>();
  const oids = candidates.map(({ oid }) => oid);
  for await (const [oid, size] of readBlobSizes(store, oids, signal)) if (size < MAX_POINTER_BYTES) small.add(oid);
  const storage = await LargeFileStorage.open(user, signal);
  const found: LocatedLargeFile[] = [];
  for (const { path, oid } of candidates) {
    const pointer = small.has(oid) ? parseLargeFilePointer(await store.reader.blob(oid)) : undefined;
    if (pointer === undefined) continue;
    found.push({ ...pointer, path, ...((await storage.has(pointer)) && { content: storage.pathOf(pointer) }) });
  }
  return found;
}
