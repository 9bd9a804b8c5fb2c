import { copyTree, keepLayers, TAKE_LAYERS_BACK } from '@litterbox/linux-sandbox';
import { quoted } from '@litterbox/core/provider';
import { BEGIN_LAYERS, FREEZABLE_LAYERS, FROZEN, WANTS_FRESH_UPPER } from '../layers/fresh-upper.ts';
import { FROZEN_LAYERS, type SessionMount } from '../plan/mount-table.ts';
import { overlayOptions } from '../plan/overlay-options.ts';
import type { PrepareInput, Strategy } from './strategy.ts';

const layered = (lower: string, upper: string, work: string, isRoot: boolean, target: string): SessionMount => ({
  type: 'overlay',
  options: `lowerdir=${lower},upperdir=${upper},workdir=${work},${overlayOptions(isRoot)}`,
  target,
});

const entries = ({ setup }: PrepareInput): readonly string[] => [
  'upper',
  'work',
  FROZEN,
  ...(setup === undefined ? [] : ['home-work']),
];

/** OverlayFS: a mount instead of a copy, whatever the size of the repository. */
export const overlay: Strategy = {
  name: 'overlay',
  remedy: 'Keep the state directory (LITTERBOX_HOME) on ext4, XFS or Btrfs.',
  changes: 'upper',
  layers: [...FREEZABLE_LAYERS, { name: 'home', kind: 'tree', copy: copyTree }],
  begin: BEGIN_LAYERS,
  owned: ['ws', 'upper'],
  bound: 'image',
  canStandOnLive: true,
  probe: (directory, isRoot) => `d=${quoted(`${directory}/.unfinished-probe-${crypto.randomUUID()}`)}
mkdir -m 700 "$d" "$d/lower" "$d/upper" "$d/work" "$d/ws" || exit 1
said=$(unshare ${isRoot ? '' : '-Ur '}-m --propagation private sh -c 'cd "$1" && mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work,${overlayOptions(isRoot)} ws && : >ws/file' sh "$d" 2>&1)
code=$?
rm -rf "$d"
[ $code = 0 ] || printf '%s' "$said"
exit $code`,
  entries,
  prepare: (input) => `mkdir ${entries(input).join(' ')}\n`,
  mounts: (base, isRoot, layers, setup, newer, difference) => [
    { type: 'bind', source: base, target: '/run/base' },
    ...(difference === undefined ? [] : [{ type: 'bind', source: difference, target: '/run/difference' } as const]),
    ...(newer === undefined ? [] : [{ type: 'bind', source: newer, target: '/run/newer' } as const]),
    ...(setup === undefined
      ? []
      : [
          { type: 'bind', source: setup, target: '/run/setup' } as const,
          layered('/run/setup/home', `${layers}/home`, `${layers}/home-work`, isRoot, '/run/home'),
        ]),
    layered(
      `${FROZEN_LAYERS}${setup === undefined ? '' : '/run/setup/upper:'}${newer === undefined ? '' : '/run/newer:'}${difference === undefined ? '' : '/run/difference:'}/run/base`,
      `${layers}/upper`,
      `${layers}/work`,
      isRoot,
      '/run/ws',
    ),
  ],
  // What was frozen before the setup ended is in no layer that could be handed over.
  keep: (owner) => `[ ! -d ${FROZEN}/1 ] || exit 0\nrm -f ${WANTS_FRESH_UPPER}\n${keepLayers(owner)}`,
  takeBack: TAKE_LAYERS_BACK,
};
