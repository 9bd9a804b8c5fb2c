import { readdirSync, readFileSync } from 'node:fs';
import type { Canary } from './canary.ts';
import { findCanaries } from './find-canaries.ts';

/** Arguments and environments of all processes that this user may look at, but for this process itself. */
export function searchProcesses(canaries: readonly Canary[]): readonly string[] {
  const found: string[] = [];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
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
