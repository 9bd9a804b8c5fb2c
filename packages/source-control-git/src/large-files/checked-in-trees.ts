import { createHash } from 'node:crypto';
import { type ObjectId } from '@litterbox/core/provider';
import { ByteSource } from '../git/byte-source.ts';
import type { ByteString } from '../git/byte-text.ts';
import { addEdit, editedDirectory, editTree } from '../objects/edit-tree.ts';
import { checkedInLineEnds, hasWindowsLineEnds, LINE_ENDS, type LineEnds, lineEndsOf } from './checked-in-line-ends.ts';
import { attributesIn, mayChangeAtCheckIn } from './large-file-attributes.ts';
import {
  largeFileBytes,
  type LargeFilePointer,
  MAX_POINTER_BYTES,
  serializeLargeFilePointer,
} from './large-file-pointer.ts';
import { LargeFileStorage } from './large-file-storage.ts';
import { nulFields } from '../git/nul-fields.ts';
import { readBlobSizes } from '../store/read-blob-sizes.ts';
import { readBlobs } from '../store/read-blobs.ts';
import type { Store } from '../store/store.ts';
import type { TreeMode } from '../objects/tree-object.ts';
import type { UserRepository } from '../person/user-repository.ts';

/** A content that stands in a sandbox's history as it is, and a pointer has to stand for in the person's. */
export interface LargeFileContent extends LargeFilePointer {
  readonly blob: ObjectId;
}

/** A regular file that a tree has and the base has not, or otherwise. */
interface Written {
  readonly path: ByteString;
  readonly mode: TreeMode;
  readonly oid: ObjectId;
  /** The blob of the base at the path. */
  readonly old: ObjectId;
}

const NEWLINE = 10;
/** Larger files keep their line ends: each is held in memory once. */
const MAX_TEXT_BYTES = 64 * 2 ** 20;
const ATTRIBUTES = ['filter', 'text', 'eol', 'crlf'];

/**
 * The history of a sandbox has what it wrote as it is. The person's gets what a check-in of git makes of it: under a pattern of Git LFS a
 * pointer, while the content goes where git-lfs looks for it, and in files whose attributes say that they are text the line ends of
 * text. Otherwise the file would show as changed in every checkout. No filter runs.
 */
export class CheckedInTrees {
  /** Those that the trees so far have pointers to. */
  readonly contents = new Map<ObjectId, LargeFileContent>();
  readonly #store: Store;
  readonly #user: UserRepository;
  readonly #base: ObjectId;
  readonly #signal: AbortSignal | undefined;
  readonly #trees = new Map<ObjectId, Promise<ObjectId>>();

  /** @param base the tree that the sandbox began with: what is as it was there stays as it is */
  constructor(store: Store, user: UserRepository, base: ObjectId, signal: AbortSignal | undefined) {
    this.#store = store;
    this.#user = user;
    this.#base = base;
    this.#signal = signal;
  }

  /** A tree of the sandbox as it is checked in; the tree itself where that is the same. */
  of(tree: ObjectId): Promise<ObjectId> {
    const known = this.#trees.get(tree) ?? this.#checkIn(tree);
    this.#trees.set(tree, known);
    return known;
  }

  /** Puts the contents where git-lfs of the person finds them. */
  static async place(
    store: Store,
    user: UserRepository,
    contents: readonly LargeFileContent[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (contents.length === 0) return;
    const storage = await LargeFileStorage.open(user, signal);
    for (const content of contents) {
      if (await storage.has(content)) continue;
      await storage.put(content, store.stream(['cat-file', 'blob', content.blob], { signal }));
    }
  }

  async #checkIn(tree: ObjectId): Promise<ObjectId> {
    const store = this.#store;
    if (tree === this.#base || !(await mayChangeAtCheckIn(this.#user, store, tree))) return tree;
    const written = await this.#written(tree);
    const paths = written.map(({ path }) => path);
    const attributes = await attributesIn(store, tree, ATTRIBUTES, paths, this.#signal);
    const valueOf = (path: ByteString) => (attribute: string) => attributes.get(path)?.get(attribute) ?? 'unspecified';
    const large = written.filter(({ path }) => valueOf(path)('filter') === 'lfs');
    const isLarge = new Set(large);
    const texts = written.flatMap((file) => {
      const ends = isLarge.has(file) ? undefined : lineEndsOf(valueOf(file.path));
      return ends === undefined ? [] : [{ ...file, ends }];
    });
    if (large.length > 0) await this.#read(large);
    const edits = editedDirectory();
    using sink = store.sink();
    for (const { path, mode, oid } of large) {
      const content = this.contents.get(oid);
      if (content === undefined) continue;
      addEdit(edits, path, { type: 'entry', mode, oid: sink.put('blob', serializeLargeFilePointer(content)) });
    }
    const ended = await this.#withLineEnds(texts, (bytes) => sink.put('blob', bytes));
    for (const { path, mode, oid } of ended) addEdit(edits, path, { type: 'entry', mode, oid });
    if (edits.children.size === 0) return tree;
    const checkedIn = (await editTree(store.reader, sink, tree, edits)) ?? tree;
    await sink.finish();
    return checkedIn;
  }

  /** Those whose line ends change. A file that had those of Windows in the base keeps them, as with `git add`. */
  async #withLineEnds(
    texts: readonly (Written & { readonly ends: LineEnds })[],
    put: (bytes: Buffer) => ObjectId,
  ): Promise<readonly Written[]> {
    const changed = texts.filter(({ oid, old }) => oid !== old);
    const windows = await this.#withWindowsLineEnds(changed.map(({ oid }) => oid));
    const found = changed.filter(({ oid }) => windows.has(oid));
    const before = await this.#withWindowsLineEnds(found.map(({ old }) => old));
    const kept = found.filter(({ old }) => !before.has(old));
    // One content may be text at one path, and what looks like text at another.
    const keyOf = ({ oid, ends }: { readonly oid: ObjectId; readonly ends: LineEnds }) => `${ends} ${oid}`;
    const wanted = new Set(kept.map(keyOf));
    const ended = new Map<string, ObjectId>();
    for await (const { oid, bytes } of readBlobs(this.#store, [...new Set(kept.map((file) => file.oid))], this.#signal))
      for (const ends of LINE_ENDS) {
        const key = keyOf({ oid, ends });
        const next = wanted.has(key) ? checkedInLineEnds(bytes, ends) : undefined;
        if (next) ended.set(key, put(next));
      }
    return kept.flatMap((file) => {
      const oid = ended.get(keyOf(file));
      return oid === undefined ? [] : [{ ...file, oid }];
    });
  }

  async #withWindowsLineEnds(blobs: readonly ObjectId[]): Promise<ReadonlySet<ObjectId>> {
    const read: ObjectId[] = [];
    const found = new Set<ObjectId>();
    for await (const [oid, size] of readBlobSizes(this.#store, [...new Set(blobs)], this.#signal))
      if (size <= MAX_TEXT_BYTES) read.push(oid);
    for await (const { oid, bytes } of readBlobs(this.#store, read, this.#signal))
      if (hasWindowsLineEnds(bytes)) found.add(oid);
    return found;
  }

  async #written(tree: ObjectId): Promise<readonly Written[]> {
    const found: Written[] = [];
    const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', this.#base, tree];
    let step: Omit<Written, 'path'> | undefined;
    for await (const fields of nulFields(this.#store.stream(args, { signal: this.#signal })))
      for (const field of fields) {
        // A line of modes and ids, then a path.
        if (step === undefined) {
          const [, mode = '', old = '', oid = ''] = field.split(' ');
          step = { mode: mode as TreeMode, oid: oid as ObjectId, old: old as ObjectId };
        } else {
          if (step.mode.startsWith('100')) found.push({ ...step, path: field });
          step = undefined;
        }
      }
    return found;
  }

  /** Remembers the contents that are none of pointers, and not empty: git-lfs leaves both as they are. */
  async #read(written: readonly Written[]): Promise<void> {
    const oids = new Set(written.map(({ oid }) => oid).filter((oid) => !this.contents.has(oid)));
    await using contents = await this.#store.start(['cat-file', '--batch'], { signal: this.#signal });
    const source = new ByteSource(
      contents.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>,
      () => new Error('git ended while contents were read.'),
    );
    for (const blob of oids) {
      contents.stdin.write(`${blob}\n`);
      const sizeBytes = Number((await source.until(NEWLINE, 256)).toString('latin1').split(' ')[2]);
      const hash = createHash('sha256');
      let start: Buffer = Buffer.alloc(0);
      for await (const chunk of source.body(sizeBytes)) {
        hash.update(chunk);
        if (sizeBytes < MAX_POINTER_BYTES) start = Buffer.concat([start, chunk]);
      }
      await source.take(1); // the newline after the content
      const isLeft = sizeBytes === 0 || (sizeBytes < MAX_POINTER_BYTES && largeFileBytes(start) !== undefined);
      if (!isLeft) this.contents.set(blob, { blob, sha256: hash.digest('hex'), sizeBytes });
    }
  }
}
