import { type DiskImage, FIRST_PROCESS, quoted, RESERVE_DISK } from '@litterbox/core/provider';
import { scannerArguments, sandboxArguments, type ProcEntries, type SessionSources } from './bwrap-arguments.ts';
import { cgroupEnter, cgroupRemove, cgroupSetUp, cgroupThaw } from './cgroup.ts';
import { DISK, mountLayers } from './disk.ts';
import { HOLD } from './held-session.ts';
import type { Machine } from './machine.ts';
import type { SandboxMeta } from './sandbox-meta.ts';
import type { Strategy } from './strategies/strategy.ts';

/**
 * The host user that sandboxes run as when root starts them: reserved for Litterbox, in no file of accounts, so that it owns
 * nothing else. One for all sandboxes: they share frozen base trees and cannot see each other through any namespace.
 */
export const SANDBOX_UID = 61100;

export interface SupervisorInput {
  readonly machine: Machine;
  readonly meta: SandboxMeta;
  readonly strategy: Strategy;
  readonly directory: string;
  readonly base: string;
  /** Directory of the kept setup that the sandbox stands on. */
  readonly setup?: string;
  readonly playground: string;
  /** Where all that the sandbox writes is; absent where its disk is not bounded. */
  readonly disk?: DiskImage;
  readonly etc: string;
  readonly filter: string;
  readonly sources: SessionSources;
  readonly proc: ProcEntries;
  readonly environment: Readonly<Record<string, string>>;
}

/** Timers and queued signals are counted for a user: without this a sandbox of an ordinary user takes those of the person's own programs. */
const FEW_SIGNALS = 'prlimit --sigpending=1024:1024';

/**
 * The shell text of a session's supervisor. It runs in a mount namespace of its own, so that no mount ever shows up on the
 * machine, and ends with it. One supervisor per sandbox: it holds `alive.lock` as long as its session lives, and ends the
 * session when the last client is gone (clients hold `clients.lock` shared; the kernel lets go when one is killed), when
 * `stop.fifo` is written to, or when the sandbox's first process ends.
 *
 * It talks NUL-terminated words on stdout: `alive` (another session lives), `error TEXT`, or `facts` and what the kernel says
 * about the sandbox; then it waits for `go` before anyone may use the session, says `running`, and is silent from there on.
 *
 * When it is killed the sandbox dies with it. Those that wait for clients and for `stop.fifo` outlive it until the last client has
 * gone: they then signal nobody, as the numbers they know may be others' by now, and remove the groups unless a session lives.
 */
// No redirection on a special builtin such as `:` below: when it fails, a POSIX shell exits there and then.
export function supervisorScript(input: SupervisorInput): string {
  const { machine, meta, strategy, directory, base, setup, playground, disk, etc, filter, sources, proc, environment } =
    input;
  const { cgroup, isRoot } = machine;
  const groups = cgroup
    ? {
        setUp: cgroupSetUp(cgroup, meta.id, meta.limits),
        enter: cgroupEnter(cgroup, meta.id),
        thaw: `${cgroupThaw(cgroup, meta.id)} 2>/dev/null`,
        remove: cgroupRemove(cgroup, meta.id),
      }
    : { setUp: '', enter: '', thaw: ':', remove: '' };
  const launch = (args: readonly string[], status: string, errors: string) =>
    `exec ${FEW_SIGNALS} ${isRoot ? `setpriv --reuid=${SANDBOX_UID} --regid=${SANDBOX_UID} --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all ` : ''}env -i "$bwrap" ${args.map(quoted).join(' ')} --json-status-fd 8 --seccomp 9 -- /bin/sh -c ${quoted(FIRST_PROCESS)} 0</dev/null 1>/dev/null 2>${errors} 6>&- 7>&- 8>${status} 9<${quoted(filter)}`;
  return `fail() { printf 'error %s\\0' "$1"; exit 1; }
died() { printf 'error %s: ' "$1"; cat "$2"; printf '\\0'; kill -9 $B $S 2>/dev/null; ${oneLine(groups.remove)}; exit 1; }
B= S=
bwrap=$(command -v bwrap)
cd ${quoted(directory)} || fail 'the directory of the sandbox is gone'
umask 022
exec 7>>start.lock 6>>alive.lock
flock -w 60 7 || fail 'another process has been starting this sandbox for a minute'
if [ -e dying ]; then flock -w 20 6 || fail 'the session before this one does not end'; rm -f dying
else flock -n 6 || { printf 'alive\\0'; exit 0; }; fi
for f in io/*.* scan-io/*.*; do [ ! -e "$f" ] || { rm -f io/*.* scan-io/*.*; break; }; done
mount --bind . /run || fail 'cannot bind the directory of the sandbox'
cd /run
${
  disk
    ? mountLayers(disk, `${SANDBOX_UID}:${SANDBOX_UID}`)
    : `mount --bind ${quoted(playground)} playground || fail 'cannot bind the playground'
`
}mount --bind ${quoted(etc)} etc || fail 'cannot bind the /etc of the sandbox'
${sources.tools.length > 0 ? `mkdir -p ${sources.tools.map(({ source }) => quoted(source)).join(' ')}\n` : ''}${sources.tools.map(({ source, target }) => `mount --bind ${quoted(target)} ${quoted(source)} || fail ${quoted(`cannot bind ${target}`)}\n`).join('')}${
  meta.root.type === 'directory'
    ? `mount --bind ${quoted(meta.root.path)} root || fail 'cannot bind the root file system'\n`
    : ''
}${strategy.mount(base, isRoot, disk ? DISK : '/run', setup)}${disk ? RESERVE_DISK : ''}${groups.setUp}
[ ! -e status ] && [ ! -e scan-status ] || rm -f status scan-status
mkfifo status scan-status
ulimit -c 0
( ${groups.enter}ulimit -n ${meta.limits.openFiles} || fail 'cannot limit open files to ${meta.limits.openFiles}'
echo 500 >/proc/self/oom_score_adj
${launch(sandboxArguments(machine, meta, sources, proc, environment), 'status', 'bwrap-errors')} ) &
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
printf 'facts\\0pid\\0%s\\0supervisor\\0%s\\0' "$init" $$
printf 'descriptors\\0%s\\0' "$fds"
printf 'files\\0'; head -v -c 262144 /proc/$init/status /proc/$init/limits /proc/$init/cgroup /proc/$init/mountinfo; printf '\\0'
${disk ? `printf 'disk\\0'; grep ' ${DISK} ' /proc/self/mountinfo; stat -f -c '%b %S' ${DISK}; printf '\\0'\n` : ''}printf 'namespaces\\0'; readlink /proc/$init/ns/user /proc/$init/ns/pid /proc/$init/ns/net /proc/$init/ns/ipc /proc/$init/ns/uts /proc/$init/ns/cgroup /proc/$init/ns/mnt; printf '\\0'
printf 'environment\\0'; head -c 65536 /proc/$F/environ | tr '\\0' '\\n'; printf '\\0end\\0'
end() { ${groups.thaw}; kill -9 $F $F2; }
answer=
read -r answer
[ "$answer" = go ] || { end; wait; ${oneLine(groups.remove)}; exit 1; }
printf 'running\\0'
exec 0</dev/null 1>/dev/null 2>&1 7>&-
sh -c '[ ! -e pooled ] || read -r word <>${HOLD}
exec flock -x clients.lock sh -c "$@"' sh 'read -r a b c parent rest </proc/$PPID/stat
if [ "$parent" = "$0" ]; then echo >dying; ${groups.thaw}; kill -9 "$@"; for f in io/*.exit scan-io/*.exit; do [ -p "$f" ] && true 1<>"$f"; done; exit; fi
true 1<>stop.fifo
exec 7>>start.lock 6>>alive.lock
flock 7 && flock -n 6 && { ${oneLine(groups.remove)}; }' $$ $F $F2 6>&- &
W1=$!
( read -r word <stop.fifo; read -r a b c parent rest </proc/self/stat; [ "$parent" = $$ ] || exit; echo >dying; end ) 6>&- &
W2=$!
wait $B
echo >dying
kill -9 $W1 $W2 $F2
wait
for f in io/*.exit scan-io/*.exit; do [ -p "$f" ] && true 1<>"$f"; done
${groups.remove}`;
}

function oneLine(script: string): string {
  return script.trim().replaceAll('\n', '; ') || ':';
}
