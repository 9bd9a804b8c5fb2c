import { LitterboxError, type LitterboxErrorCode, shown } from '@litterbox/core/provider';

/** What the C library says is the same in every version, in the locale that we give. */
const SAID: readonly (readonly [pattern: RegExp, code: LitterboxErrorCode, hint: string])[] = [
  [/No space left on device|Disk quota exceeded/, 'DISK_FULL', 'Free some space there, then sync again: it goes on.'],
  [/Permission denied|Operation not permitted/, 'PERMISSION_DENIED', 'Make what is named readable and writable.'],
  [/\brsync['’]?: (?:not found|No such file)/, 'TOOL_MISSING', 'Install rsync there: apt-get install rsync.'],
];

/** @param code of rsync @param said what both sides said */
export function syncError(code: number, said: string): LitterboxError {
  const words = said.trim().split('\n').slice(-3).join('; ');
  const [, errorCode, hint] = SAID.find(([pattern]) => pattern.test(said)) ?? other(code);
  return new LitterboxError(
    errorCode,
    `rsync ended with exit code ${code}: ${words === '' ? 'no message' : shown(words)}.`,
    { operation: 'sync', hint },
  );
}

function other(code: number): readonly [unknown, LitterboxErrorCode, string] {
  return code === 23
    ? [undefined, 'CONFLICT', 'The rest was brought. Correct what is named, then sync again.']
    : [undefined, 'UNAVAILABLE', 'Sync again: it goes on where it ended.'];
}
