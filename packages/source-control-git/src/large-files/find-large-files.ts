import { type Base, type LargeFileState, type ObjectId } from '@litterbox/core/provider';
import { type ByteString, fromByteString } from '../git/byte-text.ts';
import { isOfPerson, looseCommits } from '../person/held-commits.ts';
import { mayHaveLargeFiles, throughLargeFiles } from './large-file-attributes.ts';
import { type LargeFilePointer, MAX_POINTER_BYTES, parseLargeFilePointer } from './large-file-pointer.ts';
import { LargeFileStorage } from './large-file-storage.ts';
import { type Listed, listTree } from '../store/list-tree.ts';
import { madePointers } from './made-pointers.ts';
import { readBlobSizes } from '../store/read-blob-sizes.ts';
import { listSandboxes, readMeta, readMilestones, sandboxRefs } from '../store/sandbox-refs.ts';
import type { Store } from '../store/store.ts';
import { isGitlink, isSymlink, isTree } from '../objects/tree-object.ts';
import type { UserRepository } from '../person/user-repository.ts';

interface Pointer extends LargeFilePointer {
  readonly path: ByteString;
  readonly oid: ObjectId;
}

/** Which pointers may be filled, and from where. */
interface Sources {
  /** Whether a commit of the person has the pointer. */
  readonly isPersons: (oid: ObjectId) => boolean;
  /** Contents that milestones made pointers to. */
  readonly made: ReadonlyMap<ObjectId, { readonly blob: ObjectId }>;
}

/**
 * The files of a tree that git-lfs would put in the place of their pointers. No program of the repository's runs. An agent may write the
 * pointer to anything: what git-lfs has is only for pointers that the person committed.
 */
export async function findLargeFiles(
  user: UserRepository,
  store: Store,
  base: Pick<Base, 'commit' | 'tree'>,
  signal: AbortSignal | undefined,
): Promise<readonly LargeFileState[]> {
  const pointers = await pointersIn(user, store, base.tree, signal);
  if (pointers.length === 0) return [];
  const storage = await LargeFileStorage.open(user, signal);
  const { isPersons, made } = await sourcesOf(user, store, base, signal);
  const found: LargeFileState[] = [];
  for (const { path, oid, sha256, sizeBytes } of pointers) {
    const recorded = isPersons(oid) ? undefined : made.get(oid)?.blob;
    const isHere = recorded !== undefined || (isPersons(oid) && (await storage.has({ sha256, sizeBytes })));
    found.push({ path: fromByteString(path), sha256, sizeBytes, isHere, ...(recorded && { recorded }) });
  }
  return found;
}

async function pointersIn(
  user: UserRepository,
  store: Store,
  tree: ObjectId,
  signal: AbortSignal | undefined,
): Promise<readonly Pointer[]> {
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
  const found: Pointer[] = [];
  for (const { path, oid } of candidates) {
    const pointer = small.has(oid) ? parseLargeFilePointer(await store.reader.blob(oid)) : undefined;
    if (pointer !== undefined) found.push({ ...pointer, path, oid });
  }
  return found;
}

async function sourcesOf(
  user: UserRepository,
  store: Store,
  { commit, tree }: Pick<Base, 'commit' | 'tree'>,
  signal: AbortSignal | undefined,
): Promise<Sources> {
  const call = { signal };
  const persons = new Set<ObjectId>();
  const addAll = async (from: ObjectId) => {
    for await (const { oid } of listTree(store, from, signal)) persons.add(oid);
  };
  if (await isOfPerson(user, store, commit, call)) {
    const committed = await store.commitTree(commit);
    if (tree === committed) return { isPersons: () => true, made: new Map() };
    await addAll(committed);
    return { isPersons: (oid) => persons.has(oid), made: new Map() };
  }
  const { loose, below } = await looseCommits(user, store, commit, call);
  const line = new Set(loose);
  const made = new Map<ObjectId, { readonly blob: ObjectId }>();
  const trees = new Set(await Promise.all(below.map((one) => store.commitTree(one))));
  for (const id of await listSandboxes(store)) {
    if (store.refs.read(sandboxRefs(id).meta) === undefined) continue;
    if (!(await readMilestones(store, id)).some((milestone) => line.has(milestone.commit))) continue;
    for (const [oid, content] of await madePointers(store, id, (milestone) => line.has(milestone), signal))
      made.set(oid, content);
    // What it began with may be a commit of the person's that no branch holds.
    const { base } = await readMeta(store, id);
    if (!trees.has(base.tree) && (await isOfPerson(user, store, base.commit, call))) trees.add(base.tree);
  }
  for (const one of trees) await addAll(one);
  return { isPersons: (oid) => persons.has(oid), made };
}
