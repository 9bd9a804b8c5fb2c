import { quoted } from '@litterbox/core/provider';
import type { TreeKind } from './tree-kind.ts';

/** Prefix of a directory that is being made or removed and never listed. */
export const UNFINISHED = '.unfinished-';

/** Where a machine has no locks, what is this old is of a program that died. */
const ABANDONED_MINUTES = 24 * 60;

/** Shell text: makes directories of the provider's own, with those above them, mode 0700; those that are there stay as they are. */
export function ensureDirectories(paths: readonly string[]): string {
  const areThere = paths.map((path) => `[ -d ${quoted(path)} ]`).join(' && ');
  return `{ ${areThere}; } || ( umask 077; mkdir -p ${paths.map(quoted).join(' ')} )`;
}

/**
 * Shell text: makes the directory `parent/name` and goes there; a lock on it, which the kernel frees with the last process that
 * the shell leaves it to, tells that somebody is at work. Between making and locking the parent is locked, against sweeps.
 * A machine without `flock`, such as a container of an image that lacks it, has no locks: there the age tells.
 */
export function makeUnfinished(parent: string, name: string, kind?: TreeKind): string {
  return `lb_flock() { ! command -v flock >/dev/null 2>&1 || flock "$@"; }
exec 8<${quoted(parent)} && lb_flock -s 8 && ${kind?.make ?? 'mkdir'} ${quoted(`${parent}/${name}`)} && cd ${quoted(`${parent}/${name}`)} && exec 9<. && lb_flock 9 && exec 8<&-`;
}

/** Directories of longer paths are moved up before they are removed: so many names of 255 bytes are shorter than a path may be. */
const MAX_LEVELS = 12;

/**
 * Shell text of a function `remove_tree`: removes a tree whose directories may lack write permission, which an ordinary user needs; links are not followed.
 * Again and again for some seconds: a directory shows what is in it only then, and a program that is just ending may still make a file.
 * BusyBox's `rm` reaches no deeper than a path, and an agent nests directories deeper with ease: what is
 * deep is moved up there. Nowhere else: between a look and a move a program that still runs could put a link in the way.
 *
 * @param kinds the kinds of trees that may be there
 */
export function removeTree(kinds: readonly TreeKind[] = []): string {
  const unlock = kinds.flatMap((kind) => kind.unlock ?? []);
  return `remove_tree() {
[ -e "$1" ] || [ -h "$1" ] || return 0
${kinds.map(({ release }) => `${release}\n`).join('')}lb_try=0
until rm -rf "$1" 2>/dev/null; do
lb_try=$((lb_try+1))
[ $lb_try -lt 50 ] || { rm -rf "$1"; return; }
${unlock.map((text) => `[ $lb_try -gt 1 ] || [ -h "$1" ] || ${text}\n`).join('')}find -P "$1" -type d ! -perm -u+rwx -exec chmod u+rwx {} + 2>/dev/null
lb_lifted=
case $(rm --help 2>&1) in
BusyBox*) lb_lifted=$(find -P "$1" -mindepth ${MAX_LEVELS} -maxdepth ${MAX_LEVELS} -type d -exec sh -c 'n=0; for d; do n=$((n+1)); mv -T "$d" "$0/lifted-$$-$n" && echo 1; done' "$1" {} + 2>/dev/null | head -n 1) ;;
esac
if [ "$lb_lifted" ]; then lb_try=1; elif [ $lb_try -ge 5 ]; then sleep 0.1; fi
done
}
`;
}

/** Shell text, after {@link removeTree}: removes what killed programs left unfinished in the directory. */
export function sweepUnfinished(parent: string): string {
  return `lb_left=
for d in ${quoted(parent)}/${UNFINISHED}*; do [ ! -d "$d" ] || lb_left=1; done
if [ "$lb_left" ]; then (
lb_locks=; ! command -v flock >/dev/null 2>&1 || lb_locks=1
exec 8<${quoted(parent)} && { [ ! "$lb_locks" ] || flock -w 10 8 || flock -n 8; } || exit 0
for d in ${quoted(parent)}/${UNFINISHED}*; do
[ -d "$d" ] && [ ! -h "$d" ] || continue
if [ "$lb_locks" ]; then ( flock -n 9 && remove_tree "$d" ) 9<"$d" || :
elif [ "$(find "$d" -maxdepth 0 -mmin +${ABANDONED_MINUTES})" ]; then remove_tree "$d"; fi
done
) 2>/dev/null; fi`;
}
