import { LitterboxError } from './errors.ts';

/** @throws LitterboxError `INVALID_ARGUMENT` for what is not the number of a port. */
export function assertPort(operation: string, port: number): void {
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return;
  throw new LitterboxError('INVALID_ARGUMENT', `port: got ${port}, want a whole number, 1 to 65535.`, { operation });
}
