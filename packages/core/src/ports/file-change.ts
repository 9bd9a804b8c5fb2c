/** One file that differs between two trees. */
export interface FileChange {
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted' | 'type-changed';
  readonly executable: boolean;
  readonly binary: boolean;
  /** Absent for binary files, and in a plan for those that conflict. */
  readonly addedLines?: number;
  readonly removedLines?: number;
}
