import type { SandboxId } from '../domain/ids.ts';
import type { CallOptions } from './call.ts';

/** An opaque name of a snapshot, chosen by the provider; safe as a path segment. */
export type SnapshotName = string;

/**
 * Snapshot port: writable copy-on-write copies of workspaces on one Host. A snapshot keeps the files as they were at
 * `take`, whatever happens to the sandbox later, its removal included.
 */
export interface SnapshotProvider {
  /** Consistent as of one moment: the sandbox is frozen meanwhile. @throws LitterboxError `NOT_FOUND`. */
  take(id: SandboxId, options?: CallOptions): Promise<SnapshotName>;
  /** Puts the workspace back to the snapshot; what was written since is gone. */
  restore(id: SandboxId, snapshot: SnapshotName, options?: CallOptions): Promise<void>;
  list(options?: CallOptions): AsyncIterable<SnapshotName>;
  /** Idempotent. */
  remove(snapshot: SnapshotName, options?: CallOptions): Promise<void>;
}
