import { LitterboxError } from './errors.ts';

/**
 * Lets the number of a port through, 1 to 65535.
 *
 * @throws LitterboxError `INVALID_ARGUMENT` for anything else.
 */
export function assertPort(operation: string, port: number): void {
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return;
  throw new LitterboxError('INVALID_ARGUMENT', `port: got ${port}, want a whole number, 1 to 65535.`, { operation });
}
