import { randomUUID } from 'node:crypto';
import { lstat, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ObjectId } from '@litterbox/core/provider';
import type { ByteString } from '../git/byte-text.ts';
import { readAttributes } from '../person/read-attributes.ts';
import type { Store } from '../store/store.ts';
import type { UserRepository } from '../person/user-repository.ts';

const ATTRIBUTES = '.gitattributes';
const OF_LINE_ENDS = /\b(?:text|eol|crlf)\b/;

/** False where Git LFS is not used, without a program of its own: git-lfs keeps a directory, and patterns are at the top mostly. */
export async function mayHaveLargeFiles(user: UserRepository, store: Store, tree: ObjectId): Promise<boolean> {
  if (tree === store.format.emptyTree) return false;
  const kept = await lstat(join(user.commonDirectory, 'lfs')).catch(() => undefined);
  if (kept?.isDirectory()) return true;
  const found = (await store.reader.tree(tree)).get(ATTRIBUTES);
  return found?.mode.startsWith('100') === true && (await store.reader.blob(found.oid)).includes('filter=lfs');
}

/** False where a check-in stores every file as it is, as far as the attributes at the top say, without a program of its own. */
export async function mayChangeAtCheckIn(user: UserRepository, store: Store, tree: ObjectId): Promise<boolean> {
  if (await mayHaveLargeFiles(user, store, tree)) return true;
  if (tree === store.format.emptyTree) return false;
  const found = (await store.reader.tree(tree)).get(ATTRIBUTES);
  return found?.mode.startsWith('100') === true && OF_LINE_ENDS.test((await store.reader.blob(found.oid)).toString());
}

/** Those of the paths that go through Git LFS, by the attributes in a tree. */
export async function throughLargeFiles(
  store: Store,
  tree: ObjectId,
  paths: readonly ByteString[],
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<ByteString>> {
  const found = await attributesIn(store, tree, ['filter'], paths, signal);
  return new Set([...found].filter(([, values]) => values.get('filter') === 'lfs').map(([path]) => path));
}

/** Values by their paths and names, by the attributes in a tree. */
export async function attributesIn(
  store: Store,
  tree: ObjectId,
  names: readonly string[],
  paths: readonly ByteString[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<ByteString, ReadonlyMap<string, string>>> {
  const found = new Map<ByteString, Map<string, string>>();
  if (paths.length === 0) return found;
  await mkdir(store.workDirectory, { recursive: true, mode: 0o700 });
  const index = join(store.workDirectory, `attributes-${randomUUID()}`);
  // git before 2.41 asks the index, newer ones the tree.
  const options = { environment: { GIT_INDEX_FILE: index, GIT_ATTR_SOURCE: tree }, signal };
  try {
    await store.output(['read-tree', tree], options);
    for (const { path, attribute, value } of await readAttributes(store, names, paths, { ...options, isCached: true }))
      found.set(path, (found.get(path) ?? new Map<string, string>()).set(attribute, value));
    return found;
  } finally {
    await rm(index, { force: true });
  }
}
