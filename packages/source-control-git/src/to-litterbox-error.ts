import { isLitterboxError, LitterboxError, type LitterboxErrorCode } from '@litterbox/core/provider';
import { GitFailure } from './git-failure.ts';

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
    // strerror(ENOSPC) in the C locale: git has no status for it.
    const code = cause.stderr.includes('No space left on device') ? 'DISK_FULL' : (options?.gitCode ?? 'INTERNAL');
    return new LitterboxError(code, `${cause.message}.`, { operation }, { cause });
  }
  const errno = (cause as NodeJS.ErrnoException | undefined)?.code ?? '';
  const message = cause instanceof Error ? cause.message : String(cause);
  return new LitterboxError(CODES[errno] ?? 'INTERNAL', message, { operation }, { cause });
}
