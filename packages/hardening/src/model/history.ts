/** One call as the program that drives the workers saw it. Times are milliseconds of one monotonic clock. */
export interface Call {
  readonly worker: number;
  readonly operation: string;
  readonly sandbox: string;
  /** Of a write or read: where. */
  readonly path?: string;
  /** Of a write: what, unique in the whole history. Of a read that was answered: what came back. */
  readonly value?: string;
  readonly invokedMs: number;
  /** Absent when the worker died before it answered. */
  readonly returnedMs?: number | undefined;
  /** `unknown`: nobody knows whether it had an effect. */
  readonly outcome: 'ok' | 'error' | 'unknown';
  /** Of an error. */
  readonly code?: string;
  readonly message?: string;
  /** Of a read: the id of the sandbox it was in, when that is known. Of a merge: of the sandbox that was merged and deleted. */
  readonly id?: string;
  /** The revision that a write was answered with. */
  readonly commit?: string | undefined;
}

/** How the user's repository looked at a moment. */
export interface Sample {
  readonly atMs: number;
  readonly digest: string;
}

/** One sandbox that was, as its history tells at the end: every revision, oldest first, with what the written paths held. */
export interface Chain {
  readonly id: string;
  /** What the paths held at the base. */
  readonly base: Readonly<Record<string, string>>;
  readonly revisions: readonly {
    readonly commit: string;
    readonly number: number;
    readonly files: Readonly<Record<string, string>>;
  }[];
}

export interface History {
  readonly calls: readonly Call[];
  readonly samples: readonly Sample[];
  /** Of all sandboxes, removed ones too. */
  readonly chains: readonly Chain[];
  /** Contents of files in all commits of the user's branch. */
  readonly merged: ReadonlySet<string>;
}
