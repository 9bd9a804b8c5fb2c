import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Removes what processes that have died left in a directory. One that runs under a dead one's id only keeps it a while longer.
 *
 * @param madeBy the process that gave the name; nothing for a name that is nobody's
 */
export async function removeDead(directory: string, madeBy: (name: string) => number | undefined): Promise<void> {
  for (const name of await readdir(directory).catch(() => [] as string[])) {
    const pid = madeBy(name);
    if (pid !== undefined && !isRunning(pid)) await rm(join(directory, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
