import { quoted } from '@litterbox/core/provider';
import { DISK_USAGE } from '@litterbox/linux-sandbox';
import type { Strategy } from './strategy.ts';
import { MOUNT_DATASET, ZFS_FUNCTIONS } from './zfs-datasets.ts';

/**
 * The directory with the dataset, of a sandbox, a kept setup and a snapshot: a session mounts it there. The workspace is in it and not on it, since
 * the top of a dataset leads to its snapshots (`.zfs`).
 */
const NAME = 'disk';
const PARTS = 'ws home playground';

/** Shell text, a command with a status: `command` with these functions. */
const withFunctions = (command: string) => `{ ${ZFS_FUNCTIONS}${command}; }`;
/** Shell text that ends a script: runs another in a mount namespace of its own, where `$0` is the last word of this text. */
const alone = (script: string) => `unshare -m --propagation private sh -c ${quoted(script)}`;

/** Shell text: as `DISK_USAGE`, where a directory may be one with a dataset of a snapshot. */
export const DATASET_USAGE = `case $1 in */${NAME}/)
${ZFS_FUNCTIONS}lb_in "$1" && lb_of "\${1%/}" && lb_told=$(zfs get -H -p -o value referenced,used "$lb_parent/$lb_set") && echo $lb_told ;;
*)
${DISK_USAGE} ;;
esac`;

/** Clones of a dataset: workspace and home are there at once, whatever their size, and share what nobody changes. Takes root, as mounting does. */
export const zfs: Strategy = {
  name: 'zfs',
  remedy:
    'Run Litterbox as root with its state directory (LITTERBOX_HOME) on a dataset, made by: zfs create -o mountpoint=DIRECTORY POOL/litterbox. Debian has the program in zfsutils-linux.',
  changes: 'workspace',
  baseKind: {
    suffix: '.zfs',
    make: 'mkdir',
    enter: (command, owner) => `${ZFS_FUNCTIONS}lb_make . || exit 1
export lb_parent lb_set
exec ${alone(`${MOUNT_DATASET} . && cd "$PWD" && mkdir -m 755 ${PARTS} && ${owner === '' ? '' : `chown ${owner} ${PARTS} && `}cd ws || exit 1
${command}`)}`,
    freeze: withFunctions('lb_freeze .'),
    // Each directory above the mark is root's: nothing that an agent made, or put a link to, counts.
    release: `lb_held=
for lb_d in "$1" "$1/${NAME}" "$1/old-${NAME}" "$1/restored/${NAME}" "$1/restored/old-${NAME}"; do [ ! -f "$lb_d/dataset" ] || lb_held=1; done
[ ! "$lb_held" ] || (
${ZFS_FUNCTIONS}[ "$(id -u)" = 0 ] || exit 0
for lb_above in "$1/restored" "$1"; do
[ -O "$1" ] && [ ! -h "$1" ] && [ -O "$lb_above" ] && [ ! -h "$lb_above" ] || continue
lb_drop "$lb_above/old-${NAME}" && lb_drop "$lb_above/${NAME}" || exit 1
done
lb_drop "$1"
) || return 1`,
  },
  layers: [{ name: NAME, copy: (from, to) => withFunctions(`lb_copy ${quoted(from)} ${quoted(to)}`) }],
  owned: [],
  bound: {
    attachPlayground: `mount --bind ${NAME}/playground playground || fail 'cannot bind the playground'
lb_bound=$(PATH=$PATH:/usr/sbin:/sbin; zfs get -H -p -o value refquota "$lb_parent/$lb_set") && lb_bound=$((lb_bound-lb_size)) || lb_bound=0
`,
    size: 'echo "$lb_bound 1"',
    putIn: (from, directory) =>
      withFunctions(
        `lb_in ${quoted(directory)} && lb_of ${quoted(`${directory}/${NAME}`)} && ${MOUNT_DATASET} ${quoted(`${directory}/${NAME}`)} && cp -a -T -- ${quoted(from)} ${quoted(`${directory}/${NAME}/playground`)}`,
      ),
    takeOut: (directory, to) =>
      withFunctions(
        `lb_in ${quoted(directory)} && lb_of ${quoted(`${directory}/${NAME}`)} && ${MOUNT_DATASET} ${quoted(`${directory}/${NAME}`)} && cp -a -T -- ${quoted(`${directory}/${NAME}/playground`)} ${quoted(to)}`,
      ),
  },
  probe: (directory, isRoot) => `${ZFS_FUNCTIONS}kind=$(stat -f -c %T ${quoted(directory)})
[ "$kind" = zfs ] || { printf '%s is not on ZFS, but on %s' ${quoted(directory)} "$kind"; exit 1; }
${isRoot ? '' : `echo 'root alone mounts ZFS on Linux, whatever zfs allow hands over'; exit 1`}
command -v zfs >/dev/null || { echo 'the program zfs is missing'; exit 1; }
d=${quoted(`${directory}/.unfinished-probe-${crypto.randomUUID()}`)}
mkdir -m 700 "$d" || exit 1
said=$( { lb_make "$d" && export lb_parent lb_set && ${alone(`${MOUNT_DATASET} "$0" && : >"$0/file"`)} "$d"; } 2>&1)
code=$?
lost=$(lb_drop "$d" 2>&1) && rm -rf "$d" || { said="$said $lost"; code=1; }
[ $code = 0 ] || printf '%s' "$said"
exit $code`,
  prepare: ({ base, setup, artefacts, diskBytes = '' }) => {
    const from = quoted(setup === undefined ? base : `${setup}/${NAME}`);
    const begin =
      artefacts === undefined
        ? `lb_branch ${from} ${NAME} ${diskBytes}`
        : `lb_branch ${from} ${NAME} && lb_lay ${quoted(artefacts)} ${NAME} ws ${diskBytes}`;
    return `${withFunctions(begin)}\n`;
  },
  mounts: () => [],
  attach: `lb_path=$PATH
${ZFS_FUNCTIONS}{ lb_in . && lb_of ${NAME} && ${MOUNT_DATASET} ${NAME}; } 2>mount-errors || fail "cannot mount the dataset of the sandbox: $(cat mount-errors)"
for name in ws home; do mount --bind ${NAME}/$name $name || fail "cannot bind $name of the dataset"; done
PATH=$lb_path
`,
  // What begins with it takes the frozen snapshot: nobody has to stand still for that.
  keep: () => `${withFunctions(`lb_copy ${NAME} "$kept/${NAME}" && lb_freeze "$kept/${NAME}"`)} || exit 1\n`,
  takeBack: '',
};
