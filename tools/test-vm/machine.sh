#!/bin/sh
# The disk, the kernel and the first file system of the machine, from the mirror that this one uses: machine.sh up|down|status.
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
base=/var/lib/litterbox-test/vm
codename=bookworm
user=litterbox-test

# What Litterbox needs, what the tests need, and a machine around it such as people have.
inside='linux-image-cloud-amd64 initramfs-tools systemd-sysv udev dbus dbus-user-session libpam-systemd kmod procps
  git bubblewrap uidmap tar e2fsprogs mount
  podman crun slirp4netns fuse-overlayfs ca-certificates
  openssh-server perl busybox-static rsync tmux strace iproute2 xfsprogs'

# Anything that decides what is in the disk: another one is made when it changes.
version() { cat "$here/machine.sh" "$here/litterbox-command.service" | sha256sum | cut -c 1-16; }

packages() {
  lacking=''
  command -v qemu-system-x86_64 >/dev/null 2>&1 || lacking="$lacking qemu-system-x86"
  command -v mmdebstrap >/dev/null 2>&1 || lacking="$lacking mmdebstrap"
  command -v mkfs.ext4 >/dev/null 2>&1 || lacking="$lacking e2fsprogs"
  [ -n "$lacking" ] || return 0
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    printf 'test-vm: missing:%s. On Debian: sudo apt-get update && sudo apt-get install -y%s\n' "$lacking" "$lacking" >&2
    return 1
  fi
  printf 'test-vm: installing%s\n' "$lacking" >&2
  # shellcheck disable=SC2086
  sh "$here/../install-packages.sh" $lacking
}

build() {
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Codename: $codename" 'Component: main' | head -n 1)
  tree=$base/tree.new
  rm -rf "$tree"
  echo 'test-vm: building the machine' >&2
  # shellcheck disable=SC2086
  mmdebstrap --quiet --mode=root --variant=apt --aptopt='APT::Install-Recommends "false"' \
    --include="$(echo $inside | tr ' ' ,)" "$codename" "$tree" "$mirror" 2>"$base/mmdebstrap.log" || {
    tail -n 20 "$base/mmdebstrap.log" >&2
    return 1
  }
  chroot "$tree" sh -eu -c "
    useradd --create-home --shell /bin/bash $user
    install -d -m 0755 /var/lib/systemd/linger /opt/litterbox-checkout /var/lib/litterbox-test
    touch /var/lib/systemd/linger/$user
    printf 'blacklist kvm_amd\nblacklist kvm_intel\nblacklist powernow_k8\n' >/etc/modprobe.d/litterbox.conf
    systemctl -q disable ssh.service
    systemctl -q mask apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer fstrim.timer dpkg-db-backup.timer getty@tty1.service serial-getty@ttyS0.service
  "
  cp "$here/litterbox-command.service" "$tree/etc/systemd/system/"
  chroot "$tree" systemctl -q enable litterbox-command.service
  printf '/dev/vda / ext4 noatime 0 1\n/dev/disk/by-label/checkout /opt/litterbox-checkout ext4 noatime 0 0\n' >"$tree/etc/fstab"
  echo litterbox-vm >"$tree/etc/hostname"
  printf '127.0.0.1 localhost litterbox-vm\n::1 localhost\n' >"$tree/etc/hosts"
  rm -rf "$tree"/var/cache/apt/*.bin "$tree"/var/cache/apt/archives/*.deb "$tree"/var/lib/apt/lists/*
  mv "$tree"/boot/vmlinuz-* "$base/kernel"
  mv "$tree"/boot/initrd.img-* "$base/initrd"
  rm -f "$base/root.img.new"
  truncate -s 8G "$base/root.img.new"
  mkfs.ext4 -q -F -L root -E lazy_itable_init=0,lazy_journal_init=0 -d "$tree" "$base/root.img.new"
  rm -rf "$tree"
  mv "$base/root.img.new" "$base/root.img"
  version >"$base/version"
}

is_built() { [ -e "$base/root.img" ] && [ "$(cat "$base/version" 2>/dev/null)" = "$(version)" ]; }

PATH="$PATH:/usr/sbin:/sbin"
export PATH
case ${1:-status} in
  up)
    packages
    install -d -m 0755 "$base"
    is_built || build
    ;;
  down) rm -rf "$base" ;;
  status)
    if is_built; then echo "machine: $base"; else
      echo 'machine: not built'
      exit 1
    fi
    ;;
  *)
    echo "usage: $0 up|down|status" >&2
    exit 2
    ;;
esac
