#!/bin/sh
# Runs inside the machine as root: with-zfs.sh COMMAND... with OpenZFS and a pool on a file, where the tests look for ZFS.
set -eu
disk=/mnt/zfs
at=/var/lib/litterbox-test/fs/zfs
mkdir -p $disk /var/lib/litterbox-test/fs
mount -o ro /dev/disk/by-label/zfs $disk
for part in lib sbin usr; do cp -a $disk/$part/. /$part/; done
extra=/lib/modules/$(uname -r)/extra
mkdir -p "$extra"
cp $disk/modules/*.ko "$extra/"
depmod
# Before each change ZFS reserves 24 times its size, for pools that keep it that often. Near a small quota it waits for the disk then, file by file.
modprobe zfs zfs_arc_max=268435456 spa_asize_inflation=1
truncate -s 4G /var/tmp/pool
zpool create -O mountpoint=none -O sync=disabled litterbox-test /var/tmp/pool
zfs create -o mountpoint=$at litterbox-test/tests
chmod 1777 $at
exec "$@"
