import { isLitterboxError, LitterboxError, type LitterboxErrorCode } from '@litterbox/core/provider';
import { GitFailure, oneLine } from './git-failure.ts';

const CODES: Readonly<Record<string, LitterboxErrorCode>> = {
  ENOENT: 'NOT_FOUND',
  EACCES: 'PERMISSION_DENIED',
  EPERM: 'PERMISSION_DENIED',
  ENOSPC: 'DISK_FULL',
  EDQUOT: 'DISK_FULL',
  EMFILE: 'RESOURCE_EXHAUSTED',
  ENFILE: 'RESOURCE_EXHAUSTED',
  ENOMEM: 'RESOURCE_EXHAUSTED',
  EAGAIN: 'RESOURCE_EXHAUSTED',
  EIO: 'STORE_CORRUPT',
  EROFS: 'PERMISSION_DENIED',
};

/** How git says, in the C locale, that another one works there or has died. */
const LOCKED = /Unable to create '(.+\.lock)': File exists/;

const BUG = 'This is a bug in Litterbox: please report it with what you did.';
const HINTS: Partial<Record<LitterboxErrorCode, string>> = {
  NOT_FOUND: 'It may have been removed: try again.',
  PERMISSION_DENIED: 'Look at who owns it and who may write it, with ls -la.',
  DISK_FULL: 'Make room, and try again.',
  RESOURCE_EXHAUSTED: 'End other programs, or raise the limits of the session (ulimit -a), and try again.',
  STORE_CORRUPT: 'Look at the disk and at the state directory with git fsck.',
  REPO_CORRUPT: 'Look at the repository with git status and git fsck.',
};

/**
 * The only place that knows how Node and git spell failure. `gitCode` is what a failed git means in this operation.
 * The reason of an aborted call passes through as it is.
 */
export function toLitterboxError(
  operation: string,
  cause: unknown,
  options?: { readonly signal?: AbortSignal | undefined; readonly gitCode?: LitterboxErrorCode },
): unknown {
  if (options?.signal?.aborted) return options.signal.reason;
  if (isLitterboxError(cause)) return cause;
  if (cause instanceof GitFailure) {
    const [, lock] = LOCKED.exec(cause.stderr) ?? [];
    if (lock !== undefined)
      return new LitterboxError(
        'USER_REPO_LOCKED',
        `The repository is locked by ${lock}.`,
        {
          operation,
          hint: 'Wait for the git that runs there. If none does, remove the file yourself.',
          facts: { path: lock },
        },
        { cause },
      );
    // strerror(ENOSPC) in the C locale: git has no status for it.
    const code = cause.stderr.includes('No space left on device') ? 'DISK_FULL' : (options?.gitCode ?? 'INTERNAL');
    return new LitterboxError(code, `${oneLine(cause.message)}.`, { operation, hint: HINTS[code] ?? BUG }, { cause });
  }
  const errno = (cause as NodeJS.ErrnoException | undefined)?.code ?? '';
  const message = cause instanceof Error ? cause.message : String(cause);
  const code = CODES[errno] ?? 'INTERNAL';
  return new LitterboxError(code, message, { operation, hint: HINTS[code] ?? BUG }, { cause });
}
