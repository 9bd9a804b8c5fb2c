/** File in a directory of ours that has a dataset: the dataset's name, the snapshot that it alone needs or `-`, and how large it began, in bytes. */
const MARK = 'dataset';

/** The directory with the dataset, in that of a sandbox, a kept setup and a snapshot. */
export const DISK = 'disk';

/** User property of each dataset: the absolute path at which its directory was made. A directory that is moved leaves it as it is. */
export const MADE_AT = 'litterbox:made-at';

/**
 * What a dataset of ours is, whatever the one above it is: mounted by whom it is for and nobody else, without devices and programs of another
 * user's, shared with no network, and left out by what makes snapshots by itself.
 */
const PROPERTIES = Object.entries({
  mountpoint: 'legacy',
  readonly: 'off',
  exec: 'on',
  devices: 'off',
  setuid: 'off',
  atime: 'off',
  xattr: 'sa',
  acltype: 'posixacl',
  snapdir: 'hidden',
  sharenfs: 'off',
  sharesmb: 'off',
  'com.sun:auto-snapshot': 'false',
})
  .map(([name, value]) => `-o ${name}=${value}`)
  .join(' ');

/** What only a new file system can be told; its clones are the same. */
const FOREVER = '-o casesensitivity=sensitive -o utf8only=off -o normalization=none';

/** Shell text, after {@link ZFS_FUNCTIONS} and one of them that succeeded, in a mount namespace of its own: mounts the dataset; the path follows. */
export const MOUNT_DATASET = 'mount -t zfs -o nosuid,nodev,noatime "$lb_parent/$lb_set"';

/** Writes back what programs have mapped and written to, which no snapshot holds before; by file system, whoever has it mounted. A directory follows. */
const FLUSH = `unshare -m --propagation private sh -c '${MOUNT_DATASET} "$0" && sync -f "$0"'`;

/** Copies a tree over the content of a directory of the dataset. The mount is gone afterwards, and ZFS has counted what was copied. */
const LAY = `unshare -m --propagation private sh -c '${MOUNT_DATASET} "$0" && cp -a --remove-destination --reflink=auto -- "$1/." "$0/$2/" && umount "$0"'`;

/**
 * Shell text: functions over directories that each have a dataset, a child of the one that holds the state directory. What they are given are
 * directories of ours. A directory is renamed and moved as any other; its dataset never is, and is mounted by nobody but {@link MOUNT_DATASET}.
 *
 * The name is noted before the dataset is there. Both are in one pool, which keeps what was done in its order, so that after a kill or a power cut
 * no dataset is without a directory that has its name.
 *
 * What a sandbox wrote may be a little more than its quota, since ZFS counts some time later. No quota can be set below what is there: a copy of
 * one that is full is said to have begun that much larger (`lb_fit`).
 */
export const ZFS_FUNCTIONS = `PATH=$PATH:/usr/sbin:/sbin
lb_in() {
lb_parent=$(findmnt -n -v -o SOURCE -T "$1" | tail -n 1) && [ "$lb_parent" ] || { echo "cannot tell which dataset holds $1" >&2; return 1; }
lb_health=$(zpool list -H -o health "\${lb_parent%%/*}" 2>&1)
case $lb_health in ONLINE|DEGRADED) ;; *)
echo "the ZFS pool \${lb_parent%%/*} cannot be written to ($lb_health). See: zpool status \${lb_parent%%/*}" >&2
return 1 ;;
esac
}
lb_of() {
lb_set= lb_origin= lb_size=
for lb_d in "$1" "$1/${MARK}"; do [ -O "$lb_d" ] && [ ! -h "$lb_d" ] || return 1; done
[ -f "$1/${MARK}" ] && read -r lb_set lb_origin lb_size <"$1/${MARK}" || return 1
case $lb_set in litterbox-*) ;; *) return 1 ;; esac
case \${lb_set#litterbox-} in *[!0-9a-f-]*) return 1 ;; esac
}
lb_begin() {
lb_at=$(cd "$1" && pwd -P) && read -r lb_uuid </proc/sys/kernel/random/uuid && lb_set=litterbox-$lb_uuid && printf '%s %s %s\\n' "$lb_set" "\${2:--}" "\${3:-0}" >"$1/${MARK}"
}
lb_note() { printf '%s %s %s\\n' "$lb_set" "$2" "$3" >"$1/${MARK}.new" && mv -T "$1/${MARK}.new" "$1/${MARK}"; }
lb_zfs() { lb_said=$(zfs "$@" 2>&1) || { echo "zfs $1: \${lb_said#*\\': }" >&2; return 1; }; }
lb_make() { lb_in "$1" && lb_begin "$1" && lb_zfs create ${PROPERTIES} ${FOREVER} -o "${MADE_AT}=$lb_at" "$lb_parent/$lb_set"; }
lb_freeze() { lb_in "$1" && lb_of "$1" && lb_zfs snapshot "$lb_parent/$lb_set@\${lb_set#litterbox-}"; }
lb_branch() {
lb_in "$1" && lb_of "$1" || return
lb_from=$lb_parent/$lb_set@\${lb_set#litterbox-} lb_quota=none lb_size=0
if [ "$3" ]; then lb_size=$(zfs get -H -p -o value referenced "$lb_from") && lb_quota=$((lb_size+$3)) || return; fi
mkdir -p "$2" && lb_begin "$2" - "$lb_size" && lb_zfs clone ${PROPERTIES} -o "${MADE_AT}=$lb_at" -o refquota="$lb_quota" "$lb_from" "$lb_parent/$lb_set"
}
lb_lay() {
( export lb_parent lb_set; ${LAY} "$2" "$1" "$3" ) || return
[ "$4" ] || return 0
lb_size=$(zfs get -H -p -o value referenced "$lb_parent/$lb_set") && lb_zfs set refquota=$((lb_size+$4)) "$lb_parent/$lb_set" && lb_note "$2" - "$lb_size"
}
lb_fit() {
lb_more=$(zfs get -H -p -o value referenced "$lb_parent/$2") && lb_more=$((lb_more-lb_quota)) || return
[ $lb_more -le 0 ] || { lb_quota=$((lb_quota+lb_more)) lb_size=$((lb_size+lb_more)) && lb_note "$1" "$2" "$lb_size"; }
}
lb_copy() {
lb_in "$1" && lb_of "$1" && lb_quota=$(zfs get -H -p -o value refquota "$lb_parent/$lb_set") || return
lb_from=$lb_set
[ "$lb_quota" != 0 ] || lb_quota=none
mkdir -p "$2" && ( export lb_parent lb_set; ${FLUSH} "$2" ) || return
read -r lb_copy </proc/sys/kernel/random/uuid && lb_begin "$2" "$lb_from@$lb_copy" "$lb_size" || return
lb_zfs snapshot "$lb_parent/$lb_from@$lb_copy" && { [ $lb_quota = none ] || lb_fit "$2" "$lb_from@$lb_copy"; } && lb_zfs clone ${PROPERTIES} -o "${MADE_AT}=$lb_at" -o refquota="$lb_quota" "$lb_parent/$lb_from@$lb_copy" "$lb_parent/$lb_set" && zfs destroy -d "$lb_parent/$lb_from@$lb_copy"
}
lb_newest() { zfs list -H -d 1 -t snapshot -o name -S createtxg "$1"; }
lb_foreign() { [ "$( { zfs list -H -d 1 -t filesystem,volume -o name "$1" | sed 1d; zfs list -H -d 1 -t snapshot -o userrefs "$1" | grep -v '^0'; } 2>/dev/null | head -n 1)" ]; }
lb_drop() {
lb_of "$1" || return 0
lb_in "$1" || return
lb_n=0
until lb_said=$(zfs destroy "$lb_parent/$lb_set" 2>&1); do
case $lb_said in *'does not exist'*) break ;; esac
lb_n=$((lb_n+1))
[ $lb_n != 3 ] || ! lb_foreign "$lb_parent/$lb_set" || { echo "zfs destroy: $lb_set has datasets or holds of somebody else" >&2; return 1; }
[ $lb_n -lt 100 ] || { echo "zfs destroy: $lb_set: \${lb_said#*\\': }" >&2; return 1; }
lb_clone=$(lb_newest "$lb_parent/$lb_set" | while read -r lb_snapshot; do
zfs destroy -d "$lb_snapshot"
zfs get -H -o value clones "$lb_snapshot"
done 2>/dev/null | grep -v '^-*$' | head -n 1)
zfs promote "\${lb_clone%%,*}" 2>/dev/null || sleep 0.1
done
[ "$lb_origin" = - ] || zfs destroy -d "$lb_parent/$lb_origin" 2>/dev/null
rm -f "$1/${MARK}"
}
`;
