/** A line as a person may see it, with its sign before it; of one that is too long both ends, and how many characters are not there. */
export type PatchLine = string | readonly [head: string, more: number, tail: string];

/** Lines that changed, with those around them. */
export interface PatchHunk {
  readonly oldStart: number;
  readonly newStart: number;
  /** The number of its first change among those of the file; the others follow. */
  readonly firstChange: number;
  /** Git's words behind the numbers: the function that the lines are in. */
  readonly title: string;
  readonly lines: PatchLine[];
}

/** One file of a patch. Everything in it is hostile; what is not a path is harmless to look at. */
export interface PatchFile {
  /** As the operations take it. */
  readonly path: string;
  /** As a person may see it. */
  readonly name: string;
  /** Where it was before, of one that was renamed. */
  readonly from?: string;
  readonly fromName?: string;
  readonly change: 'added' | 'deleted' | 'modified' | 'renamed';
  readonly isBinary: boolean;
  /** Kinds of git before and after, where they differ, or are both that of no file: `100644`. */
  readonly modes?: readonly [before: string, after: string];
  readonly hunks: readonly PatchHunk[];
  /** Tells these changes from any others, for who takes some of them. Absent of a file that is whole or nothing, or not wholly here. */
  readonly digest?: string;
  /** Whether all of its lines end as on Windows. Where some do, each that does shows it. */
  readonly isCrLf?: boolean;
  /** Lines beyond the bound, which are not here. */
  readonly leftOut: number;
}
