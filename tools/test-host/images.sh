#!/bin/sh
# Root file systems for the images of the tests, made without a registry: images.sh up|down|status.
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

# The smallest Debian there is, from the mirror that this machine itself uses: debian_image NAME [packages besides, by commas]
debian_image() {
  name=$1
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Codename: $codename" 'Component: main' | head -n 1)
  root=$(mktemp -d "$images/.$name-XXXXXX")
  debootstrap --variant=minbase ${2:+--include="$2"} "$codename" "$root" "$mirror" >"$images/debootstrap.log" 2>&1 || {
    tail -n 5 "$images/debootstrap.log" >&2
    rm -rf "$root"
    return 1
  }
  rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/*
  tar -c -f "$images/.$name.tar.new" -C "$root" --numeric-owner --exclude=./dev/* --exclude=./proc/* --exclude=./sys/* .
  rm -rf "$root"
  mv "$images/.$name.tar.new" "$images/$name.tar"
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
    [ -e "$images/debian.tar" ] || debian_image debian
    [ -e "$images/supervisors.tar" ] || debian_image supervisors supervisor,s6,runit
    [ -d "$images/supervisors" ] || unpacked supervisors
    ;;
  down) rm -rf "$images/supervisors" "$images/busybox.tar" "$images/debian.tar" "$images/supervisors.tar" "$images/debootstrap.log" ;;
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
