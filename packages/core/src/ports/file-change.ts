/** One file that differs between two trees. */
export interface FileChange {
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted' | 'type-changed';
  readonly executable: boolean;
  /** Only of a file that was there before and became executable, or stopped being so. */
  readonly wasExecutable?: boolean;
  readonly binary: boolean;
  /** Absent for binary files, and in a plan for those that conflict. */
  readonly addedLines?: number;
  readonly removedLines?: number;
}
