#!/bin/sh
# Makes the root file system of an image that holds nothing but BusyBox: busybox-image.sh FILE.
set -eu
root=$(mktemp -d)
chmod 0755 "$root"
mkdir -p "$root/bin" "$root/etc" "$root/tmp" "$root/root" "$root/usr/bin"
cp /bin/busybox "$root/bin/busybox"
for name in $(/bin/busybox --list); do [ "$name" = busybox ] || ln -s busybox "$root/bin/$name"; done
printf 'root:x:0:0:root:/root:/bin/sh\n' >"$root/etc/passwd"
tar -c -f "$1" -C "$root" --numeric-owner .
chmod 0644 "$1"
rm -rf "$root"
