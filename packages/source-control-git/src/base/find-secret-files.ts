import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type FoundBase,
  type HeldFile,
  type ObjectId,
  SECRET_LOOK_BYTES,
  secretByName,
  type SecretText,
  secretTexts,
} from '@litterbox/core/provider';
import { bytesOf, type ByteString, fromByteString } from '../git/byte-text.ts';
import { listTree } from '../store/list-tree.ts';
import type { Store } from '../store/store.ts';
import { isTree } from '../objects/tree-object.ts';
import type { UserRepository } from '../person/user-repository.ts';

/** A file that looks like a secret. */
interface SecretFile {
  readonly holds: string;
  readonly isTracked: boolean;
}

/** Files that are read at the same time. */
const AT_ONCE = 32;
/** What a caller is told by name; the rest is a number. */
const MAX_TOLD = 20;

/**
 * Of files of the work tree that differ from HEAD, those that look like secrets: by their names, or because a text of a known form stands
 * in them that HEAD's own does not have. Links hold nothing but a path and are no secrets.
 */
export async function findSecretFiles(
  user: UserRepository,
  store: Store,
  headTree: ObjectId,
  names: readonly ByteString[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<ByteString, SecretFile>> {
  const suspects = new Map<ByteString, { readonly holds: string; readonly texts?: readonly string[] }>();
  for (let start = 0; start < names.length; start += AT_ONCE) {
    signal?.throwIfAborted();
    await Promise.all(
      names.slice(start, start + AT_ONCE).map(async (name) => {
        const suspect = await look(user.root, name);
        if (suspect) suspects.set(name, suspect);
      }),
    );
  }
  const found = new Map<ByteString, SecretFile>();
  if (suspects.size === 0) return found;
  const inHead = await idsOf(store, headTree, new Set(suspects.keys()), signal);
  for (const [name, { holds, texts }] of suspects) {
    const oid = inHead.get(name);
    if (oid && texts) {
      const { stdout } = await user.plumbing.run(['cat-file', 'blob', oid], { signal });
      const known = new Set(secretTexts(fromByteString(name), stdout).map(({ text }) => text));
      if (texts.every((text) => known.has(text))) continue;
    }
    found.set(name, { holds, isTracked: oid !== undefined });
  }
  return found;
}

/** What of them a caller is told. */
export function heldBackOf(secrets: ReadonlyMap<ByteString, SecretFile>): Pick<FoundBase, 'heldBack'> {
  if (secrets.size === 0) return {};
  const files = [...secrets]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .slice(0, MAX_TOLD)
    .map(([name, { holds, isTracked }]): HeldFile => ({ path: fromByteString(name), holds, isTracked }));
  return { heldBack: { files, total: secrets.size } };
}

async function look(root: string, name: ByteString) {
  if (!(await isRegular(root, name))) return undefined; // deleted, a link, or what git does not take either
  const text = fromByteString(name);
  const holds = secretByName(text);
  if (holds !== undefined) return { holds };
  const found = await secretTextsIn(root, name);
  const [first] = found;
  return first && { holds: first.holds, texts: found.map((one) => one.text) };
}

const onDisk = (root: string, name: ByteString) => Buffer.concat([Buffer.from(join(root, '/')), bytesOf(name)]);

async function isRegular(root: string, name: ByteString): Promise<boolean> {
  return (await lstat(onDisk(root, name)).catch(() => undefined))?.isFile() === true;
}

/** What in a file of the work tree looks like a secret; nothing where it is no regular file. */
export async function secretTextsIn(root: string, name: ByteString): Promise<readonly SecretText[]> {
  if (!(await isRegular(root, name))) return [];
  return secretTexts(fromByteString(name), await beginningOf(onDisk(root, name)));
}

async function beginningOf(path: Buffer): Promise<Uint8Array> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const buffer = new Uint8Array(SECRET_LOOK_BYTES);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

async function idsOf(
  store: Store,
  tree: ObjectId,
  names: ReadonlySet<ByteString>,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<ByteString, ObjectId>> {
  const found = new Map<ByteString, ObjectId>();
  if (tree === store.format.emptyTree) return found;
  for await (const entry of listTree(store, tree, signal, names))
    if (!isTree(entry) && names.has(entry.path)) found.set(entry.path, entry.oid);
  return found;
}
