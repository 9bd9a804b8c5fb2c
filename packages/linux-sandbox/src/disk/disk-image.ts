import { quoted } from '@litterbox/core/provider';

/**
 * The disk of a sandbox whose `limits.diskBytes` is set: an ext4 in a sparse file of root's. It holds all that lasts and that the agent can write:
 * workspace layer, home and playground. Nobody inside ever writes to the file itself, so what the kernel mounts is what the kernel wrote.
 */
export interface DiskImage {
  /** Absolute path of the file on the host. It outlives the sandbox where the playground shall. */
  readonly image: string;
  readonly sizeBytes: number;
}

/** In the sandbox's directory: the next mount empties the layers, and leaves the playground as it is. */
const FRESH = 'fresh';

const SEARCH = 'PATH=$PATH:/usr/sbin:/sbin';

/** Shell text that succeeds where this user can make disks. */
export const CAN_MAKE_DISKS = `( ${SEARCH}; command -v mkfs.ext4 && command -v losetup && command -v findmnt && [ -w /dev/loop-control ] ) >/dev/null 2>&1`;

/** What to do where a machine's root cannot make disks. */
export const DISK_REMEDY =
  'Install e2fsprogs (mkfs.ext4), mount (losetup) and util-linux (findmnt), and see that there is /dev/loop-control';

/**
 * Shell text, at create, with the sandbox's unfinished directory as the current one: makes `disk`, and the file unless a sandbox of this id had one.
 * Inode tables and journal are zeros already, as all of a sparse file is, so nothing is written but some hundred KiB.
 */
export function makeDisk({ image, sizeBytes }: DiskImage): string {
  return `mkdir disk && : >${FRESH}
lb_new=
if [ ! -e ${quoted(image)} ]; then
lb_new=1
truncate -s ${sizeBytes} disk.img
( ${SEARCH}; mkfs.ext4 -q -F -m 0 -e remount-ro -E lazy_itable_init=1,lazy_journal_init=1,nodiscard disk.img )
chmod 600 disk.img
mv -T disk.img ${quoted(image)}
fi
`;
}

/**
 * Shell text, for a mount namespace of its own, with the copy's unfinished directory as the current one: makes `disk`, and the file, `disk.img`, as a
 * copy of another sandbox's, whose processes stand still and which nobody mounts or unmounts meanwhile. Where it is mounted, the kernel
 * writes first what it has not written yet; what it then does to the file is nothing, as nobody writes.
 *
 * @param source absolute path of the other sandbox's directory
 */
export function copyDisk(source: string, from: DiskImage): string {
  const file = quoted(from.image);
  return `mkdir disk || exit 1
[ ! -e ${quoted(`${source}/${FRESH}`)} ] || : >${FRESH}
if [ "$(${SEARCH}; losetup -j ${file})" ]; then
( ${SEARCH}; mount -t ext4 -o loop,nosuid,nodev,noatime,discard,noinit_itable ${file} disk && sync -f disk && umount disk ) || exit 1
fi
cp --sparse=always --reflink=auto -T -- ${file} disk.img && chmod 600 disk.img || exit 1
`;
}

/**
 * Shell text, with the sandbox's directory as the current one: mounts the file at `disk`, makes the layers there and gives up what
 * {@link RESERVE_DISK} took. Calls a function `fail` with a text when it cannot.
 *
 * The file may be mounted somewhere else still: by what is left of a program that was killed, by one that looks for changes. Then `mount`
 * takes the loop device that is there: one device is one file system, however often it is mounted, and two on one file would
 * destroy it. So that is looked at afterwards. A device that the kernel is just letting go of refuses for a moment. `discard` gives
 * what is deleted inside back to the host. `e2fsck` has something to do only after the machine itself was full: the kernel marks such a disk.
 *
 * @param owner `uid:gid` of who writes inside
 */
export function mountDisk({ image }: DiskImage, owner: string): string {
  const own = quoted(owner);
  const file = quoted(image);
  return `SEARCHED=$PATH; ${SEARCH}; n=0
[ "$(losetup -j ${file})" ] || e2fsck -p ${file} >/dev/null 2>&1
until said=$(mount -t ext4 -o loop,nosuid,nodev,noatime,discard,noinit_itable ${file} disk 2>&1); do
n=$((n+1)); [ $n -lt 250 ] || fail "cannot mount the disk of the sandbox: $said"; sleep 0.02
done
[ "$(losetup -n -O NAME -j ${file})" = "$(findmnt -n -o SOURCE -M "$PWD/disk")" ] || fail 'the disk of the sandbox is in use by something else'
PATH=$SEARCHED
rm -rf disk/reserve
if [ -e ${FRESH} ]; then
rm -rf disk/upper disk/work disk/ws disk/home disk/home-work && mkdir -p disk/upper disk/work disk/ws disk/home disk/home-work disk/playground && chown ${own} disk/upper disk/ws disk/home disk/playground || fail 'cannot make the layers of the sandbox on its disk'
rm -f ${FRESH}
fi
`;
}

/**
 * Shell text, after the overlays are mounted: what mounting them needs of a disk, to be freed before the next time. On a full one the kernel
 * would mount them read-only, and nobody could delete what fills it.
 */
export const RESERVE_DISK = `( mkdir disk/reserve && for n in 1 2 3 4 5 6 7 8; do head -c 16384 /dev/zero >disk/reserve/$n; done ) 2>/dev/null
`;
