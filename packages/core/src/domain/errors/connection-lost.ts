import { isLitterboxError, LitterboxError, type LitterboxErrorDetails } from './errors.ts';

/**
 * The error for a program whose machine or engine cannot be asked any more: `UNAVAILABLE`, with the fact `isWayLost`. Nobody knows what became of
 * the program, and so it has no outcome. A program that was ended has one, whoever ended it.
 */
export function connectionLost(
  message: string,
  details: LitterboxErrorDetails,
  options?: ErrorOptions,
): LitterboxError {
  const { facts, ...rest } = details;
  return new LitterboxError('UNAVAILABLE', message, { ...rest, facts: { ...facts, isWayLost: true } }, options);
}

/** Whether an error is one of {@link connectionLost}. */
export function isConnectionLost(error: unknown): error is LitterboxError {
  return isLitterboxError(error, 'UNAVAILABLE') && error.details.facts?.['isWayLost'] === true;
}
