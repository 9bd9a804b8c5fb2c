import { quoted, type ProcessSpec } from '@litterbox/core/provider';
import { encodedScript } from '@litterbox/sandbox-kit';
import { FAR_PATH } from './far-path.ts';
import type { ConnectionTimeouts } from './connection-timeouts.ts';

/** Command line for any login shell: an `sh` that takes one line from stdin, byte by byte, and leaves the rest of it to what the line starts. */
export const WAITING_SHELL = `exec /bin/sh -c 'IFS= read -r lb && eval "$lb"'`;

/** Words that the tools print for errno are the same everywhere in this locale. */
const ENVIRONMENT = `lb_path=$PATH PATH=${FAR_PATH} LC_ALL=C; export PATH LC_ALL`;

/** Shell text: a marker on stdout, and one on stderr. */
const tell = (nonce: string, word: string) => `printf '\\036${nonce} %s\\n' ${word}; printf '\\036${nonce} -\\n' >&2`;

/**
 * Command line for any login shell: the watch of one connection. It keeps `directory`, in which every program of the connection notes its number and
 * the time of its start. It ends their process groups when the connection ends, and when it has heard nothing for too long: a second after their
 * stdin has, in which they may clear up. By lines on stdin it is told: `b`, which it answers with `b`; `k SIGNAL NUMBER`, to send a signal to a group; `f NUMBER`, to forget one.
 *
 * A group is ended unless another process has its number by now: a leader that is gone leaves the number to its group.
 *
 * @param directory absolute path that does not exist yet, with a name that nobody can guess
 */
export function watchCommand(directory: string, nonce: string, patience: ConnectionTimeouts): string {
  const { farLookSeconds, farSilenceSeconds } = patience;
  const script = `${ENVIRONMENT}
umask 077
lb_dir=${quoted(directory)} lb_beat=0
cd / && mkdir -- "$lb_dir" && echo 0 >"$lb_dir/beat" || exit 1
lb_each() {
lb_left=
for lb_file in "$lb_dir"/[0-9]*; do
read -r lb_started <"$lb_file" || continue
lb_group=\${lb_file##*/}
if read -r lb_told <"/proc/$lb_group/stat"; then
set -- "$1" \${lb_told##*) }
[ "\${21}" = "$lb_started" ] || continue
fi
! kill -s "$1" -- "-$lb_group" || lb_left=1
done
}
lb_end() {
lb_each 0
[ ! "$lb_left" ] || { sleep 1; lb_each KILL; }
rm -rf -- "$lb_dir"
}
(
lb_last= lb_silent=0
while sleep ${farLookSeconds}; do
read -r lb_now <"$lb_dir/beat" || exit
if [ "$lb_now" != "$lb_last" ]; then lb_last=$lb_now lb_silent=0; continue; fi
lb_silent=$((lb_silent + ${farLookSeconds}))
[ $lb_silent -ge ${farSilenceSeconds} ] || continue
kill -s KILL $$
lb_end
exit
done
) </dev/null >/dev/null 2>&1 &
trap '' HUP PIPE
${tell(nonce, 'watching')}
exec 2>/dev/null
while read -r lb_word lb_first lb_second; do
case $lb_word in
b) lb_beat=$((lb_beat + 1)); echo $lb_beat >"$lb_dir/beat"; echo b ;;
k) kill -s "$lb_first" -- "-$lb_second" ;;
f) rm -f -- "$lb_dir/$lb_first" ;;
esac
done
lb_end
kill $!`;
  return `exec /bin/sh -c 'eval ${encodedScript(script)}'`;
}

/**
 * One line for a {@link WAITING_SHELL}, which leads a group of its own, is noted with the watch and runs `body`. Before that it tells its number behind
 * a marker on stdout, and one on stderr. What comes before them is the login shell's.
 *
 * @param nonce unguessable text of letters and digits
 * @param body shell text, with {@link begins} in it; `lb_no WORD` says why it does not begin
 */
export function startLine(directory: string, nonce: string, body: string): string {
  const script = `${ENVIRONMENT}
lb_no() { ${tell(nonce, '"$1"')}; exit 0; }
read -r lb_told </proc/$$/stat
set -- \${lb_told##*) }
[ "$3" = $$ ] || exec setsid /bin/sh -c "$lb_script"
{ echo "\${20}" >${quoted(directory)}/$$; } 2>/dev/null || lb_no gone
${body}`;
  return `lb_script=${encodedScript(script)}; eval "$lb_script"\n`;
}

/** Shell text for {@link startLine}: says that what was asked for begins. */
export const begins = (nonce: string): string => tell(nonce, '$$');

/**
 * Shell text for {@link startLine}: becomes the program. It says by a word what keeps it from that: `cwd` and `cwd-denied` of the directory, `missing`
 * and `denied` of the program.
 */
export function programBody(
  spec: ProcessSpec & { readonly env: Readonly<Record<string, string>> },
  nonce: string,
): string {
  const [program] = spec.argv;
  const cwd = quoted(spec.cwd ?? '/');
  const variables = Object.entries(spec.env).map(([name, value]) => quoted(`${name}=${value}`));
  // `env` takes a program with an equals sign for one more variable.
  const argv = program.includes('=') ? ['/bin/sh', '-c', 'exec "$@"', 'sh', ...spec.argv] : spec.argv;
  const name = quoted(program);
  const find = program.includes('/')
    ? `[ ! -e ${name} ] || lb_found=${name}`
    : `set -f; IFS=:
for lb_entry in $lb_search; do
[ -f "$lb_entry/"${name} ] || continue
lb_found=$lb_entry/${name}
[ ! -x "$lb_found" ] || break
done`;
  return `cd ${cwd} 2>/dev/null || { [ ! -d ${cwd} ] || lb_no cwd-denied; lb_no cwd; }
lb_search=${quoted(spec.env['PATH'] ?? '/usr/bin:/bin')} lb_found=
${find}
[ "$lb_found" ] || lb_no missing
[ -x "$lb_found" ] || lb_no denied
${begins(nonce)}
exec env -i ${[...variables, ...argv.map(quoted)].join(' ')}${spec.stdin === 'pipe' ? '' : ' </dev/null'}`;
}
