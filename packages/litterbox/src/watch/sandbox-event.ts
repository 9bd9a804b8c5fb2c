/** Facts of an event that changed nothing but a state. */
export type NoFacts = Readonly<Record<string, never>>;

/** Types of events, each with its facts. */
export interface SandboxEventFacts {
  /** Made, by a create or as a fork. */
  readonly 'sandbox-created': {
    readonly slug: string;
    readonly provider: string;
    readonly forkedFrom?: string;
  };
  /** A call changed files, and they are a revision. Its subject is an agent's: hostile text. */
  readonly 'revision-recorded': {
    readonly number: number;
    readonly commit: string;
    readonly subject: string;
    readonly files: number;
  };
  /** Offered for review, as one commit on a branch. */
  readonly 'milestone-cut': { readonly commit: string; readonly branch: string };
  /** A snapshot was taken. */
  readonly 'snapshot-taken': { readonly label: string; readonly revision: number };
  /** Workspace and home are those of a snapshot again. */
  readonly 'snapshot-restored': { readonly label: string; readonly revision: number };
  /** Frozen where it was. */
  readonly 'sandbox-paused': NoFacts;
  /** Ended all that ran in it. */
  readonly 'sandbox-stopped': NoFacts;
  /** Runs again. */
  readonly 'sandbox-resumed': NoFacts;
  /** A runtime that was lost was made again. */
  readonly 'sandbox-rebuilt': { readonly tip: string };
  /** A port is found at another number outside. */
  readonly 'port-moved': { readonly name: string; readonly from: number; readonly to: number };
  /** Staged for the person, or left with conflicts: `outcome` says. */
  readonly 'sandbox-applied': { readonly outcome: string };
  /** Merged, or left with conflicts: `outcome` says. */
  readonly 'sandbox-merged': { readonly outcome: string };
  /** Gone, with all that it held. */
  readonly 'sandbox-deleted': { readonly slug: string };
}

/** The type of an event. */
export type SandboxEventType = keyof SandboxEventFacts;

/** The members of every event. */
export interface SandboxEventBase {
  /** Counts up over all repositories: give the last one as `after` to go on from there. */
  readonly sequence: number;
  /** When it happened, in milliseconds since 1970. */
  readonly atMs: number;
  /** The sandbox for good. */
  readonly id: string;
  /** The name of the sandbox. Absent where it was deleted before anybody watched. */
  readonly name?: string;
}

/** Something that happened to a sandbox. Its `type` tells which facts it has. */
export type SandboxEvent = {
  [Type in SandboxEventType]: SandboxEventBase & { readonly type: Type; readonly data: SandboxEventFacts[Type] };
}[SandboxEventType];

/** Every type, so that what a newer Litterbox writes is left out and not taken for something else. */
const TYPES: Readonly<Record<SandboxEventType, true>> = {
  'sandbox-created': true,
  'revision-recorded': true,
  'milestone-cut': true,
  'snapshot-taken': true,
  'snapshot-restored': true,
  'sandbox-paused': true,
  'sandbox-stopped': true,
  'sandbox-resumed': true,
  'sandbox-rebuilt': true,
  'port-moved': true,
  'sandbox-applied': true,
  'sandbox-merged': true,
  'sandbox-deleted': true,
};

/** Whether it is one of the types that a program knows. */
export const isSandboxEventType = (type: string): type is SandboxEventType => Object.hasOwn(TYPES, type);
