import type { FileChange } from './file-change.ts';

/** Some of the changes of one file, for an apply that leaves the rest in the sandbox. */
export interface FilePart {
  /** From the top of the repository. */
  readonly path: string;
  /** The digest of all changes of the file as somebody saw them, from {@link OfferedFile} or `SeenChanges`. */
  readonly digest: string;
  /** The changes that are taken, counted from 0, in any order. */
  readonly changes: readonly number[];
}

/** One file of an apply as a person can take it: whole, or change by change. Names and lines are hostile. */
export interface OfferedFile {
  readonly path: string;
  readonly change: FileChange;
  /** Absent when the file can be taken whole alone: it is new, gone, binary, of another kind or mode, of Git LFS, too large to show, or in conflict. */
  readonly digest?: string;
  /** Empty when its lines cannot be shown. */
  readonly hunks: readonly OfferedHunk[];
}

/** Lines that change together, with those around them. */
export interface OfferedHunk {
  /** `@@ -1,3 +1,4 @@ function`. */
  readonly heading: Uint8Array;
  /** With their signs, without newlines. */
  readonly lines: readonly Uint8Array[];
  /** The number of its first change. Those behind it follow by one each. */
  readonly firstChange: number;
}
