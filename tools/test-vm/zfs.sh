#!/bin/sh
# OpenZFS for the machine: a disk with the modules for its kernel and with the programs zfs and zpool: zfs.sh up|down|status.
# Debian has the modules as sources alone. They are built here, where the processor is not emulated, once for each kernel and version: the
# disk stays when the machine is taken away, and `down` of this part alone removes it.
set -eu
base=/var/lib/litterbox-test/vm
kept=/var/lib/litterbox-test/zfs
codename=bookworm

# What is unpacked on the disk, and what builds the modules. No package of these is installed: their scripts want a running ZFS.
programs='zfsutils-linux libzfs4linux libzpool5linux libnvpair3linux libuutil3linux'
builders='linux-headers-cloud-amd64 gcc make libc6-dev'

# Its version as `uname -r` tells it; see the field kernel_version of https://docs.kernel.org/arch/x86/boot.html
kernel() {
  [ -e "$base/kernel" ] || return 0
  at=$(od -A n -t u2 -j 526 -N 2 "$base/kernel")
  tail -c "+$((at + 513))" "$base/kernel" | head -c 128 | cut -d ' ' -f 1 | head -n 1
}

build() { # KERNEL IMAGE
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Codename: $codename" 'Component: main' | head -n 1)
  tree=$kept/tree.new
  rm -rf "$tree"
  echo "test-vm: building ZFS for $1" >&2
  # shellcheck disable=SC2086
  mmdebstrap --quiet --mode=root --variant=apt --components=main,contrib --aptopt='APT::Install-Recommends "false"' \
    --include="$(echo $builders | tr ' ' ,)" "$codename" "$tree" "$mirror" >"$kept/build.log" 2>&1 || return 1
  chroot "$tree" nice -n 10 sh -eu -c "
    cd /var/tmp
    apt-get -qq update
    apt-get -qq download zfs-dkms $programs
    for package in *.deb; do dpkg-deb -x \"\$package\" \"unpacked-\${package%%_*}\"; done
    cd unpacked-zfs-dkms/usr/src/zfs-*
    ./configure -q --with-config=kernel --with-linux=/lib/modules/$1/source --with-linux-obj=/lib/modules/$1/build
    make -s -j 2
    find module -name '*.ko' -exec strip -g {} +
    mkdir -p /var/tmp/disk/modules /var/tmp/disk/usr
    find module -name '*.ko' -exec cp {} /var/tmp/disk/modules \;
    cd /var/tmp
    for name in $programs; do
      for part in lib sbin usr; do [ ! -d unpacked-\$name/\$part ] || cp -a unpacked-\$name/\$part /var/tmp/disk/; done
    done
    rm -rf disk/usr/share disk/lib/systemd disk/lib/udev
  " >>"$kept/build.log" 2>&1 || return 1
  rm -f "$2.new"
  truncate -s "$(($(du -sm "$tree/var/tmp/disk" | cut -f 1) * 2 + 32))M" "$2.new"
  mkfs.ext4 -q -F -L zfs -m 0 -O ^has_journal -d "$tree/var/tmp/disk" "$2.new"
  rm -rf "$tree"
  mv "$2.new" "$2"
}

PATH="$PATH:/usr/sbin:/sbin"
export PATH
version=$(kernel)
image=$kept/$version.img
case ${1:-status} in
  up)
    [ -n "$version" ] || {
      echo 'test-vm: ZFS is built for the kernel of the machine, which is not there: first machine.sh up' >&2
      exit 1
    }
    install -d -m 0755 "$kept"
    [ -e "$image" ] || build "$version" "$image" || {
      tail -n 20 "$kept/build.log" >&2
      exit 1
    }
    echo "$image"
    ;;
  down) rm -rf "$kept" ;;
  status)
    if [ -n "$version" ] && [ -e "$image" ]; then echo "zfs: $image"; else
      echo 'zfs: not built for the kernel of the machine'
      exit 1
    fi
    ;;
  *)
    echo "usage: $0 up|down|status" >&2
    exit 2
    ;;
esac
