import { mountAll } from './mount-table.ts';
import { overlayOptions } from './overlay-options.ts';

/** An empty directory beside the trees: an overlay that nobody writes to needs two layers. */
export const EMPTY = '/run/empty';

/**
 * Shell text: takes from trees of the host that are mounted below /run what lives in them. An overlay with nothing above shows the same
 * files by inodes of its own, so that a socket is not the one where a program of the host listens, a FIFO not the one where it reads, and a
 * lock not its lock; also of those that the host makes there while the session lives.
 *
 * Where the kernel makes no overlay of a tree (file systems that fold case, overlays on overlays on overlays), each socket and FIFO that
 * is there now is hidden instead.
 */
export function detachTrees(trees: readonly string[], isRoot: boolean): string {
  if (trees.length === 0) return '';
  const mounts = trees.map((target) => ({
    type: 'overlay' as const,
    options: `ro,lowerdir=${target}:${EMPTY},${overlayOptions(isRoot)}`,
    target,
  }));
  const hide = `find ${trees.join(' ')} -xdev \\( -type s -o -type p \\) ! -exec mount --bind /dev/null {} \\; -print 2>/dev/null`;
  return `( fail() { exit 1; }
${mountAll('trees.table', mounts)}) || { left=$(${hide}); [ -z "$left" ] || fail "cannot hide what lives in directories of the machine: $left"; }
`;
}
