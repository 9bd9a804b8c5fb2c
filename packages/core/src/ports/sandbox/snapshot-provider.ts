import type { SandboxId } from '../../domain/sandbox/ids.ts';
import type { CallOptions } from '../common/call.ts';

/** An opaque name of a snapshot, chosen by the provider; safe as a path segment. */
export type SnapshotName = string;

/** Most that the caller's note of a snapshot may take, in bytes of UTF-8. */
export const MAX_SNAPSHOT_NOTE_BYTES = 4096;

/** How a snapshot is taken. */
export interface TakeSnapshotOptions extends CallOptions {
  /** The caller's own words, at most {@link MAX_SNAPSHOT_NOTE_BYTES}. A provider keeps them as they are and never reads them. */
  readonly note?: string | undefined;
}

/** A snapshot as `list` tells it. */
export interface KeptSnapshot {
  readonly name: SnapshotName;
  /** The sandbox that it was taken of, which may be gone. */
  readonly sandbox: SandboxId;
  /** Milliseconds since 1970 when it was taken. */
  readonly takenAtMs: number;
  /** The note of the caller of `take`, unchanged. Absent when there was none. */
  readonly note?: string;
}

/** The room that a snapshot takes. */
export interface SnapshotUsage {
  /** Bytes on the disk of all its files, whoever else shares them. */
  readonly diskBytes: number;
  /** Bytes of these that would be free again without it. Absent where the file system does not tell what it shares. */
  readonly ownBytes?: number;
}

/**
 * Snapshot port: what workspaces and home directories held at one moment, kept on one Host. A snapshot keeps the files as they were at
 * `take`, whatever happens to the sandbox later, its removal included. The playground is no part of it: it outlives everything.
 */
export interface SnapshotProvider {
  /** Consistent as of one moment: the sandbox is frozen meanwhile. @throws LitterboxError `NOT_FOUND`. */
  take(id: SandboxId, options?: TakeSnapshotOptions): Promise<SnapshotName>;
  /**
   * Puts workspace and home back to the snapshot; what was written since is gone. Ends what runs in the sandbox; a paused one is stopped
   * afterwards. Marks of before mean nothing any more: a scan without one tells how the snapshot differs from the base, and whoever keeps a
   * history compares the two.
   *
   * @throws LitterboxError `NOT_FOUND`; `UNSUPPORTED` for a sandbox of another make than the one it was taken of.
   */
  restore(id: SandboxId, snapshot: SnapshotName, options?: CallOptions): Promise<void>;
  /** Every snapshot of this Host, in any order. */
  list(options?: CallOptions): AsyncIterable<KeptSnapshot>;
  /** The room that each of them takes now; those that are not there are left out. It may look at every file. */
  usage(snapshots: readonly SnapshotName[], options?: CallOptions): Promise<ReadonlyMap<SnapshotName, SnapshotUsage>>;
  /** Idempotent. */
  remove(snapshot: SnapshotName, options?: CallOptions): Promise<void>;
}
