import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import {
  type LargeFileState,
  LitterboxError,
  type ObjectId,
  shown,
  type SubmoduleState,
  type TreeOptions,
} from '@litterbox/core/provider';
import { ByteSource } from '../git/byte-source.ts';
import { type ByteString, fromByteString, toByteString } from '../git/byte-text.ts';
import { findSubmodules, type LocatedSubmodule, type TreeStore, withObjects } from './find-submodules.ts';
import { LargeFileStorage } from '../large-files/large-file-storage.ts';
import { type Listed, listTree } from '../store/list-tree.ts';
import { nulFields } from '../git/nul-fields.ts';
import { isGitLike } from '../objects/path-rules.ts';
import { drained } from '../git/run-git.ts';
import type { Store } from '../store/store.ts';
import { secondsAbove, TAR_END, tarHeader, tarPadding, timeRecord } from '../objects/tar-writer.ts';
import { toLitterboxError } from '../git/to-litterbox-error.ts';
import { isGitlink, isSymlink, isTree } from '../objects/tree-object.ts';
import type { UserRepository } from '../person/user-repository.ts';

const OPERATION = 'tree.read';
const CHUNK_BYTES = 128 * 1024;
/** How many contents git is asked for ahead of the one being written. */
const AHEAD = 512;
const MAX_LINK_BYTES = 64 * 1024;
const NEWLINE = 10;

export interface LargeContent {
  readonly sizeBytes: number;
  open(): AsyncIterable<Uint8Array>;
}
const NO_FILES: ReadonlyMap<ByteString, LargeContent> = new Map();

/**
 * A tree as a tar stream. Not `git archive`, which leaves out and rewrites files as the attributes in the tree say.
 * Nothing is held in memory but one chunk, however large a file is.
 */
export async function* archiveTree(
  user: UserRepository,
  store: Store,
  tree: ObjectId,
  { signal, paths, unlike, times, timeSeconds, submodules = [], largeFiles = [] }: TreeOptions = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    const unlikePaths = unlike === undefined ? undefined : await pathsUnlike(store, tree, unlike, signal);
    const timed = times && new Map([...times].map(([path, time]) => [toByteString(path), time]));
    const differing = unlikePaths && withDirectories(unlikePaths);
    const named = paths && new Set([...paths].map(toByteString));
    const only = timed
      ? withDirectories(new Set(timed.keys()))
      : differing && named
        ? new Set([...differing, ...withDirectories(named)])
        : (differing ?? named);
    const large = largeFiles.some(({ isHere }) => isHere)
      ? await contentsOf(user, store, largeFiles, signal)
      : NO_FILES;
    let parts: Uint8Array[] = [];
    let size = 0;
    const wanted = submodules.length === 0 ? [] : await located(user, store, tree, submodules, signal);
    const near = timed ? new Set(timed.keys()) : named ? undefined : unlikePaths;
    for await (const part of allParts(store, tree, wanted, { only, near, large, timeSeconds, timed, signal })) {
      parts.push(part);
      size += part.length;
      if (size < CHUNK_BYTES) continue;
      yield Buffer.concat(parts);
      parts = [];
      size = 0;
    }
    yield Buffer.concat([...parts, TAR_END]);
  } catch (error) {
    throw toLitterboxError(OPERATION, error, { signal, gitCode: 'OBJECT_MISSING' });
  }
}

/** The ids of files and links by their paths, without those of submodules. */
export async function listContentIds(
  store: Store,
  tree: ObjectId,
  isWanted: (path: string) => boolean,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, ObjectId>> {
  const found = new Map<string, ObjectId>();
  if (tree === store.format.emptyTree) return found;
  for await (const entry of listTree(store, tree, signal)) {
    if (isTree(entry) || isGitlink(entry)) continue;
    const path = fromByteString(entry.path);
    if (isWanted(path)) found.set(path, entry.oid);
  }
  return found;
}

/** Those that were here when they were asked for and are now. */
async function located(
  user: UserRepository,
  store: Store,
  tree: ObjectId,
  wanted: readonly SubmoduleState[],
  signal: AbortSignal | undefined,
): Promise<readonly LocatedSubmodule[]> {
  const all = new Set(wanted.filter(({ missing }) => missing === undefined).map(({ path }) => toByteString(path)));
  const found = (await findSubmodules(user, store, tree, signal)).filter(({ path }) => all.has(path));
  const gone = found.find(({ objects }) => objects === undefined);
  if (gone) throw objectMissing(gone.commit);
  return found;
}

/** What of a tree goes into the stream, and how. */
export interface Selection {
  readonly only: ReadonlySet<ByteString> | undefined;
  /** As `listTree` has it: those of `only` that are no directories above others. */
  readonly near?: ReadonlySet<ByteString> | undefined;
  readonly large: ReadonlyMap<ByteString, LargeContent>;
  readonly timeSeconds: number | undefined;
  /** In nanoseconds since 1970, of files that have a time of their own. */
  readonly timed?: ReadonlyMap<ByteString, bigint> | undefined;
  readonly signal: AbortSignal | undefined;
}

async function* allParts(
  store: Store,
  tree: ObjectId,
  submodules: readonly LocatedSubmodule[],
  selection: Selection,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* tarParts(store, tree, '', selection);
  const whole = { ...selection, only: undefined, near: undefined, large: NO_FILES };
  for (const { path, commit, objects } of submodules)
    if (objects !== undefined) yield* tarParts(withObjects(store, objects), commit, `${path}/`, whole);
}

/** The entries of a tree without the end of an archive. */
export async function* tarParts(
  store: TreeStore,
  tree: ObjectId,
  above: ByteString,
  { only, near, large, timeSeconds, timed, signal }: Selection,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (tree === store.format.emptyTree) return;
  await using contents = await store.start(['cat-file', '--batch'], { signal });
  const source = new ByteSource(contents.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>, () =>
    signal?.aborted ? (signal.reason as Error) : objectMissing(tree),
  );
  const asked: Listed[] = [];
  const links = new ArchivedLinks();
  const listing = listTree(store, tree, signal, near)[Symbol.asyncIterator]();
  let isListed = false;
  try {
    for (;;) {
      while (!isListed && asked.length < AHEAD) {
        const { done, value } = await listing.next();
        if (done) isListed = true;
        else if (!only || only.has(value.path)) {
          asked.push(value);
          if (!isTree(value) && !isGitlink(value)) contents.stdin.write(`${value.oid}\n`);
        }
      }
      await drained(contents.stdin);
      const batch = asked.splice(0, isListed ? asked.length : AHEAD / 2);
      if (batch.length === 0) return;
      for (const entry of batch) {
        links.check(entry);
        const time = timed?.get(entry.path);
        if (time !== undefined) yield timeRecord(time);
        yield* entryParts(
          entry,
          above,
          source,
          time === undefined ? timeSeconds : secondsAbove(time),
          large.get(entry.path),
        );
      }
    }
  } finally {
    await listing.return?.(undefined);
  }
}

/** Keeps a tree that somebody made by hand from leading outside of where it is unpacked, whatever the unpacking `tar` would do. */
class ArchivedLinks {
  readonly #links = new Set<ByteString>();

  /** @throws LitterboxError `REPO_CORRUPT` for a name that no work tree can have, and for what lies below a link of the same tree. */
  check(entry: Listed): void {
    const { path } = entry;
    const isBelowLink = this.#links.size > 0 && (this.#links.has(path) || this.#hasLinkAbove(path));
    const isBad = path.split('/').some((part) => part === '' || part === '.' || part === '..' || isGitLike(part));
    if (isBad || isBelowLink) {
      throw new LitterboxError(
        'REPO_CORRUPT',
        `The tree holds a name that no work tree can have: ${shownName(path)}.`,
        {
          operation: OPERATION,
          hint: 'Choose another base; git fsck names the tree.',
        },
      );
    }
    if (isSymlink(entry)) this.#links.add(path);
  }

  #hasLinkAbove(path: ByteString): boolean {
    for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1))
      if (this.#links.has(path.slice(0, cut))) return true;
    return false;
  }
}

const shownName = (path: ByteString) => shown(fromByteString(path).slice(0, 200));

async function* entryParts(
  entry: Listed,
  above: ByteString,
  source: ByteSource,
  timeSeconds: number | undefined,
  large: LargeContent | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const time = timeSeconds === undefined ? {} : { timeSeconds };
  const name = `${above}${entry.path}`;
  if (isTree(entry) || isGitlink(entry)) {
    yield tarHeader({ type: 'directory', name, mode: 0o755, ...time });
    return;
  }
  const [, type, sizeText] = (await source.until(NEWLINE, 256)).toString('latin1').split(' ');
  if (type !== 'blob' || sizeText === undefined) throw objectMissing(entry.oid);
  const sizeBytes = Number(sizeText);
  if (isSymlink(entry)) {
    if (sizeBytes > MAX_LINK_BYTES) {
      throw new LitterboxError('REPO_CORRUPT', 'The tree holds a symbolic link that no file system can have.', {
        operation: OPERATION,
        hint: 'Choose another base.',
      });
    }
    const linkTarget = (await source.take(sizeBytes)).toString('latin1');
    yield tarHeader({ type: 'symlink', name, mode: 0o777, linkTarget, ...time });
  } else {
    const isExecutable = (Number.parseInt(entry.mode, 8) & 0o100) !== 0;
    const wantedBytes = large?.sizeBytes ?? sizeBytes;
    yield tarHeader({ type: 'file', name, mode: isExecutable ? 0o755 : 0o644, sizeBytes: wantedBytes, ...time });
    if (large) {
      await source.take(sizeBytes);
      yield* large.open();
    } else for await (const chunk of source.body(sizeBytes)) yield chunk;
    yield tarPadding(wantedBytes);
  }
  await source.take(1); // the newline after the content
}

/** The content of a file of Git LFS, exactly as long as its pointer says: the header of the entry is out already. */
async function* largeParts(content: string, sizeBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
  let missing = sizeBytes;
  await using file = await open(content, constants.O_RDONLY | constants.O_NOFOLLOW);
  while (missing > 0) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(missing, CHUNK_BYTES)));
    if (bytesRead === 0) break;
    missing -= bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
  if (missing > 0)
    throw new LitterboxError('OBJECT_MISSING', `The content of Git LFS ${shown(content)} is cut short.`, {
      operation: OPERATION,
      hint: 'Remove that file and get it again: git lfs pull.',
    });
}

/** Where the contents are of those that were here when they were asked for. */
async function contentsOf(
  user: UserRepository,
  store: Store,
  largeFiles: readonly LargeFileState[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<ByteString, LargeContent>> {
  const storage = await LargeFileStorage.open(user, signal);
  const here = largeFiles.filter(({ isHere }) => isHere);
  return new Map(
    here.map(({ path, recorded, ...pointer }) => {
      const open = () =>
        recorded === undefined
          ? largeParts(storage.pathOf(pointer), pointer.sizeBytes)
          : store.stream(['cat-file', 'blob', recorded], { signal });
      return [toByteString(path), { sizeBytes: pointer.sizeBytes, open }];
    }),
  );
}

/** The paths at which a tree differs from another. Undefined, for all, when the other one is gone. */
export async function pathsUnlike(
  store: Store,
  tree: ObjectId,
  other: ObjectId,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<ByteString> | undefined> {
  const found = new Set<ByteString>();
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--ignore-submodules=none', '--end-of-options'];
  try {
    for await (const paths of nulFields(store.stream([...args, other, tree], { signal })))
      for (const path of paths) found.add(path);
  } catch {
    signal?.throwIfAborted();
    return undefined; // what else may be wrong shows when the tree itself is read
  }
  return found;
}

/** Paths with those of the directories above them. */
export function withDirectories(paths: ReadonlySet<ByteString>): ReadonlySet<ByteString> {
  const found = new Set(paths);
  for (const path of paths)
    for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1)) found.add(path.slice(0, cut));
  return found;
}

export function objectMissing(oid: ObjectId): LitterboxError {
  return new LitterboxError('OBJECT_MISSING', `The repository lacks the object ${oid}.`, {
    operation: OPERATION,
    hint: 'Fetch what a shallow or partial clone left out: git fetch --unshallow, or git fetch --refetch.',
    facts: { object: oid },
  });
}
