import { existsSync, realpathSync } from 'node:fs';
import { relative } from 'node:path';
import { isLitterboxError } from '@litterbox/core';
import type { Context } from './context.ts';
import { repositoryRoot } from './repository-root.ts';

/**
 * Starts something in the directory of the workspace that the person is in, as a command of theirs would start there: in a repository of
 * many packages that decides which one is meant. Where the sandbox does not have that directory it starts at the top, and says so.
 *
 * @param start called with the directory, relative to the workspace; once more without one when there is none of that name
 */
export async function inPlace<Result>(
  { directory, talk }: Context,
  cwd: string | undefined,
  start: (cwd: string | undefined) => Promise<Result>,
): Promise<Result> {
  const place = cwd === undefined ? placeBelowTop(directory) : undefined;
  if (place === undefined) return await start(cwd);
  try {
    return await start(place);
  } catch (error) {
    // Nothing has run yet: it is looked for first.
    if (!isLitterboxError(error, 'NOT_FOUND') || !error.message.startsWith('There is no directory')) throw error;
    talk.notice(`The sandbox has no ${place}: starting at the top of the workspace.`);
    return await start(undefined);
  }
}

/** Where a directory lies in the repository that holds it; nothing at its top, and outside of any. */
function placeBelowTop(directory: string): string | undefined {
  if (!existsSync(directory)) return undefined;
  const real = realpathSync(directory);
  const top = repositoryRoot(real);
  return top === undefined ? undefined : relative(top, real) || undefined;
}
