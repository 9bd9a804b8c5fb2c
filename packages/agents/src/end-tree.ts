import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** How long a program may take to end when it is asked to. */
const GRACE_MS = 5_000;
const LOOK_AGAIN_MS = 50;

/** Ends a program and the programs that it started at once: a launcher, as npm makes them, does not always pass the signal on. */
export function killTree(pid: number): void {
  for (const one of treeOf(pid)) signalTo(one, 'SIGKILL');
}

/** Asks the same to end, and kills those that did not after five seconds, or `graceMs`. Resolves when all are gone. */
export async function endTree(pid: number, graceMs = GRACE_MS): Promise<void> {
  const tree = treeOf(pid);
  for (const one of tree) signalTo(one, 'SIGTERM');
  const isThere = () => tree.some((one) => signalTo(one, 0));
  for (const limit = performance.now() + graceMs; isThere() && performance.now() < limit; ) await delay(LOOK_AGAIN_MS);
  for (const one of tree) signalTo(one, 'SIGKILL');
}

/** @returns whether there is such a process */
function signalTo(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    return false;
  }
}

function treeOf(pid: number): readonly number[] {
  return [pid, ...childrenOf(pid).flatMap(treeOf)];
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
