import type { ObjectId, SandboxId } from '../../domain/sandbox/ids.ts';
import type { Slug } from '../../domain/sandbox/slug.ts';
import type { CallOptions, ProgressOptions } from '../common/call.ts';
import type { FileChange } from './file-change.ts';
import type { ConflictFile, SettledFile } from './conflict-file.ts';
import type { FilePart, OfferedFile } from './file-part.ts';

/** The state that a sandbox starts from. */
export type BaseSource =
  | { readonly type: 'head' }
  /**
   * Tracked and untracked-not-ignored files as they are now, as a synthetic commit on HEAD. What looks like a secret and is not in HEAD as
   * it is stays out ({@link FoundBase.heldBack}).
   */
  | {
      readonly type: 'worktree';
      /**
       * Paths that a person named, each with what lies below it: their tracked files come as they are, and their new files are left to who
       * brings them. @defaultValue none
       */
      readonly named?: readonly string[];
    }
  /** One commit, named as git names it. Ranges, paths and reflog expressions are refused. */
  | { readonly type: 'ref'; readonly name: string }
  /**
   * These files alone, by their paths from the top, as a synthetic commit. For a repository that is nobody's. The paths are normal: none
   * is below another, and none lies in a `.git`.
   */
  | { readonly type: 'files'; readonly files: ReadonlyMap<string, Uint8Array> };

/** The commit that a sandbox starts from. */
export interface Base {
  readonly commit: ObjectId;
  readonly tree: ObjectId;
  /** Full name of the ref HEAD pointed to then (`refs/heads/main`); absent when detached. */
  readonly headRef?: string;
}

/** Git's facts of a base besides its files. */
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
  /** Files of the work tree that it leaves out because they look like secrets. Absent when there are none, and for other sources. */
  readonly heldBack?: HeldBack;
}

/** A file of the work tree that looks like a secret. */
export interface HeldFile {
  /** From the top of the work tree. */
  readonly path: string;
  /** The kind of secret that it looks like, without an article: `private key`. */
  readonly holds: string;
  /** HEAD has a file there, and the base has that one. */
  readonly isTracked: boolean;
}

/** Files that a base does without. */
export interface HeldBack {
  /** At most twenty, sorted by path. */
  readonly files: readonly HeldFile[];
  readonly total: number;
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
  /** SHA-256 of the content, in 64 hexadecimal digits. */
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Whether the content is on this machine, and may be in a sandbox that begins there. */
  readonly isHere: boolean;
  /** The content in the history of the sandbox whose milestone made the pointer. Absent where git-lfs of the person has it. */
  readonly recorded?: ObjectId;
}

/** How a work tree differs from what it was. */
export interface WorkTreeDrift {
  /** Files and links that are others, new or gone; 0: it is what it was. */
  readonly total: number;
  /** The first hundred of them, in the order of their names. */
  readonly paths: readonly string[];
  /** All that are gone, or have become something else than a file or a link. */
  readonly gone: readonly { readonly path: string; readonly type: 'file' | 'symlink' }[];
}

/** The wanted part of a tree. */
export interface TreeOptions extends CallOptions {
  /** Only these files and links, without the directories above them. */
  readonly paths?: ReadonlySet<string>;
  /** Only what differs from another tree, with the directories above it and above what is not there any more, and `paths` besides. When that tree is gone, everything. */
  readonly unlike?: ObjectId;
  /** Submodules whose files are in it too, each as the commit that it is recorded with. Those that miss something are left out. @defaultValue none */
  readonly submodules?: readonly SubmoduleState[];
  /** Files of Git LFS whose contents are in it instead of their pointers. Those that are not here are left as they are. @defaultValue none */
  readonly largeFiles?: readonly LargeFileState[];
  /** Only these files, with the directories above them, each with a time of its own in nanoseconds since 1970. */
  readonly times?: ReadonlyMap<string, bigint>;
  /** Modification time of every entry, in seconds since 1970. @defaultValue 2000-01-01, for all trees alike */
  readonly timeSeconds?: number;
}

/** A file whose change runs code on the person's machine, or may deceive a person (security.md, 6.1.5). */
export interface RiskyChange {
  readonly path: string;
  /** One clause: `runs when a folder is opened in VS Code`. */
  readonly reasons: readonly string[];
}

/** The files that an export of the review branch would write. */
export interface ExportPlan {
  readonly tree: ObjectId;
  /** Number of the last revision that is in it. */
  readonly revision: number;
  readonly risky: readonly RiskyChange[];
}

/** The two ways to take work in: into index and work tree, or as git merges a branch. */
export type Integration = 'apply' | 'merge';

/** A file that the sandbox renamed, of which an apply of some paths takes one name alone. */
export interface HalfRename {
  readonly from: string;
  readonly to: string;
  /** `to`: the file is there under both names then. `from`: under none. */
  readonly taken: 'from' | 'to';
}

/** The effect of an apply or merge, computed without doing it. */
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
  /** Files that commits of the merge have and the last of them has not: the history gets them, and no diff shows them. Absent when there are none. */
  readonly passing?: readonly string[];
  /** For an apply of some paths. Absent when there are none. */
  readonly halfRenames?: readonly HalfRename[];
  /** Files with uncommitted edits that the result would touch. */
  readonly dirtyOverlap: readonly string[];
  /** Files that are in the work tree as the result of an apply has them. They are left as they are, and are not in `changes`. Absent when there are none. */
  readonly already?: readonly string[];
  /** True when HEAD already contains everything, or for an apply the work tree does. */
  readonly upToDate: boolean;
  /**
   * Commits of the sandbox's base that HEAD does not have, because it began on another branch or the person rewrote this one. They are not
   * brought along: only the sandbox's own changes are. Absent when there are none.
   */
  readonly unmergedBase?: { readonly commits: number /** Where HEAD pointed then. */; readonly headRef?: string };
  /** Revisions that the review branch is without, because they came after the last milestone. 0 where there is no milestone. */
  readonly unmilestoned: number;
  /** The words of the commits that a merge makes, oldest first. Agents wrote them, unless the person named others: hostile. */
  readonly messages: readonly string[];
  /** Settings of the person's repository that `git merge` would follow and this does not. Absent when there are none. */
  readonly notFollowed?: {
    /** Names of their hooks. */
    readonly hooks: readonly string[];
    /** The branch's options of merging, where one of them is not let through. */
    readonly mergeOptions?: string;
  };
  /** An opaque value for `execute`. */
  readonly token: unknown;
}

/** Which way to take the work in, and how. */
export interface PlanRequest {
  readonly integration: Integration;
  /** git-merge arguments of the allow-list (security.md, B68), already split. */
  readonly arguments: readonly string[];
  readonly message?: string;
  /** For an apply: these files and directories alone. Absent, and no `parts`: all that the sandbox changed. */
  readonly paths?: readonly string[];
  /** For an apply, besides `paths`: some changes of a file, where {@link PersonsRepository.offered} is there. */
  readonly parts?: readonly FilePart[];
  /** For an apply: it becomes a commit of the person's at once, with that message. What else they have staged stays as it is. @throws `UNSUPPORTED` where the adapter cannot */
  readonly commit?: boolean;
  /** Files in conflict as the person settled them, where {@link PersonsRepository.conflict} is there. */
  readonly settled?: readonly SettledFile[];
}

/** Two works that cannot both be merged without somebody settling it. */
export interface ForecastConflict {
  readonly sandbox: SandboxId;
  /** Absent where it is with HEAD. */
  readonly other?: SandboxId;
  /** The files in which they conflict. */
  readonly paths: readonly string[];
}

/** The conflicts that are to be expected, as far as they were looked for. */
export interface Forecast {
  /** Those with HEAD first. */
  readonly conflicts: readonly ForecastConflict[];
  /** How many pairs of sandboxes were not tried, because they were too many or the time was over. */
  readonly untried: number;
  /** Sandboxes that were not tried with HEAD, because the time was over. Absent when there are none. */
  readonly unknown?: readonly SandboxId[];
}

/** How long a forecast may take. */
export interface ForecastOptions extends CallOptions {
  /** Gives the conflicts that are known, and those that can be found in about that time. @defaultValue everything is tried, known or not */
  readonly budgetMs?: number;
}

/** The effect of an apply or merge. */
export interface IntegrationResult {
  /** `committed`: HEAD moved. `staged`: `--squash`, or apply: the changes are in index and work tree, for the person to commit. `conflicts`: left as git leaves them. */
  readonly outcome: 'committed' | 'staged' | 'conflicts' | 'up-to-date';
  readonly commit?: ObjectId;
  readonly conflicts: readonly string[];
}

/**
 * The person's repository: where a sandbox begins, and where its work is taken in. It knows HEAD, base, uncommitted changes, submodules and
 * large files, and it plans and carries out an apply, a merge and an export.
 *
 * What a second system would implement, and all of it: an adapter for jj has this port alone. Its repository keeps its objects in git's
 * format, so {@link SandboxHistories} stays the git adapter's, and such an adapter reads the work of a sandbox there, by id.
 * It never runs a tool in, nor extracts to disk, a tree that an agent wrote, before a person applies, merges or exports.
 */
export interface PersonsRepository {
  /** Absolute real path of the work tree's root. */
  readonly root: string;

  /** False for the one that `SourceControl.openOwn` gives: nothing is taken into it. */
  readonly isPersons: boolean;

  /** @throws LitterboxError `UNBORN_HEAD`, `REV_INVALID`, `REV_NOT_FOUND`, `REV_NOT_COMMIT`, `REV_AMBIGUOUS`, `OBJECT_MISSING`. */
  base(source: BaseSource, options?: ProgressOptions): Promise<FoundBase>;

  /** What git tells of a base: names and numbers alone, nothing of its history. What cannot be told is left out. */
  describe(base: Pick<Base, 'commit'>, options?: CallOptions): Promise<BaseDescription>;

  /** Work-tree changes that base `head` leaves out: at most `limit` paths and the number of all. */
  leftOut(limit: number, options?: CallOptions): Promise<{ readonly paths: readonly string[]; readonly total: number }>;

  /**
   * How the work tree differs by now from a tree that `base` made of it: tracked files and new ones that are not ignored, by their
   * contents. A file that was changed and put back does not differ. Looks at what the file system tells of each file, and reads those alone
   * that have other times or sizes than the last time.
   *
   * @throws LitterboxError `UNSUPPORTED` when git was told not to look at some files (`skip-worktree`, `assume-unchanged`): nobody would
   *   notice a change of theirs
   */
  drift(tree: ObjectId, options?: CallOptions): Promise<WorkTreeDrift>;

  /** Whether a commit is one of the work tree as it was, which the person never made. */
  isUncommitted(commit: ObjectId, options?: CallOptions): Promise<boolean>;

  /**
   * Files of the work tree that are ignored and in which something stands that looks like a secret, and what links with names of secrets
   * lead to. Directories of dependencies are not looked into: what is in there came from elsewhere.
   */
  ignoredSecrets(options?: CallOptions): Promise<readonly string[]>;

  /** A tree as `WorkspaceSource.open` describes it. Bytes exactly as stored: no filters, no attributes, no line-ending conversion. */
  tree(tree: ObjectId, options?: TreeOptions): ReadableStream<Uint8Array>;

  /**
   * The submodules of a tree that `.gitmodules` names, and whether their objects are here: in the person's own copies of them, nothing is
   * fetched, and no configuration of theirs is read. Names and paths in the tree may be anybody's.
   */
  submodules(tree: ObjectId, options?: CallOptions): Promise<readonly SubmoduleState[]>;

  /**
   * The files of Git LFS in a tree, and whether their contents are here: nothing is fetched, and no filter runs. A pointer that neither the
   * person committed nor a milestone made is one whose content is not here, whatever there is on this machine.
   *
   * @param base the tree, and the commit that a sandbox with it begins at
   */
  largeFiles(base: Pick<Base, 'commit' | 'tree'>, options?: CallOptions): Promise<readonly LargeFileState[]>;

  /**
   * Of other trees, the one that differs least from this one; undefined when none is near, or known any more. Absent where the adapter
   * cannot tell.
   */
  nearestTree?(tree: ObjectId, candidates: readonly ObjectId[], options?: CallOptions): Promise<ObjectId | undefined>;
  /**
   * What makes another tree into this one when it is laid over it: as {@link tree}, of what differs and the directories above it. What the
   * other one has and this one has not is a character device without a number. Present with {@link nearestTree}.
   */
  treeOver?(tree: ObjectId, below: ObjectId, options?: CallOptions): ReadableStream<Uint8Array>;

  /** The ids of the contents of those files and links of a tree whose paths are wanted: equal ids mean equal contents. */
  contentIds(
    tree: ObjectId,
    isWanted: (path: string) => boolean,
    options?: CallOptions,
  ): Promise<ReadonlyMap<string, ObjectId>>;

  /**
   * The files of a tree that are newer in the person's working tree than a moment, with the time that they have there, in nanoseconds since
   * 1970; undefined for a file that is another one there, or is not there. Links count as files.
   */
  workTimes(
    tree: ObjectId,
    sinceSeconds: number,
    options?: CallOptions,
  ): Promise<ReadonlyMap<string, bigint | undefined>>;

  /** Computes an apply or merge without changing anything. @throws `UNBORN_HEAD`, `MERGE_IN_PROGRESS`, `MERGE_ARG_NOT_ALLOWED`; `NOT_FOUND` for a path at which nothing changed, `CHANGED_SINCE_SHOWN` for parts and settled conflicts that are not there as they were seen. */
  plan(id: SandboxId, request: PlanRequest, options?: ProgressOptions): Promise<IntegrationPlan>;

  /** The files of a planned apply, as a person can take them change by change. Absent where the adapter takes whole files alone. */
  offered?(plan: IntegrationPlan, options?: CallOptions): AsyncIterable<OfferedFile>;

  /**
   * One file in conflict, with both sides of it, for somebody who settles it before anything is taken in. Absent where the adapter leaves
   * conflicts in the work tree alone.
   *
   * @throws LitterboxError `NOT_FOUND` for a path that does not conflict
   */
  conflict?(plan: IntegrationPlan, path: string, options?: CallOptions): Promise<ConflictFile>;

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

  /**
   * Tries the merges that are to come, and changes nothing: of each sandbox with HEAD, and of each two that changed the same paths. What a
   * workspace holds that is not recorded does not count, and a sandbox without a history is passed over.
   *
   * @throws LitterboxError `UNBORN_HEAD`
   */
  forecast(ids: readonly SandboxId[], options?: ForecastOptions): Promise<Forecast>;

  /** True when the user's HEAD contains the sandbox's work: its tip was merged, or its changes are all there. */
  isMerged(id: SandboxId, options?: CallOptions): Promise<boolean>;

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
}
