import type { RepositoryId } from '../../domain/sandbox/ids.ts';
import type { Asker, CallOptions, ProgressOptions } from '../common/call.ts';
import type { PersonsRepository } from './persons-repository.ts';
import type { SandboxHistories } from './sandbox-histories.ts';

/** For whom a repository is opened. */
export interface OpenOptions extends CallOptions {
  /**
   * An agent finds no commit but what a branch, a tag or a remote branch holds: no stash, no pseudo-ref, no ref of ours, nothing that was
   * taken back. What it may not have is to it what is not there. @defaultValue person
   */
  readonly asker?: Asker;
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
  /**
   * The repository of sandboxes that begin with files and not from a repository of a person's: one in all, with an empty commit, which the
   * first call makes. Absent where the adapter cannot.
   */
  openOwn?(options?: OpenOptions): Promise<SourceRepository>;
  /**
   * What is left of repositories that were at `path` and are on this machine no more, whatever is there now: histories, to be removed one
   * by one. Absent where the adapter cannot tell.
   */
  left?(path: string, options?: CallOptions): AsyncIterable<Pick<SourceRepository, 'id' | 'remove'>>;
  /** Repositories opened before, by this or another process. */
  list(options?: CallOptions): AsyncIterable<{ readonly id: RepositoryId; readonly root: string }>;
  /**
   * Fetches a repository of the network, which has nothing to do with the person's: no credentials, no hooks. The caller has asked a
   * person. Absent where the adapter cannot.
   *
   * @throws LitterboxError `INVALID_ARGUMENT`, `UNAVAILABLE`, `RESOURCE_EXHAUSTED`, `TIMED_OUT`.
   */
  fetch?(url: string, options?: ProgressOptions): Promise<FetchedRepository>;
}

/**
 * One repository of the person's and the histories of its sandboxes, together: what use cases work with. Who needs one side alone takes
 * {@link PersonsRepository} or {@link SandboxHistories}.
 */
export interface SourceRepository extends PersonsRepository, SandboxHistories, AsyncDisposable {
  readonly id: RepositoryId;

  /** Finishes or undoes what a killed process left half-done here. Cheap when there is nothing. Returns what it did, one sentence each. */
  reconcile(options?: CallOptions): Promise<readonly string[]>;
}
