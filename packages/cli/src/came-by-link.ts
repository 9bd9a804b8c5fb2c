import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * Whether the person names a directory by a path with a link in it. Inside a sandbox that path leads nowhere: the workspace has the
 * real one.
 *
 * @param shellDirectory where the person's shell says it is, which keeps links
 */
export function cameByLink(directory: string, shellDirectory: string | undefined): boolean {
  try {
    const real = realpathSync(directory);
    if (resolve(directory) !== real) return true;
    return shellDirectory !== undefined && shellDirectory !== real && realpathSync(shellDirectory) === real;
  } catch {
    return false;
  }
}
