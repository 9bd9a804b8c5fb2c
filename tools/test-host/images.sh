#!/bin/sh
# Root file systems for the images of the tests, made without a registry: images.sh up [gate] | down | status.
# The gate needs BusyBox alone.
set -eu
base=/var/lib/litterbox-test
images=$base/images
codename=bookworm

busybox_image() {
  root=$(mktemp -d "$images/.busybox-XXXXXX")
  mkdir "$root/bin" "$root/etc" "$root/tmp" "$root/root" "$root/usr" "$root/usr/bin"
  cp /bin/busybox "$root/bin/busybox"
  for name in $(/bin/busybox --list); do
    [ "$name" = busybox ] || ln -s busybox "$root/bin/$name"
  done
  printf 'root:x:0:0:root:/root:/bin/sh\n' >"$root/etc/passwd"
  tar -c -f "$images/.busybox.tar.new" -C "$root" --numeric-owner .
  rm -rf "$root"
  mv "$images/.busybox.tar.new" "$images/busybox.tar"
}

# The smallest Debian there is, from the mirror that this machine itself uses, and the same with three supervisors: one bootstrap
# for both.
debian_images() {
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Codename: $codename" 'Component: main' | head -n 1)
  pack="tar -c --numeric-owner --exclude=./dev/* --exclude=./proc/* --exclude=./sys/* --exclude=./var/cache/apt/* --exclude=./var/lib/apt/lists/*"
  # shellcheck disable=SC2016
  mmdebstrap --variant=minbase --format=null \
    --customize-hook="$pack -f '$images/.debian.tar.new' -C \"\$1\" ." \
    --customize-hook='chroot "$1" apt-get -qq install --yes --no-install-recommends supervisor s6 runit >/dev/null' \
    --customize-hook="$pack -f '$images/.supervisors.tar.new' -C \"\$1\" ." \
    "$codename" - "$mirror" >"$images/mmdebstrap.log" 2>&1 || {
    tail -n 5 "$images/mmdebstrap.log" >&2
    return 1
  }
  mv "$images/.supervisors.tar.new" "$images/supervisors.tar"
  mv "$images/.debian.tar.new" "$images/debian.tar"
}

# The same as a directory, for sandboxes that have it as their root.
unpacked() {
  root=$(mktemp -d "$images/.$1-XXXXXX")
  tar -x -f "$images/$1.tar" -C "$root" --numeric-owner
  chmod 0755 "$root"
  mv "$root" "$images/$1"
}

PATH="$PATH:/usr/sbin:/sbin"
export PATH
case ${1:-status} in
  up)
    install -d -m 0755 "$base" "$images"
    [ -e "$images/busybox.tar" ] || busybox_image
    [ "${2:-all}" = all ] || exit 0
    [ -e "$images/debian.tar" ] || debian_images
    [ -d "$images/supervisors" ] || unpacked supervisors
    ;;
  down) rm -rf "$images/supervisors" "$images/busybox.tar" "$images/debian.tar" "$images/supervisors.tar" "$images/mmdebstrap.log" ;;
  status)
    status=0
    for name in busybox debian supervisors; do
      if [ -e "$images/$name.tar" ]; then
        echo "images: $name"
      else
        echo "images: $name absent"
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
