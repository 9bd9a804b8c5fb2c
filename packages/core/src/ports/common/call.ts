/** Every port method takes this last. Aborting rejects with `signal.reason`, never with a LitterboxError. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** The side that asks: a person (or a program that runs in their place), or an agent. */
export type Asker = 'person' | 'agent';

/** One line of progress for a person who waits. */
export interface Progress {
  /** Kebab-case name of the step: `base-tree`, `setup`. */
  readonly step: string;
  /** One sentence without a full stop. */
  readonly message: string;
  /** The last line that a command of this step printed, hostile. Each line reports the same step again; the first report of a step has none. */
  readonly detail?: string;
  /** How much is done and how much there is, in the same unit, when that is known. */
  readonly done?: number;
  readonly total?: number;
}

/** A call that may take long enough for a person to wonder. */
export interface ProgressOptions extends CallOptions {
  /**
   * How long to wait for another call in the sandbox to end. Without it calls of one process wait for each other, however long that takes,
   * and for those of another process ten seconds; what takes the sandbox away waits two.
   */
  readonly patienceMs?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** The agent whose session asks: it has the seat in each sandbox that it changes, until this process ends. */
  readonly seatOf?: string | undefined;
  /** The agent's own id of the call, as `callIdOf` makes it: the revision and the audit log have it. */
  readonly callId?: string | undefined;
}
