/** The answers of the server, as far as the page reads them. All text in them is harmless to look at; paths are shown by their `name`. */
export interface Works {
  readonly repository: string;
  readonly sandboxes: readonly Summary[];
  readonly forecast: Forecast | { readonly refused: string };
}

export interface Summary {
  readonly name: string;
  readonly state: string;
  readonly provider: string;
  readonly createdAtMs: number;
  readonly agent?: string;
  readonly forkedFrom?: string;
  readonly labels: readonly string[];
  readonly work?: {
    readonly revisions: number;
    readonly files: number;
    readonly addedLines: number;
    readonly removedLines: number;
  };
  readonly lastCall?: { readonly atMs: number; readonly actor: string; readonly isRunning: boolean };
}

export interface Conflict {
  readonly sandbox: string;
  /** Absent where it is the branch. */
  readonly other?: string;
  readonly files: number;
  readonly paths: readonly string[];
}

export interface Forecast {
  readonly compared: number;
  readonly leftOut: number;
  readonly untried: number;
  readonly conflicts: readonly Conflict[];
}

export interface RiskGroup {
  readonly reason: string;
  readonly files: number;
  readonly entries: readonly {
    readonly path: string;
    readonly name: string;
    readonly files: number;
    readonly also: readonly string[];
  }[];
}

export interface TestRun {
  readonly call: number;
  readonly command: string;
  readonly actor: string;
  readonly atMs: number;
  readonly outcome: string;
  readonly exitCode?: number;
  readonly isOwnExit: boolean;
  readonly changesSince: number;
}

export interface Plan {
  readonly integration: 'apply' | 'merge';
  readonly tip: string;
  readonly head: string;
  readonly branch?: string;
  readonly upToDate: boolean;
  readonly files: number;
  readonly conflicts: readonly string[];
  readonly dirty: readonly string[];
  readonly already: readonly string[];
  readonly passing: readonly string[];
  readonly unmilestoned: number;
  readonly halfRenames: readonly { readonly from: string; readonly to: string; readonly taken: 'from' | 'to' }[];
  readonly messages: readonly string[];
  readonly moreMessages: number;
  readonly unmergedBase?: number;
  readonly hooks: readonly string[];
  readonly filters: readonly string[];
  readonly unsettled?: string;
  readonly risks: { readonly files: number; readonly unlisted: number; readonly groups: readonly RiskGroup[] };
  readonly proof: { readonly tests: readonly TestRun[]; readonly looked: number; readonly isMore: boolean };
}

/** Some changes of a file, by their numbers, with the digest of all of them. */
export interface FilePart {
  readonly path: string;
  readonly digest: string;
  readonly changes: readonly number[];
}

export type PatchLine = string | readonly [head: string, more: number, tail: string];

export interface PatchHunk {
  readonly oldStart: number;
  readonly newStart: number;
  readonly firstChange: number;
  readonly title: string;
  readonly lines: readonly PatchLine[];
}

export interface PatchFile {
  readonly path: string;
  readonly name: string;
  readonly from?: string;
  readonly fromName?: string;
  readonly change: 'added' | 'deleted' | 'modified' | 'renamed';
  readonly isBinary: boolean;
  readonly modes?: readonly [before: string, after: string];
  readonly hunks: readonly PatchHunk[];
  readonly digest?: string;
  readonly leftOut: number;
}

/** A binary file before and after; a side is absent where there is no file. */
export interface Sides {
  readonly before?: FileSide;
  readonly after?: FileSide;
}

/** A file with all of its lines, of the state that was looked at. */
export interface WholeFile {
  readonly tip: string;
  readonly file?: PatchFile;
}

export interface FileSide {
  readonly bytes?: number;
  readonly refused?: string;
  readonly type?: string;
  readonly width?: number;
  readonly height?: number;
  /** Base64. */
  readonly picture?: string;
}

/** The first line of a diff. */
export interface DiffStart {
  readonly tip: string;
  readonly files: number;
  readonly unsettled?: string;
  readonly since?: { readonly tip: string; readonly paths: readonly string[] };
}

export interface LogLine {
  readonly atMs: number;
  readonly call?: number;
  readonly exitCode?: number;
  readonly actor?: string;
  readonly subject: string;
  readonly revision?: number;
  readonly isMilestone?: boolean;
  readonly outcome?: string;
}

export interface Output {
  readonly goneBytes?: number;
  readonly head?: string;
  readonly droppedBytes?: number;
  readonly tail?: string;
}

export interface PastCall {
  readonly call: number;
  readonly atMs: number;
  readonly subject: string;
  readonly actor: string;
  readonly outcome: string;
  readonly exitCode?: number;
  readonly durationMs?: number;
  readonly revision?: string;
  readonly isKept: boolean;
  readonly stdout?: Output;
  readonly stderr?: Output;
}

export interface Blame {
  readonly tip: string;
  readonly runs: readonly BlameRun[];
}

export interface BlameRun {
  readonly firstLine: number;
  readonly lines: number;
  readonly revision: number;
  readonly call?: number;
  readonly exitCode?: number;
  readonly actor?: string;
  readonly subject: string;
}

export interface Decided {
  readonly outcome: 'committed' | 'staged' | 'conflicts' | 'up-to-date';
  readonly commit?: string;
  readonly isDeleted: boolean;
  readonly conflicts: readonly string[];
}
