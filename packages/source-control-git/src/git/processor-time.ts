import { readFileSync } from 'node:fs';

/** Of a clock tick in `/proc/PID/stat`: USER_HZ is 100 on every architecture that Node runs on (proc(5), sysconf(3)). */
const TICK_MS = 10;

/** Milliseconds of processor time that a process has used, read from `/proc`; nothing when it has ended or there is no `/proc`. */
export function processorTimeMs(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name, in parentheses, may hold anything; utime and stime are the 14th and 15th field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return undefined;
  }
}
