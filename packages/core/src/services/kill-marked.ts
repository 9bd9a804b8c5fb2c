import type { ExecChannel } from '../channel/exec-channel.ts';
import { CALL_VARIABLE } from '../channel/kill-tree.ts';
import { report } from '../channel/worker.ts';

/**
 * Builtins alone, here and below: a fork is what a sandbox may be out of. While the kernel replaces a program by another, its process has a
 * program and no environment, and is looked at again.
 */
const count = (callId: string) => `lb_t=0
while :; do
lb_n=0 lb_u=0
for lb_d in /proc/[0-9]*; do
lb_s=''
{ while IFS= read -r lb_e || [ "$lb_e" ]; do lb_s=1; case $lb_e in *${CALL_VARIABLE}=${callId}*) lb_n=$((lb_n+1)); break;; esac; done <$lb_d/environ; } 2>/dev/null
[ "$lb_s" ] || [ ! -e $lb_d/exe ] || lb_u=1
done
[ $lb_n = 0 ] && [ $lb_u = 1 ] && [ $lb_t -lt 50 ] || break
lb_t=$((lb_t+1))
done
${report('$lb_n')}`;

/** How many processes a call left behind. */
export async function countMarked(channel: ExecChannel, callId: string): Promise<number> {
  const [reported] = await channel.sweep(count(callId));
  return /^\d{1,9}$/.test(reported ?? '') ? Number(reported) : 0;
}

/** Ends the orphans that a call left behind: those with its mark, and those that shed theirs. */
export async function killMarked(channel: ExecChannel, callId: string): Promise<void> {
  await channel.sweep(`lb_kill none ${callId}`);
}

/** Every process that says it belongs to a service, and what such processes start meanwhile. */
const KILL_SERVICES = `lb_n=0 lb_more=1
while [ $lb_more = 1 ] && [ $lb_n -lt 50 ]; do
lb_more=0 lb_n=$((lb_n+1))
for lb_d in /proc/[0-9]*; do
{ while IFS= read -r lb_e || [ "$lb_e" ]; do case $lb_e in *LITTERBOX_SERVICE=*) kill -KILL \${lb_d#/proc/} && lb_more=1; break;; esac; done <$lb_d/environ; } 2>/dev/null
done
done`;

/** Ends the services of a keeper that was killed. */
export async function killServices(channel: ExecChannel): Promise<void> {
  await channel.sweep(KILL_SERVICES);
}
