import { type ObjectId } from '@litterbox/core/provider';
import type { ByteString } from '../git/byte-text.ts';
import type { ObjectReader } from './object-reader.ts';
import { isGitlink, isTree, type TreeEntry } from './tree-object.ts';

/**
 * Looks paths up in one tree, reading each directory once. For the length of one call: it keeps what it read.
 */
export class TreeLookup {
  readonly #reader: ObjectReader;
  readonly #root: ObjectId | undefined;
  readonly #directories = new Map<ByteString, Promise<ReadonlyMap<ByteString, TreeEntry> | undefined>>();

  constructor(reader: ObjectReader, root: ObjectId | undefined) {
    this.#reader = reader;
    this.#root = root;
  }

  async entry(path: ByteString): Promise<TreeEntry | undefined> {
    const slash = path.lastIndexOf('/');
    const directory = await this.directory(slash < 0 ? '' : path.slice(0, slash));
    return directory?.get(path.slice(slash + 1));
  }

  /** `undefined` when the tree has no such directory. */
  directory(path: ByteString): Promise<ReadonlyMap<ByteString, TreeEntry> | undefined> {
    let known = this.#directories.get(path);
    if (!known) {
      known = this.#read(path);
      this.#directories.set(path, known);
    }
    return known;
  }

  /** The first directory on the way to `path` that is a submodule's. */
  async gitlinkAbove(path: ByteString): Promise<ByteString | undefined> {
    for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
      const above = path.slice(0, slash);
      const entry = await this.entry(above);
      if (!entry) return undefined;
      if (isGitlink(entry)) return above;
    }
    return undefined;
  }

  async #read(path: ByteString): Promise<ReadonlyMap<ByteString, TreeEntry> | undefined> {
    const oid = path === '' ? this.#root : await this.#treeAt(path);
    return oid === undefined ? undefined : this.#reader.tree(oid);
  }

  async #treeAt(path: ByteString): Promise<ObjectId | undefined> {
    const entry = await this.entry(path);
    return entry && isTree(entry) ? entry.oid : undefined;
  }
}
