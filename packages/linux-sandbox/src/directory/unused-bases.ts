import { quoted } from '@litterbox/core/provider';
import type { DirectoryLayout } from './directory-layout.ts';
import { ARTEFACT_PREFIX } from './artefact-prefix.ts';
import { UNFINISHED } from './unfinished.ts';

/** How many base trees are kept that no sandbox stands on: the next sandbox most likely begins with one of them. */
export const KEPT_BASES = 3;

/** Who has just made a layer of what comes along is about to stand on it. */
const YOUNG_MINUTES = 10;

/**
 * Shell text: takes away base trees that no sandbox and no snapshot stands on, but for the {@link KEPT_BASES} newest, and in the same way
 * layers of what came along, but for the newest one while there are sandboxes, and those of a moment ago. Of trees with files that nobody
 * committed, which have keys of an odd number of digits, none is kept. They get the name of something unfinished, and the next sweep of `bases` removes them.
 *
 * What a tree is called by is its content, in descriptions too; trees of two kinds with the same content go and stay together.
 *
 * Who makes a sandbox locks the directory of sandboxes shared, looks for its base behind that lock, and then holds a lock on what is
 * unfinished until the description is there. So nothing is taken away while somebody is at work, and nowhere without locks.
 */
export function setUnusedBasesAside({
  root,
  bases,
  sandboxes,
}: Pick<DirectoryLayout, 'root' | 'bases' | 'sandboxes'>): string {
  const metas = [`${quoted(sandboxes)}/*/meta.json`, `${quoted(`${root}/snapshots`)}/*/meta.json`].join(' ');
  return `(
command -v flock >/dev/null 2>&1 && cd ${quoted(bases)} && set -- * && [ $# -gt 1 ] || exit 0
exec 8<${quoted(sandboxes)} && flock -w 10 8 || exit 0
for lb_d in ${quoted(sandboxes)}/${UNFINISHED}*; do
[ ! -d "$lb_d" ] || ( flock -n 9 ) 9<"$lb_d" || exit 0
done
lb_used=$(cat ${metas})
lb_n=0
lb_layers=0
[ "$lb_used" ] || lb_layers=1
for lb_d in $(ls -tc); do
lb_key=\${lb_d%%.*}
case $lb_key in *[!0-9a-f-]*) continue ;; esac
case $lb_used in *"\\"$lb_key\\""*) continue ;; esac
case $lb_key in ${ARTEFACT_PREFIX}*)
lb_layers=$((lb_layers+1))
[ $lb_layers -le 1 ] || [ "$(find "$lb_d" -maxdepth 0 -mmin -${YOUNG_MINUTES})" ] || mv -T "$lb_d" ${UNFINISHED}"$lb_d"
continue ;;
esac
lb_tree=\${lb_key%%-*}
[ $((\${#lb_tree}%2)) = 0 ] || { mv -T "$lb_d" ${UNFINISHED}"$lb_d"; continue; }
lb_n=$((lb_n+1))
[ $lb_n -le ${KEPT_BASES} ] || mv -T "$lb_d" ${UNFINISHED}"$lb_d"
done
) 2>/dev/null`;
}
