import { type DiskImage, mountDisk } from '@litterbox/linux-sandbox';

/** Where the session's mount namespace has the disk of a sandbox whose `limits.diskBytes` is set, and nowhere else. */
export const DISK = '/run/disk';

/**
 * Shell text, at session start, with the sandbox's directory at /run and as the current one: the disk, and its layers where they are without one.
 *
 * @param layers names of what holds workspace and home
 */
export const mountLayers = (disk: DiskImage, owner: string, layers: readonly string[]): string =>
  `${mountDisk(disk, owner)}for name in ${layers.join(' ')} playground; do mount --bind disk/$name $name || fail "cannot bind $name of the disk"; done
`;
