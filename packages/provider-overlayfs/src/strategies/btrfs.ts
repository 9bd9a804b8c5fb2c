import { quoted } from '@litterbox/core/provider';
import { copyTree, layTree } from '@litterbox/linux-sandbox';
import type { Strategy } from './strategy.ts';

const FREEZE = 'btrfs property set -ts . ro true';
/**
 * A file in a directory of ours whose `ws` is a subvolume, which is removed at once. A directory without it may hold one too: that one is removed
 * file by file.
 */
const MARK = 'has-subvolume';

/**
 * Shell text, a command with a status: a new directory `to` that is a snapshot of `from`. What is no subvolume is copied, and shares its blocks:
 * workspaces that earlier releases restored.
 *
 * @param from shell word, as `to`
 */
const clone = (from: string, to: string) =>
  `{ btrfs subvolume snapshot ${from} ${to} >/dev/null 2>&1 || cp -a --reflink=auto -T -- ${from} ${to}; }`;

/** Snapshots of a subvolume: a workspace is there at once, whatever the size of the repository, and shares what nobody changes. */
export const btrfs: Strategy = {
  name: 'btrfs',
  remedy: 'Keep the state directory (LITTERBOX_HOME) on Btrfs, and install btrfs-progs.',
  changes: 'workspace',
  baseKind: {
    suffix: '.btrfs',
    make: 'btrfs subvolume create >/dev/null',
    freeze: FREEZE,
    // `btrfs` follows links, and what is removed may be an agent's own directory.
    marks: [MARK],
    release: `[ ! -e "$1/${MARK}" ] || [ -h "$1/ws" ] || btrfs subvolume delete "$1/ws" >/dev/null 2>&1 || :`,
    // Nothing below `$1` is: there a name may be an agent's. Agents make no subvolumes (`REFUSED_REQUESTS`).
    unlock: 'btrfs subvolume delete "$1" >/dev/null 2>&1 || btrfs property set -ts "$1" ro false >/dev/null 2>&1 || :',
  },
  copyBase: (from, to) => `btrfs subvolume snapshot ${quoted(from)} ${quoted(to)} >/dev/null`,
  layers: [
    {
      name: 'ws',
      copy: (from, to) =>
        `{ [ ! -d ${quoted(to)} ] || rmdir ${quoted(to)}; } && ${clone(quoted(from), quoted(to))} && : >${quoted(`${to}/../${MARK}`)}`,
    },
    { name: 'home', copy: copyTree },
  ],
  owned: ['ws'],
  bound: 'image',
  // Both names are unfinished ones, so that a sweep takes what a killed probe leaves: what is removed itself may be read-only.
  probe: (directory) => `command -v btrfs >/dev/null || { echo 'the program btrfs is missing'; exit 1; }
kind=$(stat -f -c %T ${quoted(directory)})
[ "$kind" = btrfs ] || { printf '%s is not on Btrfs, but on %s' ${quoted(directory)} "$kind"; exit 1; }
base=${quoted(`${directory}/.unfinished-probe-${crypto.randomUUID()}`)}
ws=$base-ws
said=$( { btrfs subvolume create "$base" && chmod 700 "$base" && : >"$base/a" && cd "$base" && ${FREEZE} && btrfs subvolume snapshot "$base" "$ws" && echo probe >"$ws/a"; } 2>&1)
code=$?
slow=
btrfs subvolume delete "$ws" >/dev/null 2>&1 || slow=1
btrfs property set -ts "$base" ro false 2>/dev/null
rm -rf "$base" "$ws" 2>/dev/null || { [ $code != 0 ] || said='subvolumes cannot be removed'; code=1; }
[ $code = 0 ] || printf '%s' "$said"
[ ! "$slow" ] || [ $code != 0 ] || printf 'this user removes subvolumes file by file: at once with the mount option user_subvol_rm_allowed'
exit $code`,
  prepare: ({ base, setup, artefacts }) =>
    setup === undefined
      ? `rmdir ws\nbtrfs subvolume snapshot ${quoted(base)} ws >/dev/null\n: >${MARK}\n${artefacts === undefined ? '' : layTree(artefacts, '--reflink=auto')}`
      : `rmdir ws\n${clone(quoted(`${setup}/ws`), 'ws')}\n: >${MARK}\ncp -a --reflink=auto ${quoted(setup)}/home/. home/\n`,
  mounts: () => [],
  // What an ordinary user cannot read back of the home cannot be kept, and the sandbox is none the worse for it.
  keep: () => `: >"$kept/${MARK}" && ${clone('ws', '"$kept/ws"')} && cp -a --reflink=auto home "$kept/" || exit 0\n`,
  takeBack: '',
};
