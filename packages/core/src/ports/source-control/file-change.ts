/** One file that differs between two trees. */
export interface FileChange {
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted' | 'type-changed';
  readonly executable: boolean;
  /** Only of a file that was there before and became executable, or stopped being so. */
  readonly wasExecutable?: boolean;
  /** It has no lines to tell: a NUL is near its start, or it is larger than eight mebibytes. */
  readonly binary: boolean;
  /** In a plan, of what a pointer of Git LFS stands for: a file has no counts of lines then. */
  readonly largeFileBytes?: number;
  /** Absent for binary files, in a plan for those that conflict, and where git would take longer than half a minute to count. */
  readonly addedLines?: number;
  readonly removedLines?: number;
}
