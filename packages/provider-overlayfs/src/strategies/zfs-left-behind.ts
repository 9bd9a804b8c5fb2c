import { DISK, MADE_AT } from './zfs-datasets.ts';

/** Where below the provider's directory a directory may have a dataset; `*` names no hidden one. */
const PLACES = [
  'bases/*.zfs',
  ...['bases', 'sandboxes'].map((name) => `${name}/.unfinished-*`),
  ...['sandboxes', 'snapshots', 'setups/zfs'].flatMap((name) =>
    ['*', '.unfinished-*'].map((which) => `${name}/${which}/${DISK}`),
  ),
  ...['sandboxes/*', 'sandboxes/.unfinished-*'].flatMap((name) =>
    [`old-${DISK}`, `restored/${DISK}`, `restored/old-${DISK}`].map((place) => `${name}/${place}`),
  ),
];

/**
 * Shell text, after `ZFS_FUNCTIONS`: a function `lb_tell_left` that tells, in one line, of datasets that were made below the
 * provider's directory `$1`, an absolute path, and that nothing there names: somebody removed them with `rm`. Nothing where there are none. They
 * are looked for twice, since what is being removed meanwhile is named by nothing for a moment.
 */
export const LEFT_BEHIND = `lb_left() {
zfs list -H -d 1 -t filesystem -o name,${MADE_AT} "$lb_above" 2>/dev/null | {
lb_list=$(cat)
lb_named=$(for lb_d in ${PLACES.map((place) => `"$1"/${place}`).join(' ')}; do ! lb_of "$lb_d" || echo "$lb_set"; done)
printf '%s\\n' "$lb_list" | while IFS=$(printf '\\t') read -r lb_name lb_at; do
case $lb_at in "$1"/*) ;; *) continue ;; esac
case $lb_named in *"\${lb_name##*/}"*) ;; *) echo "$lb_name" ;; esac
done
}
}
lb_tell_left() {
lb_in "$1" 2>/dev/null || return 0
lb_above=$lb_parent
lb_first=$(lb_left "$1")
[ ! "$lb_first" ] || lb_first=$(lb_left "$1")
[ "$lb_first" ] || return 0
printf 'datasets below %s without a directory that names them: %s. They were made below %s, where a state directory was removed by hand' "$lb_above" "$(echo "$lb_first" | wc -l)" "$1"
}
`;
