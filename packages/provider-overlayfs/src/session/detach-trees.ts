import { quoted } from '@litterbox/core/provider';
import { mountAll } from '../plan/mount-table.ts';
import { overlayOptions } from '../plan/overlay-options.ts';
import { type PlanEntry } from '@litterbox/linux-sandbox';
import { CREDENTIAL_NAMES } from '../machine/tool-directories.ts';

/** An empty directory beside the trees: an overlay that nobody writes to needs two layers. */
export const EMPTY = '/run/empty';

/** A layer over trees of tools, without the names of credentials: who logs in later writes them where no session sees them. */
const ABSENT = '/run/absent';

/**
 * Shell text: makes {@link ABSENT}, of the names that none of the trees has. Those that are there are masked, for programs miss a file that
 * was there. It stays for the next session: a program for each name is time.
 */
function makeAbsent(tools: readonly string[]): string {
  return `[ -d ${ABSENT} ] || mkdir ${ABSENT} || fail 'cannot make ${ABSENT}'
for name in ${CREDENTIAL_NAMES.map(quoted).join(' ')}; do
is_there=
for tool in ${tools.join(' ')}; do [ ! -e "$tool/$name" ] && [ ! -L "$tool/$name" ] || is_there=yes; done
if [ "$is_there" ]; then [ ! -e "${ABSENT}/$name" ] || rm -f "${ABSENT}/$name" || fail "cannot show $name"
else [ -e "${ABSENT}/$name" ] || mknod "${ABSENT}/$name" c 0 0 || fail "cannot hide $name"; fi
done
`;
}

/**
 * Shell text: takes from trees of the host that are mounted below /run what lives in them. An overlay with nothing above shows the same
 * files by inodes of its own, so that a socket is not the one where a program of the host listens, a FIFO not the one where it reads, and a
 * lock not its lock; also of those that the host makes there while the session lives.
 *
 * Where the kernel makes no overlay of a tree (file systems that fold case, overlays on overlays on overlays), each socket and FIFO that
 * is there now is hidden instead.
 *
 * @param tools those of the trees that hold tools of the person
 */
export function detachTrees(trees: readonly string[], tools: readonly string[], isRoot: boolean): string {
  if (trees.length === 0) return '';
  const left = `{ left=$(${hide(trees)}); [ -z "$left" ] || fail "cannot hide what lives in directories of the machine: $left"; }`;
  return `${tools.length === 0 ? '' : makeAbsent(tools)}( fail() { exit 1; }
${mountAll('trees.table', overlaysOf(trees, tools, isRoot))}) || ${left}
`;
}

/** The same as steps of the session program. */
export function detachSteps(trees: readonly string[], tools: readonly string[], isRoot: boolean): readonly PlanEntry[] {
  if (trees.length === 0) return [];
  const left = `left=$(${hide(trees)}); [ -z "$left" ] || { echo "cannot hide what lives in directories of the machine: $left" >&2; exit 1; }`;
  return [
    ...(tools.length === 0
      ? []
      : [['hide-absent', ABSENT, `${CREDENTIAL_NAMES.length}`, ...CREDENTIAL_NAMES, ...tools] as const]),
    ['overlays-or', left, ...overlaysOf(trees, tools, isRoot).flatMap(({ options, target }) => [options, target])],
  ];
}

/** Overlays with nothing above. */
function overlaysOf(trees: readonly string[], tools: readonly string[], isRoot: boolean) {
  return trees.map((target) => ({
    type: 'overlay' as const,
    options: `ro,lowerdir=${tools.includes(target) ? `${ABSENT}:` : ''}${target}:${EMPTY},${overlayOptions(isRoot)}`,
    target,
  }));
}

/** Shell text: hides each socket and pipe that is there now, and prints those that it cannot hide. */
const hide = (trees: readonly string[]) =>
  `find ${trees.join(' ')} -xdev \\( -type s -o -type p \\) ! -exec mount --bind /dev/null {} \\; -print 2>/dev/null`;
