import type { ResourceUsage } from '@litterbox/core/provider';

/** Shell text that tells how many processes there are, and memory and time of the control groups of either version. */
export const USAGE = `lb_n=0; for lb_p in /proc/[0-9]*; do lb_n=$((lb_n+1)); done; echo "p $lb_n"
cd /sys/fs/cgroup
for lb_f in memory.current memory/memory.usage_in_bytes; do read -r lb_n <$lb_f && echo "m $lb_n"; done
read -r lb_n <cpuacct/cpuacct.usage && echo "n $lb_n"
read -r lb_w lb_n <cpu.stat && echo "u $lb_n"
exit 0`;

/** Reads the output of {@link USAGE}. */
export function usageOf(output: string): ResourceUsage {
  const of = (letter: string) => {
    const [, digits] = new RegExp(`^${letter} (\\d{1,15})$`, 'm').exec(output) ?? [];
    return digits === undefined ? undefined : Number(digits);
  };
  const [processes, memoryBytes, nanoseconds, microseconds] = [of('p'), of('m'), of('n'), of('u')];
  const cpuMs = nanoseconds === undefined ? microseconds && microseconds / 1e3 : nanoseconds / 1e6;
  return {
    ...(processes !== undefined && { processes }),
    ...(memoryBytes !== undefined && { memoryBytes }),
    ...(cpuMs !== undefined && { cpuMs: Math.round(cpuMs) }),
  };
}
