/** The answers of the server, as far as the page reads them. All text in them is harmless to look at; paths are shown by their `name`. */
export interface Works {
  readonly repository: string;
  readonly sandboxes: readonly Summary[];
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

/** A path as the server takes it, and as a person may see it. */
export interface NamedPath {
  readonly path: string;
  readonly name: string;
}

/** Text to the last character; `shown` is there where it hides something. */
export interface ExactText {
  readonly exact: string;
  readonly shown?: string;
}

export type ConflictPart = { readonly text: ExactText } | ConflictRegion;

/** Lines that both sides changed. */
export interface ConflictRegion {
  readonly ours: ExactText;
  readonly theirs: ExactText;
}

/** A file in conflict. A side is absent where it has no such file, the parts where it is no text to edit. */
export interface ConflictFile extends NamedPath {
  readonly tip: string;
  readonly digest: string;
  readonly ours?: { readonly mode: string; readonly size: number };
  readonly theirs?: { readonly mode: string; readonly size: number };
  readonly parts?: readonly ConflictPart[];
}

/** A file in conflict as the person settled it, of the sides that the digest names. */
export type SettledFile = { readonly path: string; readonly digest: string } & (
  | { readonly take: 'ours' | 'theirs' }
  | { readonly text: string }
);

export interface Plan {
  readonly integration: 'apply' | 'merge';
  readonly tip: string;
  readonly head: string;
  readonly branch?: string;
  readonly upToDate: boolean;
  readonly files: number;
  readonly conflicts: readonly NamedPath[];
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
  readonly isCrLf?: boolean;
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

/** Words of the person on lines, and who was told of them. */
export interface Notes {
  /** The agent that is at work in the sandbox. */
  readonly agent?: string;
  readonly notes: readonly Note[];
}

export interface Note {
  readonly note: number;
  readonly name: string;
  readonly line: number;
  readonly revision: number;
  readonly text?: string;
  readonly words: string;
  readonly given?: { readonly to: string; readonly atMs: number; readonly isTask: boolean };
}

export interface Calls {
  readonly entries: readonly LogLine[];
  readonly isMore: boolean;
}

export interface LogLine {
  readonly atMs: number;
  readonly call?: number;
  readonly exitCode?: number;
  readonly actor?: string;
  readonly subject: string;
  readonly revision?: number;
  readonly commit?: string;
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
