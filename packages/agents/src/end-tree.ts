import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Ends a program and the programs that it started: a launcher, as npm makes them, does not always pass the signal on. */
export function endTree(pid: number, signal: NodeJS.Signals = 'SIGTERM'): void {
  const below = childrenOf(pid);
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
  for (const child of below) endTree(child, signal);
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    // It has ended, or this machine has no /proc.
  }
  try {
    const all = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return all.split('\n').flatMap((line) => {
      const [child, parent] = line.trim().split(/\s+/).map(Number);
      return child !== undefined && parent === pid ? [child] : [];
    });
  } catch {
    return []; // the program itself is ended all the same
  }
}
