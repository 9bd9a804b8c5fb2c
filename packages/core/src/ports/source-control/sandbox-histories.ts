import type { ChangedPath } from '../../domain/paths/changed-path.ts';
import type { ObjectId, SandboxId } from '../../domain/sandbox/ids.ts';
import type { RevisionMessage } from '../../domain/sandbox/revision-message.ts';
import type { SecretBytes } from '../../domain/secrets/secret-bytes.ts';
import type { Slug } from '../../domain/sandbox/slug.ts';
import type { CallOptions } from '../common/call.ts';
import type { FileChange } from './file-change.ts';
import type { Base } from './persons-repository.ts';

/** One recorded state of a sandbox. */
export interface Revision {
  readonly commit: ObjectId;
  readonly tree: ObjectId;
  /** 1 for the first revision of the sandbox; never reused. */
  readonly number: number;
}

/** The changes, the source of their content, and the words of the revision. */
export interface RecordRequest {
  readonly changes: AsyncIterable<ChangedPath>;
  /**
   * The content of the named files and symlinks as one tar stream made inside the sandbox: one archive, or several one
   * after another, names as given. Called with those paths
   * that git would track; may be called several times. A path that vanished meanwhile is simply not in the stream.
   */
  contents(paths: AsyncIterable<string>, options?: CallOptions): ReadableStream<Uint8Array>;
  readonly message: RevisionMessage;
  /** No file, link or name that holds one of them is recorded, and no byte of it is kept. Absent: none. */
  readonly secrets?: readonly SecretBytes[];
}

/** Something that a revision leaves out, or that deserves a look. */
export type RecordWarning =
  /** A path that is never recorded, with the code that says why (`PATH_GIT_DIR`, `PATH_SPECIAL_SYMLINK`, `NOT_A_REGULAR_FILE` …). */
  | { readonly type: 'refused-path'; readonly code: string; readonly path: string }
  /** A `.git` inside the workspace: its directory's files are recorded as ordinary files, the `.git` is not. */
  | { readonly type: 'nested-repository'; readonly path: string }
  | { readonly type: 'large-new-file'; readonly path: string; readonly sizeBytes: number }
  | { readonly type: 'unreadable'; readonly path: string }
  /** It holds one of the secrets, by that name. The path may hold it too. */
  | { readonly type: 'holds-secret'; readonly path: string; readonly secret: string };

/** The outcome of a request to record: a revision or nothing to record, and what was left out. */
export interface RevisionResult {
  /** Absent when nothing changed that git would track: there is never an empty revision. */
  readonly revision?: Revision;
  /** How many files differ between the revision and the one before. */
  readonly changedFiles: number;
  /**
   * True when a rule of what is ignored changed: files that did not change may count now. The caller scans from the
   * base again and records what that finds, else they are missing until they change.
   */
  readonly ignoreRulesChanged?: boolean;
  /** At most 100 of each type; the rest are counted in `moreWarnings`. */
  readonly warnings: readonly RecordWarning[];
  readonly moreWarnings: number;
}

/** One commit of all revisions since the milestone before. */
export interface Milestone {
  /** The commit on the review branch in the user's repository. */
  readonly commit: ObjectId;
  /** `refs/heads/litterbox/<slug>`. */
  readonly branch: string;
  /** How many revisions it holds. */
  readonly revisions: number;
  /** How many contents of Git LFS it has pointers to, which `exportTree` brings to where the person's git looks. @defaultValue none */
  readonly largeFiles?: number;
}

/** The store's knowledge of one sandbox: enough to rebuild its record and its runtime. */
export interface SandboxHistory {
  readonly id: SandboxId;
  readonly slug: Slug;
  readonly base: Base;
  readonly tip: Revision;
  /** Revisions since the last milestone. */
  readonly unmilestoned: number;
  readonly createdAtMs: number;
}

/** Counts of what was recorded in a sandbox since it began. */
export interface RecordedWork {
  readonly revisions: number;
  /** Those since the last milestone. */
  readonly unmilestoned: number;
  /** Files that differ from the base. */
  readonly files: number;
  /** In the files that are not binary. */
  readonly addedLines: number;
  readonly removedLines: number;
}

/** One revision as the log shows it. */
export interface LogEntry {
  readonly commit: ObjectId;
  readonly number: number;
  readonly atMs: number;
  readonly subject: string;
  readonly body: string;
  readonly trailers: readonly (readonly [name: string, value: string])[];
  /** True for the revision at which a milestone was cut. */
  readonly milestone: boolean;
}

/** Something that a command printed, to be found again by what it holds. */
export interface PrintedContent {
  /** Lower-case hexadecimal SHA-256 of `bytes`. */
  readonly digest: string;
  readonly bytes: Uint8Array;
  /** How much is kept of one sandbox, in bytes: beyond it, what was kept or kept again longest ago goes. */
  readonly mostBytes: number;
}

/** Lines of a file, one after the other, that one revision wrote. */
export interface BlamedLines {
  /** 0: the sandbox began with them. */
  readonly revision: number;
  readonly commit: ObjectId;
  /** Number of the first of them, from 1 on. */
  readonly firstLine: number;
  /** Without their newlines; bytes that are not UTF-8 as `raw-text.ts` carries them. */
  readonly lines: readonly string[];
}

/** Longest file of which {@link SandboxHistories.blame} tells, in bytes. */
export const MAX_BLAMED_BYTES = 2 ** 21;

/** Which two trees are compared, and what of them is shown. */
export interface DiffOptions extends CallOptions {
  /** Compare this revision with the one before it, instead of base with tip. */
  readonly revision?: ObjectId;
  /** With `revision`: compare it with this one instead of with the one before it. */
  readonly against?: ObjectId;
  /** Compare the base with this revision instead of with the tip. */
  readonly upTo?: ObjectId;
  readonly contextLines?: number;
  /** With the content of binary files, in the form that `git apply` takes; without, it is told that they differ. @defaultValue false */
  readonly hasBinary?: boolean;
  /** Literal path prefixes. */
  readonly paths?: readonly string[];
}

/**
 * Our own history of every sandbox of one repository: revisions, milestones, log, diff. Its store is ours and private. It is git's format
 * whatever the person uses, so that plain git can read it, and there is one implementation.
 *
 * In the person's repository it keeps two things, by the means of the git below it: a ref that holds the base, and the review branch.
 */
export interface SandboxHistories {
  /** Starts a sandbox's history at a base and keeps that base from being garbage-collected. @throws `ALREADY_EXISTS`. */
  begin(
    sandbox: { readonly id: SandboxId; readonly slug: Slug; readonly base: Base },
    options?: CallOptions,
  ): Promise<SandboxHistory>;

  /**
   * Starts a sandbox's history where another one's is: its base, revisions with their numbers, milestones (on a review branch of the new
   * one's own), and whether its work was merged. From there on each grows by itself, and either may be removed. The caller holds the
   * source's lock.
   *
   * @throws LitterboxError `NOT_FOUND` when the source has none, `ALREADY_EXISTS`, `CONFLICT` when the new review branch is somebody's.
   */
  fork(
    source: SandboxId,
    sandbox: { readonly id: SandboxId; readonly slug: Slug },
    options?: CallOptions,
  ): Promise<SandboxHistory>;

  /** @throws LitterboxError `NOT_FOUND`. */
  history(id: SandboxId, options?: CallOptions): Promise<SandboxHistory>;
  histories(options?: CallOptions): AsyncIterable<SandboxHistory>;

  /** For a list of many sandboxes: starts no program where nothing was recorded, and one for all. Histories that are not there, or damaged, are left out. */
  works(ids: readonly SandboxId[], options?: CallOptions): Promise<ReadonlyMap<SandboxId, RecordedWork>>;

  /**
   * Records what changed as one revision on top of the tip: blobs, tree, commit, compare-and-swap of the tip.
   * Costs the number of changed files. Atomic: after any failure the tip is the old one. The caller holds the
   * sandbox's lock; a tip that moved all the same is `CONFLICT`.
   *
   * @throws LitterboxError `TAR_*` for a hostile stream, `DISK_FULL`, `STORE_CORRUPT`, `CONFLICT`.
   */
  record(id: SandboxId, request: RecordRequest, options?: CallOptions): Promise<RevisionResult>;

  /** Squashes the revisions since the last milestone into one commit on the review branch. `undefined` when there are none. */
  milestone(id: SandboxId, message: string, options?: CallOptions): Promise<Milestone | undefined>;

  /** Newest first. */
  log(id: SandboxId, options?: CallOptions & { readonly limit?: number }): AsyncIterable<LogEntry>;

  /** The unified diff as git prints it, base to tip unless asked otherwise, no colour. Bytes as they are: hostile. */
  diff(id: SandboxId, options?: DiffOptions): AsyncIterable<Uint8Array>;
  changes(id: SandboxId, options?: DiffOptions): Promise<readonly FileChange[]>;

  /**
   * All lines of a file of the tip, or of the revision `upTo`, in order, with the revision that wrote them last.
   *
   * @throws LitterboxError `NOT_FOUND`; `NOT_A_REGULAR_FILE` for a link, a directory and a file that is not text; `FILE_TOO_LARGE`
   */
  blame(
    id: SandboxId,
    path: string,
    options?: CallOptions & { readonly upTo?: ObjectId },
  ): Promise<readonly BlamedLines[]>;

  /**
   * The content of a file of the revision `at`, or of the base; undefined where that has no ordinary file.
   *
   * @throws LitterboxError `FILE_TOO_LARGE` where it has more than `maxBytes`
   */
  content(
    id: SandboxId,
    path: string,
    options: CallOptions & { readonly at: ObjectId; readonly maxBytes: number },
  ): Promise<Uint8Array | undefined>;

  /** A revision by number or by (short) object id. @throws LitterboxError `REV_NOT_FOUND`, `REV_AMBIGUOUS`, `REV_INVALID`. */
  resolve(id: SandboxId, name: string, options?: CallOptions): Promise<Revision>;

  /** Appends a revision whose tree is that of `revision` (history stays linear); `undefined` when the tip has it already. */
  restore(
    id: SandboxId,
    revision: ObjectId,
    message: RevisionMessage,
    options?: CallOptions,
  ): Promise<Revision | undefined>;

  /**
   * Keeps what a command printed beside the history, readable by the person alone. The same content takes its room once. Nothing waits for
   * the disk: a power cut may take it. A sandbox without a history keeps nothing.
   */
  keepPrinted(id: SandboxId, content: PrintedContent, options?: CallOptions): Promise<void>;

  /** The content of that digest; undefined when it is not kept, any more or yet. The caller checks that the digest fits. */
  printed(id: SandboxId, digest: string, options?: CallOptions): Promise<Uint8Array | undefined>;

  /** Ends the sandbox's history: refs, review branch, exported tree, what commands printed. Objects stay reachable under a tombstone; nothing removes it. Idempotent. */
  remove(id: SandboxId, options?: CallOptions): Promise<void>;
}
