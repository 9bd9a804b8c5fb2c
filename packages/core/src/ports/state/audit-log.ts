import type { RepositoryId, SandboxId } from '../../domain/sandbox/ids.ts';
import type { CallOptions } from '../common/call.ts';

/** The facts of a call before it begins. */
export interface AuditStart {
  /** The operation's name: `sandbox-run`. */
  readonly operation: string;
  /** The door that asked: `cli`, `library`, `mcp`. */
  readonly actor: string;
  readonly repositoryId?: RepositoryId;
  readonly sandbox?: SandboxId;
  /** The arguments without contents and without secrets; JSON values only, at most 16 KiB. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The call only reads, so that its end need not outlive a power cut: it is on disk with the next entry that has to be. */
  readonly isRead?: boolean;
}

/** One call in the audit log, as far as it has got. */
export interface AuditEntry extends Omit<AuditStart, 'isRead'> {
  readonly sequence: number;
  readonly atMs: number;
  readonly durationMs?: number;
  /** `unknown`: the process died in between. `running`: it has not ended yet. */
  readonly outcome: 'ok' | 'error' | 'unknown' | 'running';
  /** Exit code, revision, error code and the like. */
  readonly result: Readonly<Record<string, unknown>>;
  /** Lower-case hexadecimal SHA-256 over the entry and the hash before it. */
  readonly hash: string;
}

/** Ends what {@link AuditLog.start} began. Calling it twice is a bug of ours. */
export type AuditFinish = (outcome: 'ok' | 'error', result: Readonly<Record<string, unknown>>) => Promise<void>;

/**
 * Append-only and hash-chained: every start and every end is an entry of the chain, so that a change, a removal or a
 * reordering of what was written shows. A call that cannot be audited does not run (`AUDIT_UNAVAILABLE`).
 */
export interface AuditLog {
  start(entry: AuditStart, options?: CallOptions): Promise<AuditFinish>;
  /** Newest first. */
  entries(
    filter: { readonly repositoryId?: RepositoryId; readonly sandbox?: SandboxId; readonly limit?: number },
    options?: CallOptions,
  ): Promise<readonly AuditEntry[]>;
  /** Walks the whole chain. @throws LitterboxError `AUDIT_TAMPERED` with the first entry that does not fit. */
  verify(options?: CallOptions): Promise<{ readonly entries: number }>;
}
