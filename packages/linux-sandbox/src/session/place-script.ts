import { quoted } from '@litterbox/core/provider';
import { factFilesScript, uidMapScript } from '../kernel/kernel-facts.ts';
import { openLowPorts } from './open-low-ports.ts';
import { NOTE_FACTS } from './note-facts.ts';

export interface PlaceScriptInput {
  /** The sandbox's directory on the host. */
  readonly directory: string;
  /** Shell text that starts the first process and stays until it has ended. */
  readonly start: string;
  /** Shell text that thaws all processes. */
  readonly thaw: string;
  /** Shell text that ends and removes what is left. */
  readonly clean: string;
}

/**
 * The shell text of a session's supervisor, for a place of whatever kind. One per sandbox: it holds `alive.lock` as long as its
 * session lives, and ends the session when the last client is gone (clients hold `clients.lock` shared; the kernel lets go when one
 * is killed), when `stop.fifo` is written to, or when the first process ends.
 *
 * It talks NUL-terminated words on stdout: `alive` (another session lives), `error TEXT`, or `facts` and what the kernel says about
 * the first process; then it waits for `go` and what is to be known of it before anyone may use the session, says `running`, and is silent from there on.
 *
 * When it is killed, what it started may live on until the last client has gone or the next session starts: both clean first.
 */
// No redirection on a special builtin such as `:` below: when it fails, a POSIX shell exits there and then. The `:` after what is started
// keeps a shell around it that holds `ended` open: a last command is given the shell itself.
export function placeScript({ directory, start, thaw, clean }: PlaceScriptInput): string {
  const lastClient = `read -r a b c parent rest </proc/$PPID/stat
if [ "$parent" = "$0" ]; then
echo >dying
( ${thaw}
)
kill -9 "$1"
for f in io/*.exit; do [ -p "$f" ] && true 1<>"$f"; done
exit
fi
true 1<>stop.fifo
exec 7>>start.lock 6>>alive.lock
flock 7 && flock -n 6 && {
${clean}
}`;
  return `fail() { printf 'error %s\\0' "$1"; exit 1; }
clean() { (
${clean}
) >/dev/null 2>&1; }
thaw() { (
${thaw}
) >/dev/null 2>&1; }
cd ${quoted(directory)} || fail 'the directory of the sandbox is gone'
umask 022
exec 7>>start.lock 6>>alive.lock
flock -w 60 7 || fail 'another process has been starting this sandbox for a minute'
if [ -e dying ]; then flock -w 20 6 || fail 'the session before this one does not end'; rm -f dying
else flock -n 6 || { printf 'alive\\0'; exit 0; }; fi
clean 6>&- 7>&- || fail 'what the session before this one left cannot be ended'
rm -f io/* ended errors
mkfifo -m 666 io/control io/ready ended || fail 'cannot make pipes'
( ( exec 8>&- sh -c ${quoted(start)}
) 0</dev/null 1>/dev/null 2>errors; : ) 6>&- 7>&- 8>ended &
B=$!
( read -r rest <ended; echo dead >io/ready ) 6>&- 7>&- &
watcher=$!
read -r word inner fds <>io/ready
[ "$word" = ready ] || { clean; wait $B; printf 'error its first process ended: '; head -c 4096 errors; printf '\\0'; exit 1; }
kill $watcher
# Breadth first below what was started: process 1 of the namespace, and the first process, which may be the same.
F= init= list=$B
while [ -z "$init" ] && [ "$list" ]; do
next=
for p in $list; do
number=
while read -r key rest; do [ "$key" = NSpid: ] && number=\${rest##*[!0-9]}; done </proc/$p/status
[ -z "$F" ] && [ "$number" = 1 ] && F=$p
[ "$F" ] && [ "$number" = "$inner" ] && init=$p
next="$next $(cat /proc/$p/task/*/children)"
done
list=\${next## }
list=\${list%% }
case $list in *[0-9]*) ;; *) list= ;; esac
done 2>/dev/null
# As long as it is open here, no other namespace of processes has its number: with the last process of this one its first has ended.
[ -z "$F" ] || exec 5</proc/$F/ns/pid
end() { thaw; [ ! /proc/$F/ns/pid -ef /proc/self/fd/5 ] || kill -9 $F; }
[ "$init" ] || { end; clean; fail 'its first process is in no namespace of its own'; }
# Of an ordinary user, its network may belong to nobody who is here: then that is for who starts it.
${openLowPorts('$F')} 2>/dev/null
printf 'facts\\0pid\\0%s\\0supervisor\\0%s\\0' "$init" $$
printf 'descriptors\\0%s\\0' "$fds"
printf 'files\\0'; ${factFilesScript('$F', '$init')}; printf '\\0'
${uidMapScript('$init', false)}
printf 'namespaces\\0'; readlink /proc/$init/ns/user /proc/$init/ns/pid /proc/$init/ns/net /proc/$init/ns/ipc /proc/$init/ns/uts /proc/$init/ns/cgroup /proc/$init/ns/mnt; printf '\\0'
printf 'environment\\0'; head -c 65536 /proc/$F/environ | tr '\\0' '\\n'; printf '\\0end\\0'
answer=
read -r answer kept
[ "$answer" = go ] || { end; wait; clean; exit 1; }
${NOTE_FACTS} || { printf 'unwritable\\0'; end; wait; clean; exit 1; }
printf 'running\\0'
exec 0</dev/null 1>/dev/null 2>&1 7>&-
flock -x clients.lock sh -c ${quoted(lastClient)} $$ $F 6>&- &
W1=$!
( read -r word <stop.fifo; read -r a b c parent rest </proc/self/stat; [ "$parent" = $$ ] || exit; echo >dying; end ) 6>&- &
W2=$!
wait $B
echo >dying
kill -9 $W1 $W2
# Who waited for it was told that it had ended, which it may have said itself.
end
wait
for f in io/*.exit; do [ -p "$f" ] && true 1<>"$f"; done
clean`;
}
