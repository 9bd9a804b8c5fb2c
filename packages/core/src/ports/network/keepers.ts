import type { SandboxId } from '../../domain/sandbox/ids.ts';
import type { CallOptions } from '../common/call.ts';

/** A request to the keeper of a sandbox. */
export interface KeeperRequest {
  /**
   * `ready` waits until what starts has started; `ports` tries each port; `end` stops the services and lets go; `release` lets go
   * at once, for who ends the sandbox itself.
   */
  readonly verb: 'status' | 'ready' | 'ports' | 'start' | 'stop' | 'restart' | 'logs' | 'end' | 'release';
  /** Absent: all of them. */
  readonly service?: string;
  /** For `logs`: stay, and report new output. */
  readonly isFollowing?: boolean;
  /** For `logs`: size of the tail, in bytes. */
  readonly tailBytes?: number;
}

/** Answers one request, with any number of JSON values. */
export type KeeperAnswer = (request: KeeperRequest, options: CallOptions) => AsyncIterable<unknown>;

/**
 * How programs of one user find the one that keeps a sandbox (its services run and its ports are open). That there is one at a
 * time is not this port's business: the keeper holds a lease.
 */
export interface Keepers {
  /** Answers for a sandbox until it is disposed, in place of whoever did before. */
  serve(id: SandboxId, answer: KeeperAnswer): Promise<AsyncDisposable>;
  /**
   * Asks who keeps the sandbox. Ends with its last value; a failure there is thrown here as the error that it was.
   *
   * @returns nothing when nobody answers
   */
  ask(id: SandboxId, request: KeeperRequest, options?: CallOptions): Promise<AsyncIterable<unknown> | undefined>;
  /**
   * Starts a program that keeps the sandbox and outlives this one. Absent: this program keeps what it needs kept.
   *
   * @param variables names of variables of this program that it needs: secrets are in them
   */
  launch?(id: SandboxId, variables: readonly string[]): Promise<void>;
}
