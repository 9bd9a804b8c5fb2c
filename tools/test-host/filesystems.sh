#!/bin/sh
# File systems of the tests' own: XFS for reflinks, Btrfs for snapshots, journalled ext4 for everything that deletes much, and for engines.
set -eu
base=/var/lib/litterbox-test
images=$base/images
mounts=$base/fs

mounted() { awk -v at="$mounts/$1" '$2 == at { found = 1 } END { exit !found }' /proc/self/mounts; }

# A kernel without Btrfs skips its tests.
has_btrfs() {
  grep -qw btrfs /proc/filesystems || modprobe btrfs 2>/dev/null || return 1
}

# A half-made image must not be taken for a finished one: it gets its name last.
image() { # NAME SIZE MKFS...
  kind=$1
  size=$2
  shift 2
  [ -e "$images/$kind.img" ] && return 0
  rm -f "$images/$kind.img.new"
  truncate -s "$size" "$images/$kind.img.new"
  "$@" "$images/$kind.img.new" >/dev/null
  mv "$images/$kind.img.new" "$images/$kind.img"
}

up() { # NAME SIZE MKFS...
  mounted "$1" && return 0
  install -d -m 0755 "$base" "$images" "$mounts" "$mounts/$1"
  image "$@"
  mount -o loop,noatime "$images/$1.img" "$mounts/$1"
  chmod 1777 "$mounts/$1"
}

PATH="$PATH:/usr/sbin:/sbin"
export PATH
case ${1:-status} in
  up)
    up xfs 2G mkfs.xfs -q -m reflink=1
    if has_btrfs; then up btrfs 3G mkfs.btrfs -q; fi
    up ext4 6G mkfs.ext4 -q -F -N 800000 -E lazy_itable_init=0,lazy_journal_init=0
    # What engines keep would fill the one that the tests fill on purpose.
    up engines 6G mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0
    ;;
  down)
    for name in xfs btrfs ext4 engines; do
      if mounted "$name"; then umount "$mounts/$name"; fi
      rm -f "$images/$name.img" "$images/$name.img.new"
      rmdir "$mounts/$name" 2>/dev/null || true
    done
    rmdir "$images" "$mounts" "$base" 2>/dev/null || true
    ;;
  status)
    status=0
    for name in xfs btrfs ext4 engines; do
      [ "$name" != btrfs ] || has_btrfs || continue
      if mounted "$name"; then
        printf 'filesystems: %s at %s\n' "$name" "$mounts/$name"
      else
        printf 'filesystems: %s not mounted\n' "$name"
        status=1
      fi
    done
    exit $status
    ;;
  *)
    echo "usage: $0 up|down|status" >&2
    exit 2
    ;;
esac
