/** The environment variable by which a command's processes are found again after they left its process tree. */
export const CALL_VARIABLE = 'LITTERBOX_CALL';

/** A process that the kernel holds (a disk that does not answer) is not waited for any longer. */
const MAX_PASSES = 1000;

/**
 * A shell function `lb_kill WORKER CALL` that ends all a call started, without a single fork, so that it works when the
 * sandbox is at its limit of processes. Needs /proc and builtins alone.
 *
 * It stops (SIGSTOP) every process it can attribute, again and again until a pass finds no new one, and then kills them all:
 * what is stopped cannot fork away. Each has to be seen stopped: one that is waiting for a processor in the middle of a fork ends that
 * first, and what it forks has no signal yet. Attributed are the children of the worker shell, all that descends from an attributed
 * process, and orphans (their parent is process 1) that carry the call's mark in their environment or no mark at all:
 * every process of every call starts with a mark, so one without has shed it on purpose.
 * For the worker `none` the mark alone tells, whoever the parent is: an engine starts programs beside process 1.
 */
export const KILL_FUNCTION = `lb_parent() {
lb_pp= lb_z=
{ while read -r lb_k lb_v lb_r; do case $lb_k in State:) lb_z=$lb_v;; PPid:) lb_pp=$lb_v; break;; esac; done <$1/status; } 2>/dev/null
}
read -r lb_init lb_pp </proc/self/stat
while lb_parent /proc/$lb_init; [ "\${lb_pp:-0}" -gt 1 ]; do lb_init=$lb_pp; done
lb_marked() {
lb_m=none
{ while IFS= read -r lb_e || [ "$lb_e" ]; do case $lb_e in *${CALL_VARIABLE}=$2*) lb_m=own; break;; *${CALL_VARIABLE}=*) lb_m=other;; esac; done <$1/environ; } 2>/dev/null
}
lb_kill() {
lb_w=$1 lb_c=$2 lb_seen=' ' lb_more=1 lb_pass=0
while [ $lb_more = 1 ] && [ $lb_pass -lt ${MAX_PASSES} ]; do
lb_more=0 lb_pass=$((lb_pass+1))
for lb_d in /proc/[0-9]*; do
lb_p=\${lb_d#/proc/}
lb_parent $lb_d
case $lb_seen in *" $lb_p "*) case $lb_z in [RSD]) lb_more=1;; esac; continue;; esac
[ "$lb_pp" ] && [ "$lb_z" != Z ] || continue
lb_h=0
if [ "$lb_pp" = "$lb_w" ]; then lb_h=1
else case $lb_seen in *" $lb_pp "*) lb_h=1;; esac
fi
if [ $lb_h = 0 ] && [ "$lb_p" != "$lb_init" ] && { [ "$lb_pp" = 1 ] || [ "$lb_w" = none ]; }; then
lb_marked $lb_d "$lb_c"
case $lb_m$lb_pp in own*|none1) lb_h=1;; esac
fi
if [ $lb_h = 1 ]; then kill -STOP $lb_p; lb_seen="$lb_seen$lb_p "; lb_more=1; fi
done
done 2>/dev/null
for lb_p in $lb_seen; do kill -KILL $lb_p; done 2>/dev/null
}
`;

/**
 * A shell function `lb_signal WORKER CALL NAME` that sends a signal to what a terminal would call the foreground of a call: processes
 * with its mark in the worker's process group. Leaves how many they were in `lb_n`. Needs {@link KILL_FUNCTION}, and forks nothing.
 */
export const SIGNAL_FUNCTION = `lb_group() {
lb_g=
{ read -r lb_e <$1/stat; } 2>/dev/null || return 0
set -- \${lb_e##*) }
lb_g=$3
}
lb_signal() {
lb_n=0
lb_group /proc/$1; lb_wg=$lb_g
for lb_d in /proc/[0-9]*; do
lb_marked $lb_d "$2"
[ $lb_m = own ] || continue
lb_group $lb_d
[ "$lb_g" = "$lb_wg" ] || continue
kill -$3 \${lb_d#/proc/} 2>/dev/null && lb_n=$((lb_n+1))
done
}
`;
