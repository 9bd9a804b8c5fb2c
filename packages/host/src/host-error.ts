import { LitterboxError, type LitterboxErrorCode, shown } from '@litterbox/core/provider';

const CODES: Readonly<Record<string, LitterboxErrorCode>> = {
  ENOENT: 'NOT_FOUND',
  ENOTDIR: 'NOT_FOUND',
  EACCES: 'PERMISSION_DENIED',
  EPERM: 'PERMISSION_DENIED',
  EROFS: 'PERMISSION_DENIED',
  EEXIST: 'ALREADY_EXISTS',
  ENOTEMPTY: 'ALREADY_EXISTS',
  ENOSPC: 'DISK_FULL',
  EDQUOT: 'DISK_FULL',
  EMFILE: 'RESOURCE_EXHAUSTED',
  ENFILE: 'RESOURCE_EXHAUSTED',
  ENOMEM: 'RESOURCE_EXHAUSTED',
  EAGAIN: 'RESOURCE_EXHAUSTED',
  ECONNREFUSED: 'UNAVAILABLE',
  ECONNRESET: 'UNAVAILABLE',
  EHOSTUNREACH: 'UNAVAILABLE',
  ENETUNREACH: 'UNAVAILABLE',
};

const HINTS: Readonly<Partial<Record<LitterboxErrorCode, string>>> = {
  DISK_FULL: 'Free some space on that file system, then try again.',
  PERMISSION_DENIED: 'Check who owns it, or run as a user who may.',
  RESOURCE_EXHAUSTED: 'Raise the limit (ulimit -n, ulimit -u, memory) or close other programs, then try again.',
};

/** The only place that knows how Node spells failure on this machine. */
export function hostError(operation: string, place: string, cause: unknown): LitterboxError {
  const errno = (cause as NodeJS.ErrnoException).code ?? '';
  const code = CODES[errno] ?? 'INTERNAL';
  const hint = HINTS[code];
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new LitterboxError(
    code,
    `${operation} ${shown(place)}: ${reason}`,
    { operation, ...(hint && { hint }) },
    { cause },
  );
}
