import { isAbsolute } from 'node:path';
import { LitterboxError } from '@litterbox/core';

/** Tells where the person is; nothing where that directory was removed. Then this program goes to the root, so that it can start others. */
export function currentDirectory(): string | undefined {
  try {
    return process.cwd();
  } catch {
    process.chdir('/');
    return undefined;
  }
}

/**
 * The directory that a command is about.
 *
 * @param named by `-C`
 * @throws LitterboxError `NOT_FOUND` where the person's own is gone, and they named no other
 */
export function directoryOf(current: string | undefined, named: string | undefined): string {
  if (named !== undefined && (current !== undefined || isAbsolute(named))) return named;
  if (current !== undefined) return current;
  throw new LitterboxError('NOT_FOUND', 'The directory that you are in was removed.', {
    operation: 'cli.start',
    hint: 'Go to another one with cd, or name one: litterbox -C /absolute/directory COMMAND.',
  });
}
