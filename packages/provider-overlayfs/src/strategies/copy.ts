import { quoted } from '@litterbox/core/provider';
import { copyTree, layTree } from '@litterbox/linux-sandbox';
import type { Strategy } from './strategy.ts';

const clone = (name: 'reflink' | 'copy', flag: string): Strategy => ({
  name,
  remedy: 'Keep the state directory (LITTERBOX_HOME) on ext4, XFS or Btrfs.',
  changes: 'workspace',
  layers: ['ws', 'home'].map((name) => ({ name, kind: 'tree', copy: copyTree })),
  owned: ['ws'],
  bound: 'image',
  probe: (directory) => `d=${quoted(`${directory}/.unfinished-probe-${crypto.randomUUID()}`)}
mkdir -m 700 "$d" || exit 1
echo probe >"$d/a"
said=$(cp ${flag} "$d/a" "$d/b" 2>&1)
code=$?
rm -rf "$d"
[ $code = 0 ] || printf '%s' "$said"
exit $code`,
  prepare: ({ base, setup, artefacts }) =>
    setup === undefined
      ? `cp -a ${flag} ${quoted(base)}/. ws/\n${artefacts === undefined ? '' : layTree(artefacts, flag)}`
      : `cp -a ${flag} ${quoted(setup)}/ws/. ws/\ncp -a ${flag} ${quoted(setup)}/home/. home/\n`,
  mounts: () => [],
  // Nothing runs that could put a link where a directory was; links themselves are copied as links.
  // What an ordinary user cannot read back cannot be kept, and the sandbox is none the worse for it.
  keep: () => `cp -a ${flag} ws home "$kept/" || exit 0\n`,
  takeBack: '',
});

/** A copy that shares the blocks of every file: XFS, Btrfs and others. Costs the number of files. */
export const reflink: Strategy = {
  ...clone('reflink', '--reflink=always'),
  copyBase: (from, to) => `mkdir ${quoted(to)} && cp -a --reflink=always ${quoted(from)}/. ${quoted(to)}/`,
};

/** A plain copy: works everywhere and costs the size of the repository. */
export const copy: Strategy = clone('copy', '--reflink=never');
