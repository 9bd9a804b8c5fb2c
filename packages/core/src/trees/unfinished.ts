import { quoted } from '../channel/shell-text.ts';

/** Prefix of a directory that is being made or removed and never listed. */
export const UNFINISHED = '.unfinished-';

/**
 * Shell text: makes the directory `parent/name` and goes there; a lock on it, which the kernel frees with the last process that
 * the shell leaves it to, tells that somebody is at work. Between making and locking the parent is locked, against sweeps.
 */
export function makeUnfinished(parent: string, name: string): string {
  return `exec 8<${quoted(parent)} && flock -s 8 && mkdir ${quoted(`${parent}/${name}`)} && cd ${quoted(`${parent}/${name}`)} && exec 9<. && flock 9 && exec 8<&-`;
}

/**
 * Shell text: removes a tree whose directories may lack write permission, which an ordinary user needs; links are not followed.
 * Again and again for some seconds: a directory shows what is in it only then, and a program that is just ending may still make a file.
 */
export const REMOVE_TREE = `remove_tree() {
lb_try=0
until rm -rf "$1" 2>/dev/null; do
lb_try=$((lb_try+1))
[ $lb_try -lt 50 ] || { rm -rf "$1"; return; }
find -P "$1" -type d ! -perm -u+rwx -exec chmod u+rwx {} + 2>/dev/null
[ $lb_try -lt 5 ] || sleep 0.1
done
}
`;

/** Shell text, after {@link REMOVE_TREE}: removes what killed programs left unfinished in the directory. */
export function sweepUnfinished(parent: string): string {
  return `if [ -d ${quoted(parent)} ]; then (
exec 8<${quoted(parent)} && flock -w 10 8 || exit 0
for d in ${quoted(parent)}/${UNFINISHED}*; do
[ -d "$d" ] && [ ! -h "$d" ] || continue
( flock -n 9 && remove_tree "$d" ) 9<"$d" || :
done
) 2>/dev/null; fi`;
}
