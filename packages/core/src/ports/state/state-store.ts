import type { ReviewNote } from './review-note.ts';
import type { ProviderKey } from '../../domain/sandbox/provider-key.ts';
import type { Assurance } from '../../domain/sandbox/assurance.ts';
import type { ObjectId, RepositoryId, SandboxId } from '../../domain/sandbox/ids.ts';
import type { Placement } from '../../domain/sandbox/placement.ts';
import type { Policy, PortPolicy } from '../../domain/sandbox/policy.ts';
import type { Slug } from '../../domain/sandbox/slug.ts';
import type { CallOptions } from '../common/call.ts';
import type { ChangeMark } from '../sandbox/sandbox-runtime.ts';

/** Where a sandbox is in its life. `creating` and `deleting` are finished or undone by `reconcile`. */
export type SandboxState = 'creating' | 'setup-failed' | 'ready' | 'paused' | 'stopped' | 'deleting';

/** A named port of a sandbox and where it is found on this machine. */
export interface AssignedPort extends PortPolicy {
  /** On 127.0.0.1 and ::1. Stays the same unless another program takes it. */
  readonly outside: number;
}

/** Files that could not be recorded. */
export interface UnrecordedFiles {
  /** At most 20; the empty path is the workspace itself. */
  readonly paths: readonly string[];
  readonly total: number;
}

/** One row per sandbox. The code is in git, what runs is in the runtime; this row joins them. */
export interface SandboxRecord {
  readonly id: SandboxId;
  readonly repositoryId: RepositoryId;
  /** Absolute path of the user's work tree when the sandbox was made. */
  readonly repositoryRoot: string;
  readonly slug: Slug;
  readonly provider: ProviderKey;
  /** Why it was made on that machine. Absent where there was no choice. */
  readonly placement?: Placement;
  readonly state: SandboxState;
  readonly baseCommit: ObjectId;
  readonly baseTree: ObjectId;
  readonly workdir: string;
  readonly policy: Policy;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Up to here the workspace is recorded. */
  readonly mark?: ChangeMark;
  /** As read back at the last create, resume or recover. */
  readonly assurance?: Assurance;
  /** Tail of the setup's output when it failed. */
  readonly setupLog?: string;
  readonly ports?: readonly AssignedPort[];
  /** Directories of submodules that were empty when the sandbox was made, and why. */
  readonly emptySubmodules?: readonly { readonly path: string; readonly reason: string }[];
  /** Files of Git LFS that were pointers when the sandbox was made, because their contents were not on this machine: some of their paths, and the number of all. */
  readonly missingLargeFiles?: { readonly paths: readonly string[]; readonly total: number };
  /**
   * Files of the workspace that no revision has, because they could not be recorded when they were last looked at: some of their paths, and
   * the number of all. They may have been removed or made readable since; a look at everything tells.
   */
  readonly unrecorded?: UnrecordedFiles;
  /** Name, as it was then, of the sandbox that this one began as a copy of. */
  readonly forkedFrom?: Slug;
  /** Words of whoever made it, by their names, to find it again. */
  readonly labels?: Readonly<Record<string, string>>;
  /** It is to go with the program that made it, which holds the lease of `ephemeralLease` as long as it lives. */
  readonly isEphemeral?: true;
  /** The revision whose changes a person was shown last, as a whole: their yes stands on it. Absent when nobody was shown any. */
  readonly shownTip?: ObjectId;
  /** Words of a person on lines of it. Absent where there are none. */
  readonly notes?: readonly ReviewNote[];
  /** How often what it runs in was replaced behind programs that have it open; nothing where it never was. */
  readonly replacements?: number;
  /** Goes up by one with every write: the fencing token of {@link StateStore.update}. */
  readonly generation: number;
}

/** A multi-step change that must be finished or undone after a kill. */
export interface JournalEntry {
  readonly id: string;
  readonly operation: string;
  readonly sandbox?: SandboxId;
  /** The last step that was begun. */
  readonly step: string;
  readonly startedAtMs: number;
}

/** Something that happened, for whoever watches. Kept, and read from a number on. */
export interface LitterboxEvent {
  /** Counts up by one over the whole store; order is this number, never time. */
  readonly sequence: number;
  readonly atMs: number;
  /** Noun-verb: `sandbox-created`, `revision-recorded`. */
  readonly type: string;
  readonly repositoryId?: RepositoryId;
  readonly sandbox?: SandboxId;
  /** JSON values only. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** A withdrawal from a budget of a repository. */
export interface Spending {
  /** The budget: kebab-case, and after a colon what it is for, such as `sent:example.org`. */
  readonly name: string;
  /** An item that is paid for once: within the window of its first time it is free. */
  readonly item?: string;
  /** At least 0, in whatever the budget counts. */
  readonly amount: number;
  /** As much as may be spent within a window. */
  readonly most: number;
  /** How long something that was spent counts, in milliseconds of the wall clock: an item from its own first time on, all else from the first of it. */
  readonly windowMs: number;
}

/** How something is written down. */
export interface StateWrite extends CallOptions {
  /** A power cut may take it until something else is written, and never what was written before it: nothing waits for the disk. */
  readonly isLosable?: boolean;
}

/** Exclusive while held; released by disposing or, by the kernel, by the death of the process. */
export interface Lease extends AsyncDisposable {
  readonly resource: string;
}

/**
 * Records, leases, journal, events and trust of one user, shared by any number of processes, each of which may be
 * killed at any moment. Every write is atomic and durable when its promise resolves; what the caller calls losable, a mark or `shownTip`
 * alone, an event and what was spent may be taken by a power cut until something else is written, in order: never what was written before them.
 *
 * Errors: `STATE_CORRUPT`, `STATE_TOO_NEW`, `STATE_DIR_INVALID`, `DISK_FULL`, `BUSY`.
 */
export interface StateStore extends AsyncDisposable {
  /** @throws LitterboxError `SANDBOX_EXISTS` when the repository has one of that slug. */
  insert(record: Omit<SandboxRecord, 'generation'>, options?: CallOptions): Promise<SandboxRecord>;
  /** Compare-and-swap. @throws LitterboxError `CONFLICT` when the generation moved, `NOT_FOUND`. */
  update(record: SandboxRecord, change: SandboxChange, options?: StateWrite): Promise<SandboxRecord>;
  get(id: SandboxId, options?: CallOptions): Promise<SandboxRecord | undefined>;
  find(repositoryId: RepositoryId, slug: Slug, options?: CallOptions): Promise<SandboxRecord | undefined>;
  /** By creation, oldest first. All repositories when none is named. */
  list(repositoryId?: RepositoryId, options?: CallOptions): Promise<readonly SandboxRecord[]>;
  /** Idempotent. */
  remove(id: SandboxId, options?: CallOptions): Promise<void>;

  /**
   * Waits up to `waitMs` for the resource, in turn within this process. Without it, calls of this process are waited for as long as they
   * take, and those of others for 10 seconds.
   *
   * @throws LitterboxError `BUSY` with `holderPid` and `holderPurpose` as facts where they can be told, `isOwn` when the holder is this process,
   *   and `waitMs`.
   */
  lease(resource: string, purpose: string, options?: CallOptions & { readonly waitMs?: number }): Promise<Lease>;

  /** Written before the first step. */
  begin(
    entry: { readonly operation: string; readonly sandbox?: SandboxId; readonly step: string },
    options?: StateWrite,
  ): Promise<JournalEntry>;
  step(id: string, step: string, options?: StateWrite): Promise<void>;
  end(id: string, options?: StateWrite): Promise<void>;
  /** Entries whose process is dead. */
  interrupted(options?: CallOptions): Promise<readonly JournalEntry[]>;

  publish(event: Omit<LitterboxEvent, 'sequence' | 'atMs'>, options?: CallOptions): Promise<LitterboxEvent>;
  /** Events after `sequence`, oldest first, at most `limit` (default 1000). */
  events(after: number, options?: CallOptions & { readonly limit?: number }): Promise<readonly LitterboxEvent[]>;

  /** Whether a person trusted the content hash for the repository. */
  isTrusted(repositoryId: RepositoryId, contentHash: string, options?: CallOptions): Promise<boolean>;
  /** The text that was trusted last, to show what changed since. */
  trustedText(repositoryId: RepositoryId, options?: CallOptions): Promise<string | undefined>;
  trust(repositoryId: RepositoryId, contentHash: string, text: string, options?: CallOptions): Promise<void>;

  /**
   * Takes something out of a budget that all sandboxes of a repository share, whatever became of the program that took the last.
   * A clock that is set back prolongs no window beyond its length from then on.
   *
   * @returns whether there was enough left. Nothing is taken when there was not.
   */
  spend(repositoryId: RepositoryId, spending: Spending, options?: CallOptions): Promise<boolean>;
}

/** `null` clears an optional member. */
export type SandboxChange = {
  readonly [Key in
    | 'state'
    | 'mark'
    | 'assurance'
    | 'setupLog'
    | 'ports'
    | 'policy'
    | 'workdir'
    | 'provider'
    | 'shownTip'
    | 'notes'
    | 'replacements'
    | 'unrecorded'
    | 'repositoryRoot']?: Key extends 'mark' | 'assurance' | 'setupLog' | 'unrecorded'
    ? SandboxRecord[Key] | null
    : SandboxRecord[Key];
};
