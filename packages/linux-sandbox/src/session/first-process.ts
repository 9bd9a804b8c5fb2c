import { KILL_FUNCTION, INSIDE } from '@litterbox/core/provider';

/**
 * The first process of a sandbox: a POSIX shell that starts what the host asks for through a FIFO and reaps it. Its words:
 * `run ID` starts `ID.cmd` in a subshell; `kill PID CALL` and `signal PID NAME` are done without a fork.
 *
 * A signal goes to the whole group of a process, which it leads where the sandbox has `setsid`; under a terminal it leads none. (busybox does
 * not know `--`, dash needs it.)
 *
 * A shell makes what it starts in the background deaf to SIGINT and SIGQUIT; GNU env undoes that where it exists.
 *
 * Agents can write to the FIFO too, and start processes or end their own by it: nothing they could not do anyway.
 */
const FIRST_PROCESS = `${KILL_FUNCTION}
exec 7<>${INSIDE.io}/control
lb_env= lb_setsid=
if env --default-signal=INT,QUIT; then lb_env='env --default-signal=INT,QUIT'; fi
if command -v setsid >/dev/null; then lb_setsid=setsid; fi
lb_fds=
for lb_f in /proc/1/fd/* /proc/self/fd/*; do if [ -h "$lb_f" ]; then lb_fds="$lb_fds $lb_f"; fi; done
read -r lb_first lb_rest </proc/self/stat
echo "ready $lb_first$lb_fds" >${INSIDE.io}/ready
while read -r lb_verb lb_first lb_second <&7; do
case $lb_verb in
run) ( . ${INSIDE.io}/$lb_first.cmd ) 7<&- & ;;
kill) lb_kill "$lb_first" "$lb_second" ;;
signal) kill -s "$lb_second" "-$lb_first" || kill -s "$lb_second" -- "-$lb_first" || kill -s "$lb_second" "$lb_first" ;;
esac
done`;

/**
 * Program and arguments of process 1 of a sandbox. It holds nothing of who started it, waits, and adopts: what is a child of the first process
 * is told from what has left its parent. The first process is a copy of it, not another program to be started.
 */
export const PROCESS_ONE: readonly [string, ...string[]] = [
  '/bin/sh',
  '-c',
  `exec 0</dev/null 1>/dev/null 2>/dev/null
( ${FIRST_PROCESS}
)
:`,
];
