import {
  CORE_LIMIT_BYTES,
  factFilesScript,
  GIVEN,
  NOTE_FACTS,
  openLowPorts,
  PROCESS_ONE,
  RESERVE_DISK,
  SANDBOX_USER,
  TAKE_GIVEN,
  uidMapScript,
} from '@litterbox/linux-sandbox';
import { quoted } from '@litterbox/core/provider';
import { ARGUMENTS, CLOSED, MASKS, scannerArguments, sandboxArguments } from './bwrap-arguments.ts';
import { cgroupEmpty, cgroupEnter, cgroupSetUp, cgroupThaw } from '../machine/cgroup.ts';
import { detachTrees } from './detach-trees.ts';
import { DISK, mountLayers } from '../layers/disk.ts';
import { FROZEN } from '../layers/fresh-upper.ts';
import { hideOfLive, LIVE, mountLive } from '../layers/live-lower.ts';
import { mountAll } from '../plan/mount-table.ts';
import { ownBoundOf } from './own-bound-of.ts';
import { sessionMounts } from './session-mounts.ts';
import { PROCESSORS, type SupervisorInput } from './supervisor-input.ts';
import { EMPTY_CONTENTS } from '../machine/tool-directories.ts';

/** Timers and queued signals are counted for a user: without this a sandbox of an ordinary user takes those of the person's own programs. */
const FEW_SIGNALS = '--sigpending=1024:1024';

/**
 * Shell text: `$core` is the limit of core files. Who may have none at all cannot be given one byte. Then a crash starts what
 * `core_pattern` names behind a pipe, and nothing in a sandbox may start a program of the machine's root.
 */
const DECIDE_CORE_LIMIT = `core=${CORE_LIMIT_BYTES}
while read -r max what file size soft hard unit; do [ "$max $what" != 'Max core' ] || [ "$hard" != 0 ] || core=0; done </proc/self/limits
pattern=
[ $core != 0 ] || read -r pattern </proc/sys/kernel/core_pattern
case $pattern in '|'*) fail 'the hard limit of core files is 0 here: a crash in the sandbox would start the program of /proc/sys/kernel/core_pattern as root. Raise it (hard core 1 in /etc/security/limits.conf) and log in anew';; esac`;

/** Shell text: what is read in place of files that may hold credentials. */
const MAKE_MASKS = `[ -d ${MASKS} ] || mkdir ${MASKS} || fail 'cannot make ${MASKS}'
${Object.entries({ empty: '', ...EMPTY_CONTENTS })
  .map(([name, text]) => `printf %s ${quoted(text)} >${MASKS}/${name} || fail 'cannot make ${MASKS}/${name}'\n`)
  .join('')}`;

/**
 * The shell text of a session's supervisor. It runs in a mount namespace of its own, so that no mount ever shows up on the
 * machine, and ends with it. One supervisor per sandbox: it holds `alive.lock` as long as its session lives, and ends the
 * session when the last client is gone (clients hold `clients.lock` shared; the kernel lets go when one is killed), when
 * `stop.fifo` is written to, or when the sandbox's first process ends.
 *
 * To be started with namespaces of its own for mounts and for the processes that it starts: the shell that reads the text only starts the
 * supervisor, as process 1 of that namespace, and waits. When the supervisor ends, however that came, the kernel ends whatever is in the
 * namespace, and none of it can do anything against that. The waiting shell holds `alive.lock` too: who gets it knows that all is gone.
 *
 * The first line of its stdin is what sets the environment, as `environmentArguments` makes it.
 *
 * It talks NUL-terminated words on stdout: `alive` (another session lives), `error TEXT`, or `facts` and what the kernel says
 * about the sandbox; then it waits for `go` and what is to be known of it before anyone may use the session, says `running`, and is silent from there on.
 *
 * A workspace that an agent has closed to itself, by its mode, keeps the first process from beginning: it is opened before that is said, for who
 * tries again.
 *
 * When it is killed, the control groups are left for whoever starts, ends or removes the sandbox next: all of them empty the groups first.
 */
// No redirection on a special builtin such as `:` below: when it fails, a POSIX shell exits there and then.
export function supervisorScript(input: SupervisorInput): string {
  const { machine, meta, strategy, directory, live, setup, unwanted, disk, filter, sources, proc, processors } = input;
  const { cgroup, isRoot } = machine;
  const groups = cgroup
    ? {
        setUp: cgroupSetUp(cgroup, meta.id, meta.limits, processors),
        enter: cgroupEnter(cgroup, meta.id),
        thaw: `${cgroupThaw(cgroup, meta.id)} 2>/dev/null`,
        empty: cgroupEmpty(cgroup, meta.id),
      }
    : { setUp: '', enter: '', thaw: ':', empty: ':' };
  const isBounded = meta.limits.diskBytes !== undefined;
  const ownBound = ownBoundOf(strategy, meta);
  const { places, own, mounts, trees, tools } = sessionMounts(input);
  // The layers have to be there before what is mounted of them.
  const isEarly = disk !== undefined || live !== undefined;
  const mountAllOfThem = isEarly
    ? `${mountAll('run.table', [own])}cd /run
${
  disk
    ? mountLayers(
        disk,
        `${SANDBOX_USER.uid}:${SANDBOX_USER.gid}`,
        strategy.layers.map(({ name }) => name).filter((name) => name !== FROZEN),
      )
    : ''
}${live ? `${mountLive(live, isRoot, LIVE)}${hideOfLive(live)}` : ''}${mountAll('session.table', mounts)}${disk ? RESERVE_DISK : ''}`
    : `${mountAll('session.table', [own, ...mounts])}cd /run
`;
  const launch = (args: readonly string[], status: string, errors: string, first = '', more = '') =>
    `exec prlimit ${FEW_SIGNALS} --core=$core:$core ${first}${isRoot ? `setpriv --reuid=${SANDBOX_USER.uid} --regid=${SANDBOX_USER.gid} --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all ` : ''}"$bwrap" ${args.map(quoted).join(' ')} --json-status-fd 8 --seccomp 9 -- ${PROCESS_ONE.map(quoted).join(' ')} ${more}0</dev/null 1>/dev/null 2>${errors} 5<&- 6>&- 7>&- 8>${status} 9<${quoted(filter)}`;
  return `fail() { printf 'error %s\\0' "$1"; exit 1; }
cd ${quoted(directory)} || fail 'the directory of the sandbox is gone'
umask 022
exec 3<&0 5</proc 6>>alive.lock 7>>start.lock
( exec 0<&3 3<&-
${TAKE_GIVEN}mount -t proc proc /proc && read -r pid name state parent rest </proc/self/stat && [ "$pid $parent" = '1 0' ] || fail 'it has no process namespace of its own'
${
  unwanted.length === 0
    ? ''
    : `umount -l ${unwanted.map(quoted).join(' ')} 2>/dev/null
`
}empty() {
rm -f ${PROCESSORS}
${groups.empty}
}
end() { ${groups.thaw}; kill -9 -1; }
died() { ! grep -q "Can't chdir" "$2" || chmod u+rwx ws; printf 'error %s: ' "$1"; cat "$2"; printf '\\0'; end; wait; empty; exit 1; }
bwrap=$(command -v bwrap)
flock -w 60 7 || fail 'another process has been starting this sandbox for a minute'
if [ -e dying ]; then flock -w 20 6 || fail 'the session before this one does not end'; rm -f dying
else flock -n 6 || { printf 'alive\\0'; exit 0; }; fi
left=$(empty 2>&1) || fail "$left"
for place in ${places.map(quoted).join(' ')}; do [ -d "$place" ] || mkdir "$place" || fail "cannot make $place"; done
${strategy.begin ?? ''}${mountAllOfThem}${strategy.attach ?? ''}${ownBound?.attachPlayground ?? ''}${detachTrees(trees, tools, isRoot)}${processors.length === 0 ? '' : `echo ${processors.join()} >${PROCESSORS} || fail 'cannot note its processors'\n`}${groups.setUp}
# Those of the session before are nobody's: what still had them open would share what is said by them.
n=0
until mkfifo -m 666 status scan-status io/control io/ready scan-io/control scan-io/ready 2>/dev/null; do
[ $n -lt 5 ] || fail 'cannot make pipes'
n=$((n+1))
rm -f status scan-status io/* scan-io/*
done
(umask 777; : >${CLOSED}) || fail 'cannot make ${CLOSED}'
${sources.masked.length === 0 ? '' : MAKE_MASKS}${isRoot ? `core=${CORE_LIMIT_BYTES}` : DECIDE_CORE_LIMIT}
printf ${GIVEN} | ( ${groups.enter}ulimit -n ${meta.limits.openFiles} || fail 'cannot limit open files to ${meta.limits.openFiles}'
echo 500 >/proc/self/oom_score_adj
${launch(sandboxArguments(machine, meta, sources, proc), 'status', 'bwrap-errors', processors.length === 0 ? '' : `taskset -c ${processors.join()} `, `${ARGUMENTS}<&0 `)} ) &
B=$!
( ${launch(scannerArguments(machine, strategy.changes, setup !== undefined, proc), 'scan-status', 'scan-errors')} ) &
S=$!
started() {
exec 8<"$1"
line=
read -r line <&8 || { wait $3; died "bubblewrap ended ($?)" "$4"; }
( while read -r rest <&8; do :; done; echo dead >"$2/ready" ) &
watcher=$!
read -r word fds <>"$2/ready"
exec 8<&-
[ "$word" = ready ] || died 'the first process of the sandbox ended' "$4"
kill $watcher
line=\${line#*'"child-pid": '}
first=\${line%%[!0-9]*}
}
started scan-status scan-io $S scan-errors
F2=$first
started status io $B bwrap-errors
F=$first
read -r init rest </proc/$F/task/$F/children
${openLowPorts('$F')} 2>bwrap-errors || died 'its network cannot be prepared' bwrap-errors
# Their numbers on the host, whose /proc that is: of this shell, of what it started first, and below that.
host=/proc/self/fd/5
read -r supervisor rest <$host/self/stat
read -r p rest <$host/thread-self/children
read -r p rest <$host/$p/task/$p/children
read -r p rest <$host/$p/task/$p/children
exec 5<&-
printf 'facts\\0pid\\0%s\\0supervisor\\0%s\\0' "$p" "$supervisor"
printf 'descriptors\\0%s\\0' "$fds"
printf 'files\\0'; ${factFilesScript('$F', '$init')}; printf '\\0'
${isBounded ? `printf 'disk\\0'; grep ' ${DISK} ' /proc/self/mountinfo; ${ownBound?.size ?? `stat -f -c '%b %S' ${DISK}`}; printf '\\0'\n` : ''}${uidMapScript('$init', !isRoot)}
printf 'namespaces\\0'; readlink /proc/$init/ns/user /proc/$init/ns/pid /proc/$init/ns/net /proc/$init/ns/ipc /proc/$init/ns/uts /proc/$init/ns/cgroup /proc/$init/ns/mnt; printf '\\0'
printf 'environment\\0'; tr '\\0' '\\n' </proc/$F/environ; printf '\\0end\\0'
answer=
read -r answer kept
[ "$answer" = go ] || { end; wait; empty; exit 1; }
${NOTE_FACTS} || { printf 'unwritable\\0'; end; wait; empty; exit 1; }
printf 'running\\0'
exec 0</dev/null 1>/dev/null 2>&1 7>&-
flock -x clients.lock sh -c 'echo >dying; ${groups.thaw}; kill -9 -1' 6>&- &
( read -r word <stop.fifo; echo >dying; end ) 6>&- &
trap : HUP TERM
wait $B
echo >dying
end
wait
for f in io/*.exit scan-io/*.exit; do [ -p "$f" ] && true 1<>"$f"; done
empty
) &
exec 0</dev/null 1>/dev/null 2>&1 3<&- 5<&- 7>&-
wait`;
}
