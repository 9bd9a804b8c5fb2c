/** A kind of directory that its file system copies whole, whatever is in it. Ordinary directories are of no such kind. */
export interface TreeKind {
  /** Ends the names of base trees of this kind, and begins with a dot: an ordinary tree of the same content may lie beside one. */
  readonly suffix: string;
  /** Shell text: makes the directory whose path follows it. */
  readonly make: string;
  /** Shell text, with a complete tree as the current directory: nobody writes to that tree from then on. */
  readonly freeze: string;
}

/** Name of the base tree with that content, in the directory of base trees. */
export function baseTreeName(key: string, kind: TreeKind | undefined): string {
  return `${key}${kind?.suffix ?? ''}`;
}
