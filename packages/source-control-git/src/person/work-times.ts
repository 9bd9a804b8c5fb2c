import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { ObjectId } from '@litterbox/core/provider';
import { bytesOf, type ByteString, fromByteString } from '../git/byte-text.ts';
import { type Listed, listTree } from '../store/list-tree.ts';
import type { Store } from '../store/store.ts';
import { isGitlink, isSymlink, isTree } from '../objects/tree-object.ts';
import type { UserRepository } from './user-repository.ts';

const NANOSECONDS = 1_000_000_000n;
/** Files that are looked at before others of this program get their turn. */
const AT_ONCE = 1000;

/**
 * The times that files of a tree have in the work tree, of those that are newer there than a moment; undefined for those that are others
 * there. Nothing is read but files that the person's index does not know to be the same.
 */
export async function readWorkTimes(
  user: UserRepository,
  store: Store,
  tree: ObjectId,
  sinceSeconds: number,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, bigint | undefined>> {
  const found = new Map<string, bigint | undefined>();
  if (tree === store.format.emptyTree) return found;
  const entries: Listed[] = [];
  for await (const entry of listTree(store, tree, signal)) if (!isTree(entry) && !isGitlink(entry)) entries.push(entry);
  const others = await otherFiles(user, store, tree, entries, signal);
  const since = BigInt(Math.floor(sinceSeconds)) * NANOSECONDS;
  for (const [index, entry] of entries.entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
    const time = others.has(entry.path) ? undefined : timeOf(user.root, entry);
    if (time === undefined || time >= since) found.set(fromByteString(entry.path), time);
  }
  return found;
}

/** Of the entries, those of which git does not know that the work tree has the same. */
async function otherFiles(
  user: UserRepository,
  store: Store,
  tree: ObjectId,
  entries: readonly Listed[],
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<ByteString>> {
  // The tree of an uncommitted work tree is in the store alone.
  const environment = { GIT_OBJECT_DIRECTORY: join(store.gitDirectory, 'objects') };
  const options = { setting: 'user', environment, signal } as const;
  const args = ['diff-index', '-z', '--name-only', '--no-renames', '--ignore-submodules=all', tree, '--'];
  const names = new Set((await user.plumbing.output(args, options)).toString('latin1').split('\0'));
  const suspects = entries.filter(({ path }) => names.has(path));
  // Git takes one name a line, and one that begins with a quote as quoted.
  const isAskable = (entry: Listed) =>
    !isSymlink(entry) && !/^"|\n/.test(entry.path) && timeOf(user.root, entry) !== undefined;
  const asked = suspects.filter(isAskable);
  const same = new Set<ByteString>();
  if (asked.length > 0) {
    const input = Buffer.from(asked.map(({ path }) => `${path}\n`).join(''), 'latin1');
    const { code, stdout } = await user.plumbing.run(['hash-object', '--stdin-paths'], { ...options, input });
    const ids = code === 0 ? stdout.toString('latin1').split('\n') : [];
    for (const [index, { path, oid }] of asked.entries()) if (ids[index] === oid) same.add(path);
  }
  return new Set(suspects.map(({ path }) => path).filter((path) => !same.has(path)));
}

/** Undefined where there is no file, or no link, as the entry is one. */
function timeOf(root: string, entry: Listed): bigint | undefined {
  const path = Buffer.concat([Buffer.from(`${root}/`), bytesOf(entry.path)]);
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  const isOfType = isSymlink(entry) ? stat?.isSymbolicLink() : stat?.isFile();
  return isOfType ? stat?.mtimeNs : undefined;
}
