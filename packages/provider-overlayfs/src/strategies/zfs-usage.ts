import { DISK_USAGE } from '@litterbox/linux-sandbox';
import { DISK, ZFS_FUNCTIONS } from './zfs-datasets.ts';

/**
 * Shell text: as `DISK_USAGE`, where a directory may be one with a dataset of a snapshot. What nothing else shares was written since the snapshot
 * that the dataset began with or holds (`written`); and what that one alone keeps of a sandbox, where it goes with this dataset.
 */
export const DATASET_USAGE = `case $1 in */${DISK}/)
${ZFS_FUNCTIONS}lb_in "$1" && lb_of "\${1%/}" || return
set -- $(zfs get -H -p -o value referenced,written "$lb_parent/$lb_set") && [ $# = 2 ] || return 1
lb_from=$(zfs get -H -o value origin "$lb_parent/$lb_set")
[ "$lb_from" = - ] || [ "$(zfs get -H -o value defer_destroy,clones "$lb_from" | tr '\\n' ' ')" != "on $lb_parent/$lb_set " ] ||
set -- "$1" "$(($2+$(zfs get -H -p -o value used "$lb_from")))"
echo "$1 $2" ;;
*)
${DISK_USAGE} ;;
esac`;
