import type { Assurance } from '../../domain/sandbox/assurance.ts';
import type { ProviderKey } from '../../domain/sandbox/provider-key.ts';
import type { RepositoryId, SandboxId } from '../../domain/sandbox/ids.ts';
import type { CallOptions } from '../common/call.ts';

/** A sandbox that was made in advance and belongs to nobody yet. It is in no list of sandboxes and has no history. */
export interface PooledSandbox {
  /** Becomes the id of the sandbox that it is given away as. */
  readonly id: SandboxId;
  readonly repositoryId: RepositoryId;
  readonly provider: ProviderKey;
  /** Digest of everything that a create decides: equal ones are given away for each other. Lower-case hexadecimal. */
  readonly fingerprint: string;
  /**
   * `filling`: being made. `ready`: nobody's, and whoever comes first may have it. `claimed`: taken by a create that goes on with it.
   * `condemned`: being removed.
   */
  readonly state: 'filling' | 'ready' | 'claimed' | 'condemned';
  readonly createdAtMs: number;
  /** The controls in force when it was made. Present once it is ready. */
  readonly assurance?: Assurance;
}

/**
 * The sandboxes made in advance of one user, shared by any number of processes, each of which may be killed at any moment. Every
 * change is atomic. A sandbox that is not `ready` belongs to the process that made it so; when that one is dead it is abandoned.
 *
 * Errors: those of `StateStore`.
 */
export interface SandboxPool {
  /** Notes that this process begins to make one: before anything of it is there. The state is `filling`. */
  add(
    sandbox: Pick<PooledSandbox, 'id' | 'repositoryId' | 'provider' | 'fingerprint'>,
    options?: CallOptions,
  ): Promise<PooledSandbox>;
  /** It is made: from `filling` to `ready`. @throws LitterboxError `NOT_FOUND` when this process is not making it any more. */
  offer(id: SandboxId, assurance: Assurance, options?: CallOptions): Promise<void>;
  /** Gives this process the oldest one that is ready, to nobody else: from `ready` to `claimed`. Nothing when there is none. Waits for nobody who fills. */
  take(
    wanted: Pick<PooledSandbox, 'repositoryId' | 'provider' | 'fingerprint'>,
    options?: CallOptions,
  ): Promise<PooledSandbox | undefined>;
  /** Gives this process one to remove. False when it was taken, or another process removes it. */
  condemn(id: SandboxId, options?: CallOptions): Promise<boolean>;
  get(id: SandboxId, options?: CallOptions): Promise<PooledSandbox | undefined>;
  /** In the order in which they were begun. All repositories when none is named. */
  list(repositoryId?: RepositoryId, options?: CallOptions): Promise<readonly PooledSandbox[]>;
  /** Those that belong to a process that is dead. */
  abandoned(options?: CallOptions): Promise<readonly PooledSandbox[]>;
  /** Idempotent. */
  remove(id: SandboxId, options?: CallOptions): Promise<void>;
}
