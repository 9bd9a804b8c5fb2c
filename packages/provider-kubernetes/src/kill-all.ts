import type { CallOptions } from '@litterbox/core/provider';
import type { ExecEngine } from '@litterbox/sandbox-kit';

/** Shell text that ends all processes but the first and itself, without starting any; again, because one may be forking. */
const KILL_ALL = `lb_n=0 lb_more=1
while [ "$lb_more" ] && [ $lb_n -lt 50 ]; do
lb_n=$((lb_n+1)) lb_more=
for lb_p in /proc/[0-9]*; do
lb_p=\${lb_p#/proc/}
[ $lb_p = 1 ] || [ $lb_p = $$ ] || { kill -KILL $lb_p && lb_more=1; } 2>/dev/null
done
done`;

/** Ends all programs of a container but the first. It is a shell's own work: where no more processes are to be had, it goes on all the same. */
export async function killAll(engine: ExecEngine, options?: CallOptions): Promise<void> {
  const killer = await engine.start(
    { script: () => KILL_ALL, environment: [], hasTerminal: false, hasStdin: false },
    options,
  );
  for await (const _chunk of killer.output); // until it has ended
  killer.destroy();
}
