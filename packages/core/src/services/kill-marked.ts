import type { ExecChannel } from '../channel/exec-channel.ts';
import { CALL_VARIABLE, KILL_FUNCTION } from '../channel/kill-tree.ts';

const SWEEP_TIMEOUT_MS = 10_000;

/** Counts the processes that carry the call's mark. Builtins alone. */
const COUNT = `n=0
for d in /proc/[0-9]*; do
{ while IFS= read -r e || [ "$e" ]; do case $e in *${CALL_VARIABLE}=$1*) n=$((n+1)); break;; esac; done <$d/environ; } 2>/dev/null
done
exit $((n > 100 ? 100 : n))`;

/** How many processes a call left behind, up to 100; none when the sandbox does not answer. */
export async function countMarked(channel: ExecChannel, callId: string): Promise<number> {
  const { exit, interruption } = await channel.run({ argv: [callId], script: COUNT, timeoutMs: SWEEP_TIMEOUT_MS });
  return interruption ? 0 : exit.code;
}

/** Ends the orphans that a call left behind: those with its mark, and those that shed theirs. */
export async function killMarked(channel: ExecChannel, callId: string): Promise<void> {
  await channel.run({
    argv: [callId],
    script: `${KILL_FUNCTION}lb_kill none "$1"`,
    timeoutMs: SWEEP_TIMEOUT_MS,
  });
}

/** Every process that says it belongs to a service, and what such processes start meanwhile. Builtins alone. */
const KILL_SERVICES = `n=0 more=1
while [ $more = 1 ] && [ $n -lt 50 ]; do
more=0 n=$((n+1))
for d in /proc/[0-9]*; do
{ while IFS= read -r e || [ "$e" ]; do case $e in *LITTERBOX_SERVICE=*) kill -KILL \${d#/proc/} && more=1; break;; esac; done <$d/environ; } 2>/dev/null
done
done`;

/** Ends the services of a keeper that was killed. */
export async function killServices(channel: ExecChannel): Promise<void> {
  await channel.run({ argv: ['sweep'], script: KILL_SERVICES, timeoutMs: SWEEP_TIMEOUT_MS });
}
