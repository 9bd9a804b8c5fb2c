import { quoted } from '@litterbox/core/provider';
import { STAGING_EXITS } from '../script/staging-exits.ts';
import { type DiskImage, mountDisk } from './disk-image.ts';

/** A tree that a new disk begins with. */
export interface DiskTree {
  /** Absolute path of the directory whose content is copied. */
  readonly from: string;
  /** Name of a directory on the disk. */
  readonly to: 'ws' | 'home';
}

/**
 * Shell text, at create, after `makeDisk` made the file: copies trees onto the disk, in a mount namespace of its own. A copy shares no blocks with its
 * source, because that is on another file system.
 *
 * @param owner `uid:gid` of who writes inside
 */
export function fillDisk(disk: DiskImage, owner: string, trees: readonly DiskTree[]): string {
  const copies = trees
    .map(({ from, to }) => `cp -a --remove-destination ${quoted(from)}/. disk/${to}/ || exit 1\n`)
    .join('');
  const script = `fail() { echo "$1" >&2; exit 1; }
${mountDisk(disk, owner)}${copies}umount disk`;
  return `said=$(unshare -m --propagation private sh -c ${quoted(script)} 2>&1) || {
printf '%s\n' "$said" | tail -n 3 >&2
[ -z "$lb_new" ] || rm -f ${quoted(disk.image)}
case $said in *'No space left on device'*) exit ${STAGING_EXITS.diskTooSmall};; esac
exit 1
}
`;
}
