import { closeSync, constants, openSync, statfsSync } from 'node:fs';
import { LitterboxError, type LitterboxErrorCode, shown, advice, type Hint, step } from '@litterbox/core/provider';

/** Primary result codes. https://www.sqlite.org/rescode.html */
const BUSY = 5;
const LOCKED = 6;
const OUT_OF_MEMORY = 7;
const READ_ONLY = 8;
const INPUT_OUTPUT = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

/** A file system with less room than this is full for our purposes. */
const FULL_BELOW_BYTES = 64 * 1024;

const primaryCodeOf = (error: unknown): number => {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code & 0xff : 0;
};

export const isBusy = (error: unknown): boolean => [BUSY, LOCKED].includes(primaryCodeOf(error));

/** SQLite says FULL for ENOSPC alone; a full file system also shows as an I/O error of the shared-memory file. */
export function isDiskFull(error: unknown, directory: Uint8Array): boolean {
  const code = primaryCodeOf(error);
  if (code === FULL) return true;
  const errno = (error as NodeJS.ErrnoException | null)?.code;
  if (errno === 'ENOSPC' || errno === 'EDQUOT') return true;
  return (code === INPUT_OUTPUT || code === CANNOT_OPEN) && !hasRoom(directory);
}

/** The only place that knows how SQLite, and Node about our files, spell failure. */
export function sqliteError(
  operation: string,
  place: { readonly directory: Uint8Array; readonly path: string },
  cause: unknown,
): LitterboxError {
  if (cause instanceof LitterboxError) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const path = shown(place.path);
  const refuse = (code: LitterboxErrorCode, message: string, hint?: Hint) =>
    new LitterboxError(code, message, { operation, ...(hint && { hint }) }, { cause });
  if (isDiskFull(cause, place.directory)) {
    const free = freeBytes(place.directory);
    return refuse(
      'DISK_FULL',
      `No room to write ${path}: ${free} bytes are free, at least 1 MiB is needed.`,
      advice`Free some space on that file system, or remove sandboxes with ${step('sandbox-delete')}, then try again.`,
    );
  }
  switch (primaryCodeOf(cause)) {
    case BUSY:
    case LOCKED:
      return refuse(
        'BUSY',
        `Another process kept ${path} locked for too long (${reason}).`,
        'Look for a stopped Litterbox process (state T in `ps`) and continue or end it, then try again.',
      );
    case CORRUPT:
    case NOT_A_DATABASE:
      return stateCorrupt(operation, place.path, reason, cause);
    case READ_ONLY:
      return refuse(
        'PERMISSION_DENIED',
        `${path} cannot be written: ${reason}.`,
        'Check its owner and mode, and that its file system is mounted writable.',
      );
    case CANNOT_OPEN:
    case OUT_OF_MEMORY:
      return noDescriptorLeft(place.directory)
        ? refuse(
            'RESOURCE_EXHAUSTED',
            `No file descriptor is left to open ${path}.`,
            'Raise `ulimit -n`, then try again.',
          )
        : refuse(
            'UNAVAILABLE',
            `${path} cannot be opened: ${reason}.`,
            'Check that its directory exists and is yours.',
          );
    case INPUT_OUTPUT:
      return refuse(
        'UNAVAILABLE',
        `Reading or writing ${path} failed: ${reason}.`,
        'Check the disk (`dmesg`); what was not acknowledged was not written.',
      );
    default: {
      const errno = (cause as NodeJS.ErrnoException | null)?.code;
      if (errno === 'EMFILE' || errno === 'ENFILE') {
        return refuse('RESOURCE_EXHAUSTED', `${path}: ${reason}.`, 'Raise `ulimit -n`, then try again.');
      }
      if (errno === 'EACCES' || errno === 'EPERM' || errno === 'EROFS') {
        return refuse('PERMISSION_DENIED', `${path}: ${reason}.`, 'Check its owner and mode.');
      }
      return refuse('INTERNAL', `${operation} ${path}: ${reason}.`);
    }
  }
}

/** What is in the file cannot be what we wrote. The file is left as it is: a person may want to look at it. */
export function stateCorrupt(operation: string, path: string, reason: string, cause?: unknown): LitterboxError {
  return new LitterboxError(
    'STATE_CORRUPT',
    `The state file ${shown(path)} is damaged: ${reason}.`,
    {
      operation,
      hint:
        'Nothing was deleted, and all revisions are safe in the git store. Restore the file from a backup, or move it ' +
        'aside together with its -wal and -shm files and audit.head: Litterbox then starts with an empty one and finds the sandboxes ' +
        'that still run.',
    },
    { cause },
  );
}

/** Some bytes and some inodes; a file system that does not count inodes says 0 of 0. */
function hasRoom(directory: Uint8Array): boolean {
  try {
    const { files, ffree } = statfsSync(Buffer.from(directory));
    return freeBytes(directory) >= FULL_BELOW_BYTES && (files === 0 || ffree > 0);
  } catch {
    return true;
  }
}

function freeBytes(directory: Uint8Array): number {
  try {
    const { bavail, bsize } = statfsSync(Buffer.from(directory));
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY; // cannot be known, so it is not the explanation
  }
}

function noDescriptorLeft(directory: Uint8Array): boolean {
  try {
    // The directory, never the database: closing a descriptor of that file would drop this process's locks on it.
    closeSync(openSync(Buffer.from(directory), constants.O_RDONLY | constants.O_DIRECTORY));
    return false;
  } catch (error) {
    return ['EMFILE', 'ENFILE'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}
