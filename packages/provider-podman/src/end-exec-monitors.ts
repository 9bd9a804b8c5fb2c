import { type Host, quoted } from '@litterbox/core/provider';
import { runScript } from '@litterbox/linux-sandbox';

/**
 * Ends the programs by which Podman attends to commands in a container, one each. Such a program waits for as long as whoever started
 * the command reads none of its output, a client that was stopped for example, and does not hear meanwhile that the command has
 * ended. The kernel lets a container's first process go only when all others are known to have ended.
 *
 * @param container its whole id, which Podman gives the program as an argument
 */
export async function endExecMonitors(host: Host, container: string): Promise<void> {
  const script = `for lb_p in $(grep -la -e ${quoted(container)} /proc/[0-9]*/cmdline 2>/dev/null); do
lb_p=\${lb_p%/cmdline}
[ "$(cat "$lb_p/comm" 2>/dev/null)" = conmon ] && grep -qa -e --exec-attach "$lb_p/cmdline" && kill -KILL "\${lb_p#/proc/}"
done`;
  await runScript(host, script);
}
