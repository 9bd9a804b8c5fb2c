import type { ChangedPath } from '../domain/changed-path.ts';
import type { ObjectId, RepositoryId, SandboxId } from '../domain/ids.ts';
import type { RevisionMessage } from '../domain/revision-message.ts';
import type { Slug } from '../domain/slug.ts';
import type { Asker, CallOptions, ProgressOptions } from './call.ts';

/** What a sandbox starts from. */
export type BaseSource =
  | { readonly type: 'head' }
  /** Tracked and untracked-not-ignored files as they are now, as a synthetic commit on HEAD. */
  | { readonly type: 'worktree' }
  /** One commit, named as git names it. Ranges, paths and reflog expressions are refused. */
  | { readonly type: 'ref'; readonly name: string };

/** The commit that a sandbox starts from. */
export interface Base {
  readonly commit: ObjectId;
  readonly tree: ObjectId;
  /** Full name of the ref HEAD pointed to then (`refs/heads/main`); absent when detached. */
  readonly headRef?: string;
}

/** What git tells of a base besides its files. */
export interface BaseDescription {
  /** The branch without `refs/heads/`; absent when HEAD is on none. */
  readonly branch?: string;
  /** The nearest tags, at most three: what `git describe` finds, among all tags, annotated ones, and those with a digit in them. */
  readonly tags: readonly {
    readonly name: string;
    /** Commits of the base that the tag does not have. */
    readonly distance: number;
    readonly isAnnotated: boolean;
  }[];
}

/** A base as it was just found in the repository. */
export interface FoundBase extends Base {
  /**
   * Whether a person made it: what HEAD is at or a branch, a tag or a remote branch of theirs holds. False for what only review branches
   * (`litterbox/NAME`) hold, there or where they were pushed to: an agent wrote its files, and nobody has taken them over.
   */
  readonly isPersons: boolean;
}

/** For whom a repository is opened. */
export interface OpenOptions extends CallOptions {
  /**
   * An agent finds no commit but what a branch, a tag or a remote branch holds: no stash, no pseudo-ref, no ref of ours, nothing that was
   * taken back. What it may not have is to it what is not there. @defaultValue person
   */
  readonly asker?: Asker;
}

/** One recorded state of a sandbox. */
export interface Revision {
  readonly commit: ObjectId;
  readonly tree: ObjectId;
  /** 1 for the first revision of the sandbox; never reused. */
  readonly number: number;
}

/** What changed, where its content comes from, and the words of the revision. */
export interface RecordRequest {
  readonly changes: AsyncIterable<ChangedPath>;
  /**
   * The content of the named files and symlinks as one tar stream made inside the sandbox: one archive, or several one
   * after another, names as given. Called with those paths
   * that git would track; may be called several times. A path that vanished meanwhile is simply not in the stream.
   */
  contents(paths: AsyncIterable<string>, options?: CallOptions): ReadableStream<Uint8Array>;
  readonly message: RevisionMessage;
}

/** What was left out of a revision, or deserves a look. */
export type RecordWarning =
  /** A path that is never recorded, with the code that says why (`PATH_GIT_DIR`, `PATH_SPECIAL_SYMLINK`, `NOT_A_REGULAR_FILE` …). */
  | { readonly type: 'refused-path'; readonly code: string; readonly path: string }
  /** A `.git` inside the workspace: its directory's files are recorded as ordinary files, the `.git` is not. */
  | { readonly type: 'nested-repository'; readonly path: string }
  | { readonly type: 'large-new-file'; readonly path: string; readonly sizeBytes: number }
  | { readonly type: 'unreadable'; readonly path: string };

/** What became of a request to record: a revision, or nothing to record, and what was left out. */
export interface RecordResult {
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
}

/** What the store knows of one sandbox. Enough to rebuild its record and its runtime. */
export interface SandboxHistory {
  readonly id: SandboxId;
  readonly slug: Slug;
  readonly base: Base;
  readonly tip: Revision;
  /** Revisions since the last milestone. */
  readonly unmilestoned: number;
  readonly createdAtMs: number;
}

/** What was recorded in a sandbox since it began, in numbers. */
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

/** One file that differs between two trees. */
export interface FileChange {
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted' | 'type-changed';
  readonly executable: boolean;
  readonly binary: boolean;
  /** Absent for binary files, and in a plan for those that conflict. */
  readonly addedLines?: number;
  readonly removedLines?: number;
}

/** A submodule of a tree, or of another submodule. */
export interface SubmoduleState {
  /** From the top of the tree. */
  readonly path: string;
  readonly commit: ObjectId;
  /** Why its files cannot be had, after "because". Absent when they are here. */
  readonly missing?: string;
}

/** A file of Git LFS, for which the tree holds a pointer. */
export interface LargeFileState {
  /** From the top of the tree. */
  readonly path: string;
  /** Of the content, in 64 hexadecimal digits. */
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Whether the content is on this machine. */
  readonly isHere: boolean;
}

/** What of a tree is wanted. */
export interface TreeOptions extends CallOptions {
  /** Only these files and links, without the directories above them. */
  readonly paths?: ReadonlySet<string>;
  /** Only what differs from another tree, with the directories above it and above what is not there any more, and `paths` besides. When that tree is gone, everything. */
  readonly unlike?: ObjectId;
  /** Submodules whose files are in it too, each as the commit that it is recorded with. Those that miss something are left out. @defaultValue none */
  readonly submodules?: readonly SubmoduleState[];
  /** Files of Git LFS whose contents are in it instead of their pointers. Those that are not here are left as they are. @defaultValue none */
  readonly largeFiles?: readonly LargeFileState[];
  /** Modification time of every entry, in seconds since 1970. @defaultValue 2000-01-01, for all trees alike */
  readonly timeSeconds?: number;
}

/** Which two trees are compared, and what of them is shown. */
export interface DiffOptions extends CallOptions {
  /** Compare this revision with the one before it, instead of base with tip. */
  readonly revision?: ObjectId;
  /** With `revision`: compare it with this one instead of with the one before it. */
  readonly against?: ObjectId;
  readonly contextLines?: number;
  /** With the content of binary files, in the form that `git apply` takes; without, it is told that they differ. @defaultValue false */
  readonly hasBinary?: boolean;
  /** Literal path prefixes. */
  readonly paths?: readonly string[];
}

/** A file whose change runs code on the person's machine, or may deceive a person (security.md, 6.1.5). */
export interface RiskyChange {
  readonly path: string;
  /** One clause: `runs when a folder is opened in VS Code`. */
  readonly reasons: readonly string[];
}

/** What an export of the review branch would write. */
export interface ExportPlan {
  readonly tree: ObjectId;
  readonly risky: readonly RiskyChange[];
}

/** The two ways to take work in: into index and work tree, or as git merges a branch. */
export type Integration = 'apply' | 'merge';

/** What an apply or merge would do, computed without doing it. */
export interface IntegrationPlan {
  readonly integration: Integration;
  readonly sandbox: SandboxId;
  readonly slug: Slug;
  /** The sandbox's tip that will be brought in; fixed here. */
  readonly tip: ObjectId;
  /** The user's HEAD that it was computed against; execution refuses with `HEAD_MOVED` when it is another by then. */
  readonly head: ObjectId;
  readonly headRef?: string;
  readonly changes: readonly FileChange[];
  /** Empty when the merge is clean. */
  readonly conflicts: readonly string[];
  readonly risky: readonly RiskyChange[];
  /** Files with uncommitted edits that the result would touch. */
  readonly dirtyOverlap: readonly string[];
  /** True when HEAD already contains everything. */
  readonly upToDate: boolean;
  /**
   * Commits of the sandbox's base that HEAD does not have, because it began on another branch or the person rewrote this one. They are not
   * brought along: only the sandbox's own changes are. Absent when there are none.
   */
  readonly unmergedBase?: { readonly commits: number /** Where HEAD pointed then. */; readonly headRef?: string };
  /** What `execute` needs, opaque. */
  readonly token: unknown;
}

/** Which way to take the work in, and how. */
export interface PlanRequest {
  readonly integration: Integration;
  /** git-merge arguments of the allow-list (security.md, B68), already split. */
  readonly arguments: readonly string[];
  readonly message?: string;
}

/** What an apply or merge did. */
export interface IntegrationResult {
  /** `committed`: HEAD moved. `staged`: `--squash`, or apply: the changes are in index and work tree, for the person to commit. `conflicts`: left as git leaves them. */
  readonly outcome: 'committed' | 'staged' | 'conflicts' | 'up-to-date';
  readonly commit?: ObjectId;
  readonly conflicts: readonly string[];
}

/** A repository of the network, held for as long as it takes to hand it on. */
export interface FetchedRepository extends AsyncDisposable {
  readonly url: string;
  /** All branches and tags in git's bundle format. Bytes of strangers: for a git inside a sandbox. */
  bundle(options?: CallOptions): AsyncIterable<Uint8Array>;
}

/**
 * SCM port. Knows revisions, milestones, diff and merge; nothing of sandboxes beyond their id and slug.
 * Git today, others later. An adapter never runs a tool in, nor extracts to disk, a tree that an agent wrote.
 */
export interface SourceControl extends AsyncDisposable {
  /**
   * The repository that contains `path`, known or new to us. Nothing in it changes.
   *
   * @throws LitterboxError `NOT_A_REPO`, `INSIDE_GIT_DIR`, `BARE_REPO`, `REPO_OWNER`, `REPO_CORRUPT`, `GIT_TOO_OLD`, `TOOL_MISSING`.
   * The last two may come from the first call that uses the tool for more than finding a repository.
   */
  open(path: string, options?: OpenOptions): Promise<SourceRepository>;
  /** Repositories opened before, by this or another process. */
  list(options?: CallOptions): AsyncIterable<{ readonly id: RepositoryId; readonly root: string }>;
  /**
   * Fetches a repository of the network, which has nothing to do with the person's: no credentials, no hooks. The caller has asked a
   * person. Absent where the adapter cannot.
   *
   * @throws LitterboxError `INVALID_ARGUMENT`, `UNAVAILABLE`, `RESOURCE_EXHAUSTED`, `TIMED_OUT`.
   */
  fetch?(url: string, options?: CallOptions): Promise<FetchedRepository>;
}

/** One repository of the user's, and the private history of every sandbox that was made from it. */
export interface SourceRepository extends AsyncDisposable {
  readonly id: RepositoryId;
  /** Absolute real path of the work tree's root. */
  readonly root: string;

  /** @throws LitterboxError `UNBORN_HEAD`, `REV_INVALID`, `REV_NOT_FOUND`, `REV_NOT_COMMIT`, `REV_AMBIGUOUS`, `OBJECT_MISSING`. */
  base(source: BaseSource, options?: ProgressOptions): Promise<FoundBase>;
  /** What git tells of a base: names and numbers alone, nothing of its history. What cannot be told is left out. */
  describe(base: Pick<Base, 'commit'>, options?: CallOptions): Promise<BaseDescription>;
  /** Work-tree changes that base `head` leaves out: at most `limit` paths and the number of all. */
  leftOut(limit: number, options?: CallOptions): Promise<{ readonly paths: readonly string[]; readonly total: number }>;
  /** A tree as `WorkspaceSource.open` describes it. Filters and attributes of the repository are not applied, except end-of-line conversion never. */
  tree(tree: ObjectId, options?: TreeOptions): ReadableStream<Uint8Array>;

  /**
   * The submodules of a tree that `.gitmodules` names, and whether their objects are here: in the person's own copies of them, nothing is
   * fetched, and no configuration of theirs is read. Names and paths in the tree may be anybody's.
   */
  submodules(tree: ObjectId, options?: CallOptions): Promise<readonly SubmoduleState[]>;

  /** The files of Git LFS in a tree, and whether their contents are here: nothing is fetched, and no filter runs. */
  largeFiles(tree: ObjectId, options?: CallOptions): Promise<readonly LargeFileState[]>;

  /** The ids of the contents of those files and links of a tree whose paths are wanted: equal ids mean equal contents. */
  contentIds(
    tree: ObjectId,
    isWanted: (path: string) => boolean,
    options?: CallOptions,
  ): Promise<ReadonlyMap<string, ObjectId>>;

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
  record(id: SandboxId, request: RecordRequest, options?: CallOptions): Promise<RecordResult>;
  /** Squashes the revisions since the last milestone into one commit on the review branch. `undefined` when there are none. */
  milestone(id: SandboxId, message: string, options?: CallOptions): Promise<Milestone | undefined>;

  /** Newest first. */
  log(id: SandboxId, options?: CallOptions & { readonly limit?: number }): AsyncIterable<LogEntry>;
  /** The unified diff as git prints it, base to tip unless asked otherwise, no colour. Bytes as they are: hostile. */
  diff(id: SandboxId, options?: DiffOptions): AsyncIterable<Uint8Array>;
  changes(id: SandboxId, options?: DiffOptions): Promise<readonly FileChange[]>;
  /** A revision by number or by (short) object id. @throws LitterboxError `REV_NOT_FOUND`, `REV_AMBIGUOUS`, `REV_INVALID`. */
  resolve(id: SandboxId, name: string, options?: CallOptions): Promise<Revision>;

  /** Computes an apply or merge without changing anything. @throws `UNBORN_HEAD`, `MERGE_IN_PROGRESS`, `MERGE_ARG_NOT_ALLOWED`. */
  plan(id: SandboxId, request: PlanRequest, options?: ProgressOptions): Promise<IntegrationPlan>;
  /**
   * Carries a plan out: journalled, all or nothing or git's own conflict state. Never loses an uncommitted edit. What lands are commits of
   * the person's: their author and committer, signed as they have set it, each milestone one, with the sandbox named in a trailer.
   *
   * @throws LitterboxError `HEAD_MOVED`, `DIRTY_WORKTREE`, `USER_REPO_LOCKED`, `MERGE_IN_PROGRESS`.
   */
  execute(
    plan: IntegrationPlan,
    options: ProgressOptions & { readonly autostash: boolean },
  ): Promise<IntegrationResult>;
  /** True when the user's HEAD contains the sandbox's work: its tip was merged, or its changes are all there. */
  isMerged(id: SandboxId, options?: CallOptions): Promise<boolean>;

  /** Appends a revision whose tree is that of `revision` (history stays linear); `undefined` when the tip has it already. */
  restore(
    id: SandboxId,
    revision: ObjectId,
    message: RevisionMessage,
    options?: CallOptions,
  ): Promise<Revision | undefined>;
  /** What `exportTree` would write, fixed here, and what of it can run code here: of everything that HEAD has otherwise. */
  planExport(id: SandboxId, options?: CallOptions): Promise<ExportPlan>;
  /**
   * Writes the review branch's tree, for people to look into: plain files, no `.git`, links as text files. They lie outside of the work
   * tree, where no program finds them that looks through it; `.litterbox/worktrees/<slug>` leads there.
   */
  exportTree(
    id: SandboxId,
    options?: CallOptions & { /** Of a plan. @defaultValue the review branch's now */ readonly tree?: ObjectId },
  ): Promise<{ readonly directory: string; readonly files: number }>;
  /** Ends the sandbox's history: refs, review branch, exported tree. Objects stay reachable under a tombstone for 30 days. Idempotent. */
  remove(id: SandboxId, options?: CallOptions): Promise<void>;

  /** Finishes or undoes what a killed process left half-done here. Cheap when there is nothing. Returns what it did, one sentence each. */
  reconcile(options?: CallOptions): Promise<readonly string[]>;
}
