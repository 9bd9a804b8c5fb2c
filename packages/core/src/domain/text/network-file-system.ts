/** Names of network file systems by their magic numbers of statfs(2). @see include/uapi/linux/magic.h, and the sources of those that are not in it */
export const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9p'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x01161970, 'GFS2'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x7461636f, 'OCFS2'],
]);

/**
 * The name of a file system whose times are those of another machine's clock, and whose locks may not hold between machines; undefined for
 * any other.
 *
 * @param magic as `statfs` tells it, signed or not
 */
export function networkFileSystem(magic: number): string | undefined {
  return NETWORK_FILE_SYSTEMS.get(magic >>> 0);
}
