import type { CallOptions, ProgressOptions } from '../common/call.ts';
import type { Host } from './host.ts';

/** A machine that sandboxes can be made on, as a list of them tells it. */
export interface KnownHost {
  /** As it stands behind the `@` of a provider's key. */
  readonly name: string;
  /** Where it is, for people: `this machine`, `ssh://me@10.0.0.7:22`. */
  readonly address: string;
  /** The machine's own identity when it was last seen: another value means another machine under the same name. */
  readonly machineId?: string;
}

/** A machine that answers. */
export interface OpenedHost {
  readonly host: Host;
  /** Absolute directory on that machine in which providers keep their files. */
  readonly directory: string;
}

/**
 * Hosts port: the machines that the user has. They stand in the user's own state, never in a repository, which may only name one.
 *
 * Disposing it closes every machine that it opened; the one that this program runs on belongs to who gave it.
 */
export interface Hosts extends AsyncDisposable {
  /** Asks no machine. */
  list(options?: CallOptions): Promise<readonly KnownHost[]>;

  /**
   * Connects, or gives the machine that is connected already; several may ask at once. `local` is the one that this program runs on. A
   * machine that is switched off is not started.
   *
   * @throws LitterboxError `INVALID_ARGUMENT` or `NOT_FOUND` for a name that is not listed, with those that are; `UNAVAILABLE` when the
   *   machine does not answer.
   */
  open(name: string, options?: CallOptions): Promise<OpenedHost>;

  /**
   * Starts a machine that is switched off, and resolves when it can be opened: at once for one that runs, and for one that nobody here can
   * start. Absent where there are none to start.
   *
   * @throws LitterboxError `UNAVAILABLE` when it does not start
   */
  wake?(name: string, options?: ProgressOptions): Promise<void>;

  /** The machines for who names none, to choose from. None, and where it is absent: this one, and what the providers are made for. */
  preferred?(options?: CallOptions): Promise<readonly string[]>;
}
