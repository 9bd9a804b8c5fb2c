import { type HostFacts, quoted } from '@litterbox/core/provider';
import { CAN_MAKE_DISKS } from '@litterbox/linux-sandbox';
import { PROGRAM_PACKAGES } from './machine-checks.ts';
import { SYSTEM_LIBRARIES } from './tool-directories.ts';

/** Absolute paths of files of ours to look for on the way. */
export interface LookedFor {
  readonly filter: string;
  readonly program: string;
}

const SAY = `say() { printf '%s %s\\0' "$1" "$2"; }`;

/**
 * Shell text of a function: whether this user can make groups below one of version 2 that limit memory, processes and processors.
 * The kernel hands nothing on from a group that holds processes itself.
 */
const CAN_DIVIDE = `can_divide() {
[ -w "$1/cgroup.procs" ] && [ -w "$1/cgroup.subtree_control" ] || return 1
for c in memory pids cpu; do
case " $(cat "$1/cgroup.subtree_control") " in *" $c "*) continue;; esac
case " $(cat "$1/cgroup.controllers") " in *" $c "*) ;; *) return 1;; esac
[ -z "$(cat "$1/cgroup.procs")" ] || return 1
done
}`;

/** Shell text of a function: tells of the groups that this user can divide, from one upwards, by its path in the hierarchy. */
const WRITABLE_ABOVE = `writable_above() {
own=$1
while [ "$own" ] && [ "$own" != / ]; do can_divide "/sys/fs/cgroup$own" && { say cgroup-writable "/sys/fs/cgroup$own"; writable=yes; }; own=\${own%/*}; done
}`;

/**
 * Shell text: a login has no groups of its own, and the user's session manager has. It is asked for a scope, and what can be divided is looked at
 * from in there.
 */
function scopeScript(uid: number): string {
  const look = `${SAY}\n${CAN_DIVIDE}\n${WRITABLE_ABOVE}\nwhile read -r line; do case $line in 0::*) writable_above "\${line#0::}";; esac; done </proc/self/cgroup`;
  return `[ "$writable" ] || [ ! -S /run/user/${uid}/bus ] || {
${ownScope(uid).map(quoted).join(' ')} sh -c ${quoted(look)} && say scope yes
} 2>/dev/null`;
}

/**
 * What starts a program in control groups of its own for a user of systemd.
 *
 * @see https://www.freedesktop.org/software/systemd/man/latest/systemd-run.html
 */
export function ownScope(uid: number): readonly [string, ...string[]] {
  const options = ['--user', '--scope', '--quiet', '--collect', '--description=litterbox', '--property=Delegate=yes'];
  return ['env', `XDG_RUNTIME_DIR=/run/user/${uid}`, 'systemd-run', ...options, '--'];
}

/**
 * Shell text: directories of PATH by their real paths, links in them with their targets, and what lies beside a `bin`. Names with a line
 * feed would pass for two, and then no link is believed.
 */
function linksScript(searchPath: readonly string[]): string {
  return `parts() { for n; do [ -d "$x/$n" ] && [ ! -L "$x/$n" ] && say part "$x/$n"; done; }
beside() {
case $1 in */bin) x=\${1%/bin};; *) return;; esac
parts lib libexec jre
[ -d "$x/include/node" ] && parts include
[ -f "$x/lib/modules" ] && parts conf
[ -f "$x/bin/m2.conf" ] && parts boot conf
[ -d "$x/src/runtime" ] && parts src pkg
}
set --
note() { [ -L "$l" ] && [ -f "$l" ] && [ -x "$l" ]; }
for d in ${searchPath.map(quoted).join(' ')}; do
cd -P -- "$d" 2>/dev/null || continue
say path "$d
$PWD"
case $PWD/ in /usr/*|/bin/*|/sbin/*|*/node_modules/.bin/) continue;; esac
beside "$PWD"
for l in "$PWD"/*; do note && [ $# -lt 2000 ] && set -- "$@" "$l"; done
done
cd /
for d in ${SYSTEM_LIBRARIES.join(' ')}; do [ -d $d ] && [ ! -L $d ] && say library $d; done
IFS='
'
for d in /opt/*/; do
[ -d "$d" ] || break
for l in $(find /usr/bin /usr/local/bin -maxdepth 1 -type l -lname '/opt/*' 2>/dev/null); do note && set -- "$@" "$l"; done
break
done
targets= n=0
[ $# = 0 ] || targets=$(readlink -f -- "$@")
set -f
for t in $targets; do n=$((n+1)); done
[ $n = $# ] || set --
[ $# = 0 ] || for t in $targets; do
say link "$1
$t"
shift
beside "\${t%/*}"
x=\${t%/bin/*}
[ "$x" != "$t" ] && [ -f "$x/pyvenv.cfg" ] || continue
say environment "$x"
p=$(readlink -f -- "$x/bin/python3") && say link "$x/bin/python3
$p" && beside "\${p%/*}"
done
set +f
unset IFS`;
}

/** Every program it starts is time before each command of the command line: what the shell can tell itself, it tells. */
export function surveyScript({ searchPath, homeDirectory, uid }: HostFacts, { filter, program }: LookedFor): string {
  const readLine = `first_line() { line=; [ ! -r "$1" ] || read -r line <"$1"; }`;
  return `${SAY}
${readLine}
${CAN_DIVIDE}
for tool in ${Object.keys(PROGRAM_PACKAGES).join(' ')}; do command -v $tool >/dev/null || say missing $tool; done
say bwrap "$(bwrap --version 2>/dev/null)"
[ -u "$(command -v bwrap)" ] && say bwrap-setuid yes
say find "$(find --version 2>/dev/null)"
first_line /proc/sys/user/max_user_namespaces
say userns "$line"
first_line /proc/sys/kernel/apparmor_restrict_unprivileged_userns
say apparmor "$line"
${CAN_MAKE_DISKS} && say disks yes
[ -f ${quoted(filter)} ] && say filter yes
say program "$(stat -c '%a %u %s %F' ${quoted(program)} 2>/dev/null)"
say open-files "$(ulimit -Hn)"
say cgroup-mounts "$(grep cgroup /proc/self/mounts)"
groups= own=
while read -r line; do
groups="$groups$line
"
case $line in 0::*) own=\${line#0::};; esac
done </proc/self/cgroup
say cgroup-own "$groups"
first_line /sys/fs/cgroup/cgroup.controllers
say controllers "$line"
writable=
for d in /sys/fs/cgroup/*/litterbox-user-${uid}; do [ -w "$d/cgroup.procs" ] && { say cgroup-writable "$d"; writable=yes; }; done
${WRITABLE_ABOVE}
writable_above "$own"
${uid === 0 ? '' : scopeScript(uid)}
${linksScript(searchPath)}
for d in .pyenv .nvm .rbenv .cargo .rustup .volta .asdf .sdkman .deno .bun .local/share/mise .local/share/pnpm; do [ -d ${quoted(homeDirectory)}/$d ] && say tool-root ${quoted(homeDirectory)}/$d; done
find /bin /sbin /lib /lib32 /lib64 /libx32 -maxdepth 0 \\( -type l -printf 'root-link %f %l\\0' -o -type d -printf 'root-directory %f\\0' \\) 2>/dev/null
:`;
}
