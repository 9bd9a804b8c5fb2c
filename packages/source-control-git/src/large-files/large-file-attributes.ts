import { randomUUID } from 'node:crypto';
import { lstat, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ObjectId } from '@litterbox/core/provider';
import type { ByteString } from '../git/byte-text.ts';
import { GitFailure } from '../git/git-failure.ts';
import { nulFields } from '../git/nul-fields.ts';
import type { GitCall } from '../git/run-git.ts';
import { readAttributes } from '../person/read-attributes.ts';
import { readBlobSizes } from '../store/read-blob-sizes.ts';
import type { Store } from '../store/store.ts';
import type { UserRepository } from '../person/user-repository.ts';

const ATTRIBUTES = '.gitattributes';
/** The attributes of a tree, all together, are read up to here: git holds some twenty times as much memory for short lines. */
const MAX_ATTRIBUTES_BYTES = 4 * 2 ** 20;
/** Processor time: each line is tried on each path, and one with several stars in it in every combination. */
const MAX_SECONDS = 30;
/** No name of a filter or of line ends is longer. */
const MAX_VALUE_CHARACTERS = 200;
const OF_LINE_ENDS = /\b(?:text|eol|crlf)\b/;

/** False where Git LFS is not used, without a program of its own: git-lfs keeps a directory, and patterns are at the top mostly. */
export async function mayHaveLargeFiles(user: UserRepository, store: Store, tree: ObjectId): Promise<boolean> {
  if (tree === store.format.emptyTree) return false;
  const kept = await lstat(join(user.commonDirectory, 'lfs')).catch(() => undefined);
  if (kept?.isDirectory()) return true;
  return (await topAttributes(store, tree)).includes('filter=lfs');
}

/** False where a check-in stores every file as it is, as far as the attributes at the top say, without a program of its own. */
export async function mayChangeAtCheckIn(user: UserRepository, store: Store, tree: ObjectId): Promise<boolean> {
  if (await mayHaveLargeFiles(user, store, tree)) return true;
  if (tree === store.format.emptyTree) return false;
  return OF_LINE_ENDS.test((await topAttributes(store, tree)).toString());
}

/** None where they are too long to count. */
async function topAttributes(store: Store, tree: ObjectId): Promise<Buffer> {
  const found = (await store.reader.tree(tree)).get(ATTRIBUTES);
  const isFile = found?.mode.startsWith('100') === true;
  return (isFile && (await store.reader.blobUpTo(found.oid, MAX_ATTRIBUTES_BYTES))) || Buffer.alloc(0);
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

/** Values by their paths and names, by the attributes in a tree. Attributes are an agent's words: too many, or such that git computes for too long, say nothing. */
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
    if (await areTooLong(store, options)) return found;
    const asked = { ...options, isCached: true, cpuSeconds: MAX_SECONDS };
    for await (const { path, attribute, value } of readAttributes(store, names, paths, asked))
      if (value.length <= MAX_VALUE_CHARACTERS)
        found.set(path, (found.get(path) ?? new Map<string, string>()).set(attribute, value));
    return found;
  } catch (error) {
    if (error instanceof GitFailure && error.code < 0) return new Map(); // the kernel ended it
    throw error;
  } finally {
    await rm(index, { force: true });
  }
}

/** Whether the attributes that an index holds are too many to be read. */
async function areTooLong(store: Store, { environment, signal }: Partial<GitCall>): Promise<boolean> {
  const options = { environment: { ...environment, GIT_LITERAL_PATHSPECS: '0' }, signal };
  const args = ['ls-files', '-z', '--format=%(objectname)', '--', `:(glob)**/${ATTRIBUTES}`];
  const oids: ObjectId[] = [];
  for await (const some of nulFields(store.stream(args, options))) oids.push(...(some as ObjectId[]));
  let bytes = 0;
  for await (const [, size] of readBlobSizes(store, oids, signal)) bytes += size;
  return bytes > MAX_ATTRIBUTES_BYTES;
}
