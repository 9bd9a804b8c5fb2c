import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ObjectId } from '@litterbox/core/provider';
import { type ByteString, fromByteString } from '../git/byte-text.ts';
import { listTree } from '../store/list-tree.ts';
import { isGitLike } from '../objects/path-rules.ts';
import type { Store } from '../store/store.ts';
import { isGitlink } from '../objects/tree-object.ts';
import type { UserRepository } from '../person/user-repository.ts';

/** Reads objects: of the store alone, or also of a directory that it does not know. */
export type TreeStore = Pick<Store, 'format' | 'run' | 'start' | 'stream'>;

/** A submodule, and where its objects are. */
export interface LocatedSubmodule {
  readonly path: ByteString;
  readonly commit: ObjectId;
  /** Absolute directory with its objects; absent when they cannot be had. */
  readonly objects?: string;
  readonly missing?: string;
}

const MAX_SUBMODULES = 1_000;
const MAX_DEPTH = 8;
const MAX_GITMODULES_BYTES = 2 ** 20;

/** What `.gitmodules` of a tree names, and what those hold in their turn. */
export async function findSubmodules(
  user: UserRepository,
  store: Store,
  tree: ObjectId,
  signal: AbortSignal | undefined,
): Promise<readonly LocatedSubmodule[]> {
  // Without a program of its own, as most repositories have none.
  if (tree === store.format.emptyTree || !(await store.reader.tree(tree)).has('.gitmodules')) return [];
  const found: LocatedSubmodule[] = [];
  const directories = [...new Set([user.gitDirectory, user.commonDirectory])].map((path) => join(path, 'modules'));
  const look = async (reader: TreeStore, treeish: ObjectId, above: ByteString, places: readonly string[]) => {
    const names = await namesByPath(reader, treeish, signal);
    if (names.size === 0) return;
    for await (const entry of listTree(reader, treeish, signal)) {
      if (!isGitlink(entry)) continue;
      if (found.length === MAX_SUBMODULES) return;
      const path = `${above}${entry.path}`;
      const name = names.get(entry.path);
      const place = name === undefined ? undefined : await placeOf(places, name);
      if (place === undefined) {
        const missing = name === undefined ? '.gitmodules does not name it' : 'it is not initialised here';
        found.push({ path, commit: entry.oid, missing });
        continue;
      }
      const objects = join(place, 'objects');
      const borrowed = withObjects(store, objects);
      const missing = await whatIsMissing(borrowed, objects, entry.oid, signal);
      found.push({ path, commit: entry.oid, ...(missing === undefined ? { objects } : { missing }) });
      const isDeep =
        path.split('/').length > MAX_DEPTH * 8 || places.some((one) => one.split('/modules/').length > MAX_DEPTH);
      if (missing === undefined && !isDeep) await look(borrowed, entry.oid, `${path}/`, [join(place, 'modules')]);
    }
  };
  await look(store, tree, '', directories);
  return found;
}

/**
 * The store, with the objects of a directory besides. Nothing else of the repository that they belong to is read: its configuration could
 * name programs.
 */
export function withObjects(store: TreeStore, objects: string): TreeStore {
  const environment = {
    GIT_ALTERNATE_OBJECT_DIRECTORIES: /^["]|[:\n]/.test(objects) ? JSON.stringify(objects) : objects,
  };
  return {
    format: store.format,
    run: (args, options) => store.run(args, { ...options, environment }),
    start: (args, options) => store.start(args, { ...options, environment }),
    stream: (args, options) => store.stream(args, { ...options, environment }),
  };
}

async function namesByPath(
  store: TreeStore,
  treeish: ObjectId,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  if (treeish === store.format.emptyTree) return names;
  const blob = await store.run(['cat-file', 'blob', `${treeish}:.gitmodules`], { signal });
  if (blob.code !== 0 || blob.stdout.length > MAX_GITMODULES_BYTES) return names;
  // Read as a file, git follows no include.
  const args = ['config', '--file', '-', '--no-includes', '-z', '--get-regexp', '^submodule\\..*\\.path$'];
  const { stdout } = await store.run(args, { input: blob.stdout, signal });
  for (const entry of stdout.toString('latin1').split('\0')) {
    const cut = entry.indexOf('\n');
    if (cut > 0) names.set(entry.slice(cut + 1), entry.slice('submodule.'.length, cut - '.path'.length));
  }
  return names;
}

/** The git directory of a submodule of that name: a directory below one of the places, reached by directories alone. */
async function placeOf(places: readonly string[], name: ByteString): Promise<string | undefined> {
  const parts = fromByteString(name).split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..' || isGitLike(part))) return undefined;
  for (const place of places) {
    const steps = parts.map((_, index) => join(place, ...parts.slice(0, index + 1)));
    const all = [place, ...steps, ...['objects', 'objects/pack'].map((one) => join(place, ...parts, one))];
    const kinds = await Promise.all(all.map((path) => lstat(path).catch(() => undefined)));
    if (kinds.every((kind) => kind?.isDirectory())) return join(place, ...parts);
  }
  return undefined;
}

async function whatIsMissing(
  store: TreeStore,
  objects: string,
  commit: ObjectId,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const packs = await readdir(join(objects, 'pack')).catch(() => [] as string[]);
  if (packs.some((name) => name.endsWith('.promisor'))) return 'it is a partial clone';
  const { code } = await store.run(['cat-file', '-e', `${commit}^{tree}`], { signal });
  return code === 0 ? undefined : `its commit ${commit.slice(0, 12)} is not here`;
}
