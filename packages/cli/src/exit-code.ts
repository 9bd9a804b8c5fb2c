import { ERROR_CODES, isLitterboxError } from '@litterbox/core';

/** design.md, section 8. */
export function exitCodeOf(error: unknown): number {
  return isLitterboxError(error) ? ERROR_CODES[error.code] : 70;
}
