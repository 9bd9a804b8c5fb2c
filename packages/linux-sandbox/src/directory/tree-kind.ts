/** A kind of directory that its file system copies whole, whatever is in it. Ordinary directories are of no such kind. */
export interface TreeKind {
  /** Ends the names of base trees of this kind, and begins with a dot: an ordinary tree of the same content may lie beside one. */
  readonly suffix: string;
  /** Shell text: makes the directory whose path follows it. */
  readonly make: string;
  /**
   * Shell text that ends a script, with the new directory as the current one: runs a command where the files of the tree go. Absent: that is
   * the directory itself.
   *
   * @param command shell text that ends a script
   * @param owner `uid:gid` of whom the tree belongs to; empty: of who runs this
   */
  enter?(command: string, owner: string): string;
  /** Where the files of a tree are that is not frozen yet. Absent: in the directory itself. */
  readonly files?: {
    /** Name of the directory in the tree that holds them. */
    readonly name: string;
    /**
     * Shell text, a command with a status, in a mount namespace of its own: makes them appear there. No link in the tree is followed then.
     *
     * @param tree absolute path of the directory
     */
    mount(tree: string): string;
  };
  /** Shell text, with a complete tree as the current directory: nobody writes to that tree from then on. */
  readonly freeze: string;
  /**
   * Shell text, in the function `remove_tree`, before anything of `$1` is removed: takes away what `rm` does not. `$1` may be a tree of this
   * kind, a directory of ours that holds some, or anything else, an agent's directory too. `return 1`, after a line on stderr, keeps it all.
   */
  readonly release: string;
  /** Paths below `$1` of which one is there where {@link release} has something to do. */
  readonly marks: readonly string[];
  /** Shell text there, once `rm` has failed: makes `$1`, which is of ours, removable. */
  readonly unlock?: string;
}

/** Name of the base tree with that content, in the directory of base trees. */
export function baseTreeName(key: string, kind: TreeKind | undefined): string {
  return `${key}${kind?.suffix ?? ''}`;
}
