import { isLitterboxError, type LitterboxErrorCode } from 'litterbox';

/** A failure as both halves of the protocol say it: a status of HTTP, and a code of Connect. */
export interface Failure {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** The clients take `unavailable` and 502 for a sandbox that is gone. */
const GONE: readonly LitterboxErrorCode[] = [
  'SANDBOX_NOT_FOUND',
  'SANDBOX_PAUSED',
  'SANDBOX_STOPPED',
  'SANDBOX_BROKEN',
  'SANDBOX_DELETING',
  'SANDBOX_RUNTIME_MISSING',
  'CHANNEL_BROKEN',
  'DISPOSED',
];
const KINDS: readonly (readonly [status: number, code: string, codes: readonly LitterboxErrorCode[]])[] = [
  [502, 'unavailable', GONE],
  [404, 'not_found', ['NOT_FOUND', 'REV_NOT_FOUND']],
  [409, 'already_exists', ['ALREADY_EXISTS', 'SANDBOX_EXISTS']],
  [403, 'permission_denied', ['PERMISSION_DENIED', 'PATH_GIT_DIR', 'PATH_HIDDEN', 'CONFIG_UNTRUSTED', 'DEGRADED']],
  [409, 'aborted', ['BUSY', 'SANDBOX_BUSY', 'CONFLICT', 'SANDBOX_ACTIVE']],
  [413, 'resource_exhausted', ['FILE_TOO_LARGE']],
  [507, 'resource_exhausted', ['DISK_FULL']],
  [501, 'unimplemented', ['UNSUPPORTED', 'UNSUPPORTED_FS']],
  [429, 'resource_exhausted', ['SANDBOX_LIMIT', 'RESOURCE_EXHAUSTED']],
  [504, 'deadline_exceeded', ['TIMED_OUT']],
];
/** Codes about the input of a call. */
const OF_INPUT = /^(?:ARG_|ENV_|PATH_|NAME_|COMMAND_|CONFIG_|INVALID_|IS_A_|NOT_A_|NET_RULE_|WORKDIR_)/;

/** Tells an error in the words of the protocol. An unknown one is ours, and is told without its inner words. */
export function failureOf(error: unknown): Failure {
  if (!isLitterboxError(error)) return { status: 500, code: 'internal', message: 'The server failed.' };
  const { hint } = error.details;
  const message = hint === undefined ? error.message : `${error.message} ${hint}`;
  const kind = KINDS.find(([, , codes]) => codes.includes(error.code));
  if (kind) return { status: kind[0], code: kind[1], message };
  if (OF_INPUT.test(error.code)) return { status: 400, code: 'invalid_argument', message };
  return { status: 500, code: 'internal', message };
}
