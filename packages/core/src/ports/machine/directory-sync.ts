import type { CallOptions } from '../common/call.ts';
import type { Host } from './host.ts';

/** A directory of a host. */
export interface HostDirectory {
  readonly host: Host;
  /** Absolute, no NUL. Text as in `domain/text/raw-text.ts`. No other program may replace the directory itself or one above it. */
  readonly path: string;
}

/** The paths that a sync leaves alone, and how much it reports. */
export interface SyncOptions extends CallOptions {
  /**
   * Paths relative to both directories, literal, without `.` and `..`: with everything below them they are neither copied
   * nor changed nor removed. @defaultValue none
   */
  readonly exclude?: readonly string[];
  /**
   * Paths as those of `exclude`: they and everything below them are made equal, and nothing else is copied, changed or removed. Directories
   * above them are made where they are not there. @defaultValue everything
   */
  readonly only?: readonly string[];
  /** How many names are told at most; what is counted is counted all the same. @defaultValue 10,000 */
  readonly maxTold?: number;
}

/** The effect of a sync. Paths are relative to the directories, text as in `domain/text/raw-text.ts`, in no order. */
export interface SyncReport {
  /** Paths that are new, or have another type, content, mode or link target now. */
  readonly changed: readonly string[];
  /** Paths that are gone; a directory that went stands for everything in it. */
  readonly removed: readonly string[];
  /** How many there were of each, also of those that are not told. */
  readonly changedCount: number;
  readonly removedCount: number;
}

/**
 * Makes a directory on one host equal to a directory on another: files with content and permission bits, directories, also empty
 * ones, and symbolic links as they are. What has another owner there keeps none: all belongs to the user of the target's host.
 * Pipes, sockets and devices are left out, bits beyond 0o777 too. Whatever is in either directory is hostile.
 *
 * - No link is followed, of neither side: nothing outside of `source` is read, nothing outside of `target` is changed.
 * - Contents decide, not sizes and times. What is equal is not written; a second call tells nothing.
 * - A file has its old or its new content at every moment, under its name. What lies half-written under another name when a
 *   call ends early is removed by that call or the next.
 * - A call that fails or is aborted leaves a mixture of old and new, and the next one finishes. When it rejects nothing of it runs
 *   any more on a host that can still be reached.
 * - The source may change meanwhile: then the target has what was read, and the next call brings the rest.
 * - Nobody else may write into the target meanwhile; two calls for one target are for the caller to keep apart.
 * - Memory is bounded in the number of names told and in the size of files. Cost is that of reading all contents on both sides.
 */
export interface DirectorySync {
  /**
   * @param target made with its parents when it is not there
   * @throws LitterboxError `NOT_FOUND` without `source`; `NOT_A_DIRECTORY` when either is something else, links included;
   *   `INVALID_ARGUMENT` for a path that is not one, when one is in the other, and for an empty `only`; `TOOL_MISSING`; `PERMISSION_DENIED` or `CONFLICT`
   *   when a part of it could not be brought; `DISK_FULL`; `UNAVAILABLE` when a host cannot be reached or says nothing for a minute.
   */
  sync(source: HostDirectory, target: HostDirectory, options?: SyncOptions): Promise<SyncReport>;
}
