import { keepLayers, quoted, TAKE_LAYERS_BACK } from '@litterbox/core/provider';
import type { Strategy } from './strategy.ts';

// redirect_dir, metacopy and index off: nothing in the upper layer may refer to another place by name or handle, for the
// agent writes that layer. In a user namespace the kernel keeps its marks in user.* (userxattr), which hides them from the
// agent and turns redirection off by itself. https://docs.kernel.org/filesystems/overlayfs.html
const OPTIONS = 'metacopy=off,index=off,xino=off,nosuid,nodev';
const optionsOf = (isRoot: boolean) => (isRoot ? `redirect_dir=nofollow,${OPTIONS}` : `userxattr,${OPTIONS}`);

/** OverlayFS: a mount instead of a copy, whatever the size of the repository. */
export const overlay: Strategy = {
  name: 'overlay',
  changes: 'upper',
  probe: (directory, isRoot) => `d=${quoted(`${directory}/.unfinished-probe-${crypto.randomUUID()}`)}
mkdir -m 700 "$d" "$d/lower" "$d/upper" "$d/work" "$d/ws" || exit 1
said=$(unshare ${isRoot ? '' : '-Ur '}-m --propagation private sh -c 'cd "$1" && mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work,${optionsOf(isRoot)} ws && : >ws/file' sh "$d" 2>&1)
code=$?
rm -rf "$d"
[ $code = 0 ] || printf '%s' "$said"
exit $code`,
  prepare: (_base, setup) => `mkdir upper work${setup === undefined ? '' : ' home-work'}\n`,
  mount: (base, isRoot, layers, setup) => `mount --bind ${quoted(base)} /run/base || fail 'cannot bind the base tree'
${
  setup === undefined
    ? ''
    : `mkdir -p /run/setup && mount --bind ${quoted(setup)} /run/setup || fail 'cannot bind what the setup left'
mount -t overlay overlay -o lowerdir=/run/setup/home,upperdir=${layers}/home,workdir=${layers}/home-work,${optionsOf(isRoot)} /run/home || fail 'cannot mount the home directory'
`
}mount -t overlay overlay -o lowerdir=${setup === undefined ? '' : '/run/setup/upper:'}/run/base,upperdir=${layers}/upper,workdir=${layers}/work,${optionsOf(isRoot)} /run/ws || fail 'cannot mount the overlay'
`,
  keep: keepLayers,
  takeBack: TAKE_LAYERS_BACK,
};
