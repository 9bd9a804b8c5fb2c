import { type Advice, type Hint, stepForPrograms, worded } from './next-step.ts';

const BRAND = Symbol.for('litterbox.error');

/**
 * Every code a {@link LitterboxError} can carry, with the exit status the CLI gives it (design, section 8).
 * Closed: a code is never removed or given another meaning inside a major version; messages may change.
 *
 * 2 usage · 3 not found or exists · 4 refused by policy · 5 runtime unavailable · 6 conflict · 70 bug.
 */
export const ERROR_CODES = {
  // usage
  INVALID_ARGUMENT: 2,
  ARG_TYPE: 2,
  ARG_RANGE: 2,
  ARG_MISSING: 2,
  ARG_UNKNOWN: 2,
  UNKNOWN_COMMAND: 2,
  NEED_TTY: 2,
  NAME_NUL: 2,
  NAME_INVALID: 2,
  NAME_RESERVED: 2,
  COMMAND_EMPTY: 2,
  COMMAND_NUL: 2,
  COMMAND_TOO_LONG: 2,
  MESSAGE_EMPTY: 2,
  MESSAGE_NUL: 2,
  MESSAGE_TOO_LONG: 2,
  MERGE_ARG_NOT_ALLOWED: 2,
  REV_INVALID: 2,
  ENV_NAME: 2,
  ENV_VALUE: 2,
  ENV_RESERVED: 2,
  PATH_EMPTY: 2,
  PATH_NUL: 2,
  PATH_TOO_LONG: 2,
  PATH_ENCODING: 2,
  PATH_OUTSIDE_WORKDIR: 2,
  WORKDIR_FORBIDDEN: 2,
  IS_A_DIRECTORY: 2,
  NOT_A_DIRECTORY: 2,
  NOT_A_REGULAR_FILE: 2,
  FILE_TOO_LARGE: 2,
  PATCH_CORRUPT: 2,
  PATCH_MULTI_FILE: 2,
  PATCH_PATH_MISMATCH: 2,
  PATCH_UNSUPPORTED: 2,
  PATCH_BINARY: 2,
  PATCH_TOO_LARGE: 2,
  EDIT_EMPTY: 2,
  PATTERN_EMPTY: 2,
  PATTERN_INVALID: 2,
  PATTERN_UNSUPPORTED: 2,
  PATTERN_TOO_LONG: 2,
  PATTERN_TOO_COMPLEX: 2,
  GLOB_INVALID: 2,
  CONFIG_SYNTAX: 2,
  CONFIG_ENCODING: 2,
  CONFIG_TOO_LARGE: 2,
  CONFIG_TOO_DEEP: 2,
  CONFIG_TYPE: 2,
  CONFIG_VALUE: 2,
  CONFIG_NAME: 2,
  CONFIG_MISSING: 2,
  CONFIG_UNKNOWN_KEY: 2,
  CONFIG_UNREADABLE: 2,
  PORT_DUPLICATE: 2,
  PORT_ENV_RESERVED: 2,
  NET_RULE_INVALID: 2,
  SSH_HOST_INVALID: 2,
  SECRET_NAME: 2,
  SECRET_INLINE_FORBIDDEN: 2,
  // not found or exists
  NOT_FOUND: 3,
  ALREADY_EXISTS: 3,
  SANDBOX_NOT_FOUND: 3,
  SANDBOX_EXISTS: 3,
  REV_NOT_FOUND: 3,
  REV_NOT_COMMIT: 3,
  REV_AMBIGUOUS: 3,
  NOT_A_REPO: 3,
  NO_REPOSITORY: 3,
  INSIDE_GIT_DIR: 3,
  BARE_REPO: 3,
  UNBORN_HEAD: 3,
  REPO_MOVED: 3,
  SECRET_NOT_FOUND: 3,
  SERVICE_NOT_FOUND: 3,
  PORT_NOT_FOUND: 3,
  // refused by policy
  CONFIG_UNTRUSTED: 4,
  MOUNT_FORBIDDEN: 4,
  RISKY_CHANGES: 4,
  UNMERGED_WORK: 4,
  SANDBOX_ACTIVE: 4,
  SANDBOX_LIMIT: 4,
  PERMISSION_DENIED: 4,
  PATH_GIT_DIR: 4,
  PATH_HIDDEN: 4,
  PATCH_MODE_FORBIDDEN: 4,
  PATH_SPECIAL_SYMLINK: 4,
  PATH_SUBMODULE_UNSUPPORTED: 4,
  REPO_OWNER: 4,
  DEGRADED: 4,
  SSH_HOSTKEY_UNKNOWN: 4,
  SSH_HOSTKEY_CHANGED: 4,
  // runtime unavailable
  UNAVAILABLE: 5,
  UNSUPPORTED: 5,
  UNSUPPORTED_FS: 5,
  TOOL_MISSING: 5,
  GIT_TOO_OLD: 5,
  SETUP_FAILED: 5,
  SANDBOX_PAUSED: 5,
  SANDBOX_STOPPED: 5,
  SANDBOX_BROKEN: 5,
  SANDBOX_DELETING: 5,
  SANDBOX_RUNTIME_MISSING: 5,
  REMOTE_STATE_LOST: 5,
  RESOURCE_EXHAUSTED: 5,
  DISK_FULL: 5,
  TIMED_OUT: 5,
  CHANNEL_BROKEN: 5,
  STREAM_TRUNCATED: 5,
  PROVIDER_PROTOCOL_ERROR: 5,
  SNAPSHOT_FAILED: 5,
  SERVICE_FAILED: 5,
  STORE_CORRUPT: 5,
  REPO_CORRUPT: 5,
  OBJECT_MISSING: 5,
  STATE_DIR_INVALID: 5,
  STATE_CORRUPT: 5,
  STATE_TOO_NEW: 5,
  AUDIT_UNAVAILABLE: 5,
  AUDIT_TAMPERED: 5,
  DISPOSED: 5,
  // a hostile or broken archive
  TAR_PATH_ESCAPE: 5,
  TAR_ABSOLUTE: 5,
  TAR_TYPE_FORBIDDEN: 5,
  TAR_DUPLICATE: 5,
  TAR_TOO_LARGE: 5,
  TAR_TRUNCATED: 5,
  TAR_NAME_ENCODING: 5,
  // conflict
  CONFLICT: 6,
  CHANGED_SINCE_SHOWN: 6,
  PATCH_CONFLICT: 6,
  EDIT_NOT_FOUND: 6,
  EDIT_AMBIGUOUS: 6,
  BUSY: 6,
  SANDBOX_BUSY: 6,
  HEAD_MOVED: 6,
  LIVE_TREE_CHANGED: 6,
  DIRTY_WORKTREE: 6,
  MERGE_IN_PROGRESS: 6,
  USER_REPO_LOCKED: 6,
  NOTHING_TO_DO: 6,
  PORT_TAKEN: 6,
  // bug
  INTERNAL: 70,
} as const satisfies Record<string, 2 | 3 | 4 | 5 | 6 | 70>;

/** What went wrong, as programs read it: closed, and stable within a major version. */
export type LitterboxErrorCode = keyof typeof ERROR_CODES;

/** Where an error happened, and what to do next. */
export interface LitterboxErrorDetails {
  /** What was being done, noun.verb: `sandbox.create`. */
  readonly operation: string;
  readonly provider?: string;
  /** The next step, as an instruction in words for programs. */
  readonly hint?: string;
  /** The same with its steps as data, where it has some: the command line makes commands of them, a server for agents tool calls. */
  readonly next?: Advice;
  /** Machine-readable facts that belong to the code, such as the conflicting paths. JSON values only. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** Details as they are given: the hint may have steps in it. */
export type GivenDetails = Omit<LitterboxErrorDetails, 'hint'> & { readonly hint?: Hint | undefined };

/** The one error class. Aborting is not one: a call that was aborted rejects with the caller's own reason. */
export class LitterboxError extends Error {
  static {
    Object.defineProperty(this.prototype, 'name', { value: 'LitterboxError' });
  }
  readonly [BRAND] = true;
  readonly code: LitterboxErrorCode;
  readonly details: LitterboxErrorDetails;

  constructor(code: LitterboxErrorCode, message: string, details: GivenDetails, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.details = kept(details);
  }
}

/** Steps are left out where another hint took the place of theirs: details of one error are often spread into those of the next. */
function kept({ hint, next, ...details }: GivenDetails): LitterboxErrorDetails {
  if (hint === undefined) return details;
  if (typeof hint !== 'string') return { ...details, hint: worded(hint, stepForPrograms), next: hint };
  return { ...details, hint, ...(next && worded(next, stepForPrograms) === hint && { next }) };
}

/** Works across duplicate installs of the package, where `instanceof` does not. */
export function isLitterboxError<Code extends LitterboxErrorCode>(
  value: unknown,
  code?: Code,
): value is LitterboxError & { readonly code: Code } {
  return value instanceof Error && BRAND in value && (code === undefined || (value as LitterboxError).code === code);
}
