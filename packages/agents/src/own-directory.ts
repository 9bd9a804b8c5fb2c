import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAME = /^litterbox-(?:seat|trial)-(\d+)-\w+$/;

/**
 * A directory for this process and its owner alone. What processes that were killed left of theirs goes first.
 *
 * @param parent that of temporary files
 */
export async function ownDirectory(kind: 'seat' | 'trial', parent = tmpdir()): Promise<string> {
  for (const name of await readdir(parent)) {
    const [, pid] = NAME.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    // Somebody else's stays: it cannot be removed by us, and need not be.
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => {});
  }
  return await mkdtemp(join(parent, `litterbox-${kind}-${process.pid}-`));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
