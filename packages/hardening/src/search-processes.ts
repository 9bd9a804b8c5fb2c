import { readdirSync, readFileSync } from 'node:fs';
import type { Canary } from './canary.ts';
import { findCanaries } from './find-canaries.ts';

/** Arguments and environments of all processes that this user may look at, but for this process and those that were given secrets. */
export function searchProcesses(canaries: readonly Canary[], given: readonly number[] = []): readonly string[] {
  const found: string[] = [];
  const isLookedAt = (pid: number) => pid !== process.pid && !given.includes(pid);
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isLookedAt(Number(name)))) {
    try {
      const program = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0')[0];
      for (const file of ['cmdline', 'environ'])
        found.push(
          ...findCanaries(canaries, `${file} of process ${pid} (${program})`, readFileSync(`/proc/${pid}/${file}`)),
        );
    } catch {
      // ended, or somebody else's
    }
  }
  return found;
}
