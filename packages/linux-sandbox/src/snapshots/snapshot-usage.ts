import { type CallOptions, type Host, quoted, type SnapshotName, type SnapshotUsage } from '@litterbox/core/provider';
import { confinedCopy } from '../directory/copy-layers.ts';
import { runScriptOrFail } from '../script/run-script.ts';

/** Numbers of file systems, as `stat -f -c %t` prints them, on which files of ours share no blocks. */
const UNSHARED = ['ef53', '1021994'].join('|');
const BTRFS = '9123683e';

/**
 * Shell text of a function's body: prints how many bytes the files in the directory `$1` take on the disk, and how many of them nothing else
 * shares; `-` where the file system does not tell. XFS shares blocks, and tells of each by the file alone.
 *
 * @see https://btrfs.readthedocs.io/en/latest/btrfs-filesystem.html for the columns of `btrfs filesystem du`
 */
export const DISK_USAGE = `lb_disk=$(($(du -s -k -- "$1" 2>/dev/null | cut -f 1)*1024))
lb_own=-
case $(stat -f -c %t -- "$1") in
${UNSHARED}) lb_own=$lb_disk ;;
${BTRFS}) lb_own=$(btrfs filesystem du -s --raw -- "$1" 2>/dev/null | while read -r lb_all lb_own lb_rest; do case $lb_own in *[!0-9]*) ;; *) echo "$lb_own" ;; esac; done) ;;
esac
printf '%s %s\\n' "$lb_disk" "\${lb_own:--}"`;

/** Where snapshots are, and how it is told what they take. */
export interface SnapshotUsageInput {
  readonly host: Host;
  /** As {@link confinedCopy} has it. */
  readonly root: string;
  readonly isRoot: boolean;
  /** Absolute path of the directory that holds them, below `root`. */
  readonly snapshots: string;
  /** Shell text as {@link DISK_USAGE}, for one directory of a snapshot. */
  readonly diskUsage: string;
}

/**
 * What snapshots take, by one script, whatever their number.
 *
 * @param names safe as segments of a path
 */
export async function snapshotUsage(
  { host, root, isRoot, snapshots, diskUsage }: SnapshotUsageInput,
  names: readonly SnapshotName[],
  options?: CallOptions,
): Promise<ReadonlyMap<SnapshotName, SnapshotUsage>> {
  if (names.length === 0) return new Map();
  const count = `lb_usage() {
${diskUsage}
}
cd ${quoted(snapshots)} || exit 1
for d in ${names.map(quoted).join(' ')}; do
[ -d "$d" ] || continue
for layer in "$d"/*/; do
[ ! -d "$layer" ] || { printf '%s ' "$d" && lb_usage "$layer"; } || exit 1
done
done`;
  const script = `[ -d ${quoted(snapshots)} ] || exit 0\n${confinedCopy({ root, isRoot, copy: count })}`;
  const told = await runScriptOrFail(host, 'snapshot.usage', script, options);
  const usages = new Map<SnapshotName, SnapshotUsage>();
  for (const line of told.split('\n')) {
    const [, name = '', disk, own] = /^(\S+) (\d{1,15}) (\d{1,15}|-)$/.exec(line) ?? [];
    if (disk !== undefined)
      usages.set(name, sumOf(usages.get(name), Number(disk), own === '-' ? undefined : Number(own)));
  }
  return usages;
}

/** What is known of one directory alone is not known of all. */
function sumOf(before: SnapshotUsage | undefined, diskBytes: number, ownBytes: number | undefined): SnapshotUsage {
  const own = before ? before.ownBytes : 0;
  return {
    diskBytes: (before?.diskBytes ?? 0) + diskBytes,
    ...(own !== undefined && ownBytes !== undefined && { ownBytes: own + ownBytes }),
  };
}
