import { type CallOptions, decodeRaw, type ExecChannel, type ResourceUsage } from '@litterbox/core/provider';
import { ANNOTATIONS, type PodState, timeNote } from './pod-meta.ts';

const MAX_USAGE_BYTES = 2 ** 20;

/** Shell text that tells how many processes there are, and memory and time of the control groups of either version. */
const USAGE = `lb_n=0; for lb_p in /proc/[0-9]*; do lb_n=$((lb_n+1)); done; echo "p $lb_n"
cd /sys/fs/cgroup
for lb_f in memory.current memory/memory.usage_in_bytes; do read -r lb_n <$lb_f && echo "m $lb_n"; done
read -r lb_n <cpuacct/cpuacct.usage && echo "n $lb_n"
read -r lb_w lb_n <cpu.stat && echo "u $lb_n"
exit 0`;

/** Reads the output of {@link USAGE}. */
function usageOf(output: string): ResourceUsage {
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

/** The resources of a pod, and processor time of those before it too. */
export async function podUsage(
  control: ExecChannel,
  { hasClaim, isGone, gone }: PodState,
  options?: CallOptions,
): Promise<ResourceUsage> {
  if (hasClaim && isGone) return { memoryBytes: 0, processes: 0, ...gone };
  const { stdout } = await control.run({ argv: ['-'], script: USAGE, maxOutputBytes: MAX_USAGE_BYTES });
  options?.signal?.throwIfAborted();
  const { cpuMs, ...now } = usageOf(decodeRaw(stdout.bytes));
  return cpuMs === undefined ? now : { ...now, ...gone, cpuMs: cpuMs + (gone.cpuMs ?? 0) };
}

/** Annotations that keep what goes with a pod whose files stay, as nothing counts it any more. */
export async function timeToKeep(
  control: ExecChannel,
  state: PodState,
  options?: CallOptions,
): Promise<Readonly<Record<string, string>>> {
  if (state.isStopped || state.isGone) return {};
  const now = await podUsage(control, state, options).catch(() => undefined);
  options?.signal?.throwIfAborted();
  if (now === undefined) return uncounted(state);
  return now.cpuMs === undefined ? {} : { [ANNOTATIONS.time]: timeNote(now) };
}

/** Annotations after the end of a pod that could not be asked. */
export const uncounted = ({ gone }: PodState): Readonly<Record<string, string>> => ({
  [ANNOTATIONS.time]: timeNote({ ...gone, isCpuLeast: true }),
});
