/**
 * Requests of `ioctl` by which anybody makes and deletes subvolumes of Btrfs and makes their own read-only: SNAP_CREATE, SUBVOL_CREATE, SNAP_DESTROY, the
 * second versions of the first two, SUBVOL_SETFLAGS, SNAP_DESTROY_V2. A snapshot leaves out a subvolume inside, and a read-only one cannot
 * be removed by its owner, so that an agent could keep work out of a fork and its sandbox on the disk.
 *
 * @see include/uapi/linux/btrfs.h
 */
export const SUBVOLUME_REQUESTS: readonly number[] = [
  0x50009401, 0x5000940e, 0x5000940f, 0x50009417, 0x50009418, 0x4008941a, 0x5000943f,
];
