#!/bin/sh
# Debian packages of the tests: packages.sh up|down|status [gate]. `down` leaves them: others may have come to need them.
set -eu
wanted='bubblewrap uidmap xfsprogs btrfs-progs busybox-static strace rsync tmux docker.io podman runc crun slirp4netns fuse-overlayfs iptables iproute2 openssl openssh-client openssh-server git-lfs chromium'
# What the deep tests build with, and what makes their image.
builders='gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static mmdebstrap make gcc libc6-dev cmake cargo gradle default-jdk-headless'
[ "${2:-gate}" = gate ] || wanted="$wanted $builders"

missing() {
  for package in $wanted; do
    case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true) in
      'install ok installed') ;;
      *) printf ' %s' "$package" ;;
    esac
  done
}

case ${1:-status} in
  up)
    lacking=$(missing)
    [ -n "$lacking" ] || exit 0
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
      printf 'packages: missing:%s. On Debian: sudo apt-get update && sudo apt-get install -y%s\n' "$lacking" "$lacking" >&2
      exit 1
    fi
    printf 'packages: installing%s\n' "$lacking" >&2
    # shellcheck disable=SC2086
    sh "$(dirname "$0")/../install-packages.sh" $lacking
    # The engines of the tests are their own (docker.sh, podman.sh): what the packages started is not needed.
    if command -v systemctl >/dev/null 2>&1 && [ -d /run/systemd/system ]; then
      case $lacking in *docker.io*) systemctl disable --now docker.service docker.socket containerd.service >/dev/null 2>&1 || : ;; esac
      case $lacking in *podman*) systemctl disable --now podman.socket podman.service >/dev/null 2>&1 || : ;; esac
      case $lacking in *openssh-server*) systemctl disable --now ssh.service ssh.socket >/dev/null 2>&1 || : ;; esac
    elif [ -x /etc/init.d/ssh ]; then
      case $lacking in *openssh-server*) /etc/init.d/ssh stop >/dev/null 2>&1 || : ;; esac
    fi
    ;;
  down) ;;
  status)
    lacking=$(missing)
    if [ -n "$lacking" ]; then
      printf 'packages: missing:%s\n' "$lacking"
      exit 1
    fi
    echo 'packages: installed'
    ;;
  *)
    echo "usage: $0 up|down|status" >&2
    exit 2
    ;;
esac
