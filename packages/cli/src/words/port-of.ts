import { LitterboxError } from '@litterbox/core';

/** The option `--port` of a command that serves. Nothing for a free one. @throws LitterboxError `INVALID_ARGUMENT` */
export function portOf(verb: string, given: unknown): number | undefined {
  if (given === undefined) return undefined;
  const port = Number(given);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new LitterboxError('INVALID_ARGUMENT', `--port: got ${JSON.stringify(given)}, want a number from 1 to 65535.`, {
    operation: `cli.${verb}`,
    hint: 'Leave it out for a free one.',
  });
}
