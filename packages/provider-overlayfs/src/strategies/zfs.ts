import { quoted } from '@litterbox/core/provider';
import type { Strategy } from './strategy.ts';
import { DISK, MADE_AT, MOUNT_DATASET, ZFS_FUNCTIONS } from './zfs-datasets.ts';
import { LEFT_BEHIND } from './zfs-left-behind.ts';

/** What is in a dataset. The workspace is in it and not on it, since the top of a dataset leads to its snapshots (`.zfs`). */
const PARTS = 'ws home playground';

/** Shell text, a command with a status: `command` with these functions. */
const withFunctions = (command: string) => `{ ${ZFS_FUNCTIONS}${command}; }`;
/** Shell text that ends a script: runs another in a mount namespace of its own, where `$0` is the last word of this text. */
const alone = (script: string) => `unshare -m --propagation private sh -c ${quoted(script)}`;

/** Shell text, a command with a status, in a mount namespace of its own: mounts the dataset of the directory there. */
const mounted = (directory: string) =>
  `lb_in ${quoted(directory)} && lb_of ${quoted(directory)} && ${MOUNT_DATASET} ${quoted(directory)}`;

/** Directories below one that is removed, each with a slash behind, that may name a dataset. */
const HOLDERS = ['', `${DISK}/`, `old-${DISK}/`, `restored/${DISK}/`, `restored/old-${DISK}/`];

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
    files: {
      name: 'ws',
      mount: (tree) =>
        withFunctions(`${mounted(tree)} && mount -o remount,bind,nosuid,nodev,nosymfollow ${quoted(tree)}`),
    },
    freeze: withFunctions('lb_freeze .'),
    // Each directory above the mark is root's: nothing that an agent made, or put a link to, counts.
    marks: HOLDERS.map((name) => `${name}dataset`),
    release: `lb_held=
for lb_d in ${HOLDERS.map((name) => `"$1/${name}"`).join(' ')}; do [ ! -f "$lb_d/dataset" ] || lb_held=1; done
[ ! "$lb_held" ] || (
${ZFS_FUNCTIONS}[ "$(id -u)" = 0 ] || exit 0
for lb_above in "$1/restored" "$1"; do
[ -O "$1" ] && [ ! -h "$1" ] && [ -O "$lb_above" ] && [ ! -h "$lb_above" ] || continue
lb_drop "$lb_above/old-${DISK}" && lb_drop "$lb_above/${DISK}" || exit 1
done
lb_drop "$1"
) || return 1`,
  },
  copyBase: (from, to) => withFunctions(`lb_branch ${quoted(from)} ${quoted(to)}`),
  layers: [{ name: DISK, copy: (from, to) => withFunctions(`lb_copy ${quoted(from)} ${quoted(to)}`) }],
  owned: [],
  bound: {
    attachPlayground: `mount --bind ${DISK}/playground playground || fail 'cannot bind the playground'
lb_bound=$(PATH=$PATH:/usr/sbin:/sbin; zfs get -H -p -o value refquota "$lb_parent/$lb_set") && lb_bound=$((lb_bound-lb_size)) || lb_bound=0
`,
    size: 'echo "$lb_bound 1"',
    putIn: (from, directory) =>
      withFunctions(
        `${mounted(`${directory}/${DISK}`)} && cp -a -T -- ${quoted(from)} ${quoted(`${directory}/${DISK}/playground`)}`,
      ),
    takeOut: (directory, to) =>
      withFunctions(
        `${mounted(`${directory}/${DISK}`)} && cp -a -T -- ${quoted(`${directory}/${DISK}/playground`)} ${quoted(to)}`,
      ),
  },
  probe: (directory, isRoot) => `${ZFS_FUNCTIONS}kind=$(stat -f -c %T ${quoted(directory)})
[ "$kind" = zfs ] || { printf '%s is not on ZFS, but on %s' ${quoted(directory)} "$kind"; exit 1; }
${isRoot ? '' : `echo 'root alone mounts ZFS on Linux, whatever zfs allow hands over'; exit 1`}
command -v zfs >/dev/null || { echo 'the program zfs is missing'; exit 1; }
lb_in ${quoted(directory)} 2>&1 || exit 1
d=${quoted(`${directory}/.unfinished-probe-${crypto.randomUUID()}`)}
mkdir -m 700 "$d" || exit 1
said=$( { lb_make "$d" && export lb_parent lb_set && ${alone(`${MOUNT_DATASET} "$0" && : >"$0/file"`)} "$d"; } 2>&1)
code=$?
lost=$(lb_drop "$d" 2>&1) && rm -rf "$d" || { said="$said $lost"; code=1; }
[ $code = 0 ] || printf '%s' "$said"
exit $code`,
  survey: {
    script: (root) => `${ZFS_FUNCTIONS}${LEFT_BEHIND}lb_tell_left "$(cd ${quoted(root)} && pwd -P)"`,
    remedy: `Unless that directory was moved, remove them by zfs destroy -r, clones before what they are clones of. This shows them, below the dataset that holds the state directory: zfs list -d 1 -o name,used,origin,${MADE_AT} DATASET`,
  },
  prepare: ({ base, setup, artefacts, diskBytes = '' }) => {
    const from = quoted(setup === undefined ? base : `${setup}/${DISK}`);
    const begin =
      artefacts === undefined
        ? `lb_branch ${from} ${DISK} ${diskBytes}`
        : `lb_branch ${from} ${DISK} && lb_lay ${quoted(artefacts)} ${DISK} ws ${diskBytes}`;
    return `${withFunctions(begin)}\n`;
  },
  mounts: () => [],
  isForShell: true,
  attach: `lb_path=$PATH
${ZFS_FUNCTIONS}{ lb_in . && lb_of ${DISK} && ${MOUNT_DATASET} ${DISK}; } 2>mount-errors || fail "cannot mount the dataset of the sandbox: $(cat mount-errors)"
for name in ws home; do mount --bind ${DISK}/$name $name || fail "cannot bind $name of the dataset"; done
PATH=$lb_path
`,
  // What begins with it takes the frozen snapshot: nobody has to stand still for that.
  keep: () => `${withFunctions(`lb_copy ${DISK} "$kept/${DISK}" && lb_freeze "$kept/${DISK}"`)} || exit 1\n`,
  takeBack: '',
};
