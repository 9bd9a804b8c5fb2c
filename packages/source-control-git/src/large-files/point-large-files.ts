import { createHash } from 'node:crypto';
import { type ObjectId } from '@litterbox/core/provider';
import { ByteSource } from '../git/byte-source.ts';
import type { ByteString } from '../git/byte-text.ts';
import { addEdit, editedDirectory, editTree } from '../objects/edit-tree.ts';
import { mayHaveLargeFiles, throughLargeFiles } from './large-file-attributes.ts';
import {
  largeFileBytes,
  type LargeFilePointer,
  MAX_POINTER_BYTES,
  serializeLargeFilePointer,
} from './large-file-pointer.ts';
import { LargeFileStorage } from './large-file-storage.ts';
import { nulFields } from '../git/nul-fields.ts';
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
}

const NEWLINE = 10;

/**
 * What a sandbox wrote under a pattern of Git LFS is in its history as it is. The person's gets a pointer in its place, as git-lfs
 * would make it, and the content goes where git-lfs looks for it: otherwise the file would show as changed in every checkout.
 */
export class LargeFilePointers {
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

  /** A tree of the sandbox with pointers in it; the tree itself where there is nothing to point to. */
  in(tree: ObjectId): Promise<ObjectId> {
    const known = this.#trees.get(tree) ?? this.#point(tree);
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

  async #point(tree: ObjectId): Promise<ObjectId> {
    const store = this.#store;
    if (tree === this.#base || !(await mayHaveLargeFiles(this.#user, store, tree))) return tree;
    const written = await this.#written(tree);
    const paths = written.map(({ path }) => path);
    const through = await throughLargeFiles(store, tree, paths, this.#signal);
    const large = written.filter(({ path }) => through.has(path));
    if (large.length === 0) return tree;
    await this.#read(large);
    const edits = editedDirectory();
    using sink = store.sink();
    for (const { path, mode, oid } of large) {
      const content = this.contents.get(oid);
      if (content === undefined) continue;
      addEdit(edits, path, { type: 'entry', mode, oid: sink.put('blob', serializeLargeFilePointer(content)) });
    }
    const pointed = (await editTree(store.reader, sink, tree, edits)) ?? tree;
    await sink.finish();
    return pointed;
  }

  async #written(tree: ObjectId): Promise<readonly Written[]> {
    const found: Written[] = [];
    const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', this.#base, tree];
    let step: Omit<Written, 'path'> | undefined;
    for await (const fields of nulFields(this.#store.stream(args, { signal: this.#signal })))
      for (const field of fields) {
        // A line of modes and ids, then a path.
        if (step === undefined) {
          const [, mode = '', , oid = ''] = field.split(' ');
          step = { mode: mode as TreeMode, oid: oid as ObjectId };
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
