import type { FileType } from './file-type.ts';

/** One entry of a directory in a workspace. */
export interface DirectoryChild {
  /** Text as in `raw-text.ts`; never empty, `.` or `..`, no slash. */
  readonly name: string;
  readonly type: FileType;
}

/**
 * One path of a workspace that may have changed. Relative to the workspace, components joined by `/`, text as in
 * `raw-text.ts`; the workspace itself is the empty path. Names come from the agent: hostile text, never a path on the host.
 */
export type ChangedPath =
  | {
      readonly type: 'file';
      readonly path: string;
      readonly sizeBytes: number;
      readonly executable: boolean;
      /** The whole content, when who looked had it at hand. Few and small ones only; all others are asked for. */
      readonly content?: Uint8Array;
    }
  | { readonly type: 'symlink'; readonly path: string }
  /** A fifo, socket or device: never recorded. */
  | { readonly type: 'special'; readonly path: string }
  /** A directory whose list of children may have changed, with the whole list as it is now: what is not in it is gone. */
  | { readonly type: 'directory'; readonly path: string; readonly children: readonly DirectoryChild[] }
  /** Could not be looked at, such as a directory without read permission. Recorded as a warning. */
  | { readonly type: 'unreadable'; readonly path: string };
