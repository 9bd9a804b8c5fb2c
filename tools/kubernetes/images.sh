#!/bin/sh
# Writes the images of the cluster, as `docker save` would: images.sh DIRECTORY >TAR. One file system of busybox under two names, and the Debian
# of the other tests where it was made.
set -eu
umask 022
dir=$1
rm -rf "$dir"
mkdir -p "$dir/root/bin" "$dir/root/usr/bin" "$dir/root/tmp" "$dir/root/etc" "$dir/save"
cp /bin/busybox "$dir/root/bin/busybox"
for name in $(/bin/busybox --list); do ln -s busybox "$dir/root/bin/$name" 2>/dev/null || :; done
ln -s ../../bin/env "$dir/root/usr/bin/env"
chmod 1777 "$dir/root/tmp"
tar --owner=0 --group=0 --numeric-owner --mtime=@0 --sort=name -cf "$dir/save/layer.tar" -C "$dir/root" .
config() { # LAYER COMMAND
  digest=$(sha256sum "$1" | cut -d ' ' -f 1)
  printf '{"architecture":"amd64","os":"linux","config":{"Cmd":%s,"Env":["PATH=/usr/local/bin:/usr/bin:/bin"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' "$2" "$digest"
}
image() { printf '{"Config":"%s.json","RepoTags":["%s"],"Layers":["%s"]}' "$1" "$2" "$3"; }
config "$dir/save/layer.tar" '["/bin/sleep","2147483647"]' >"$dir/save/pause.json"
config "$dir/save/layer.tar" '["/bin/sh"]' >"$dir/save/busybox.json"
images="$(image pause localhost/pause:1 layer.tar),$(image busybox docker.io/library/busybox:latest layer.tar)"
files='manifest.json pause.json busybox.json layer.tar'
debian=/var/lib/litterbox-test/images/debian.tar
if [ -f "$debian" ]; then
  ln "$debian" "$dir/save/debian.tar"
  config "$debian" '["/bin/sh"]' >"$dir/save/debian.json"
  images="$images,$(image debian docker.io/library/debian:bookworm debian.tar)"
  files="$files debian.json debian.tar"
fi
printf '[%s]' "$images" >"$dir/save/manifest.json"
# shellcheck disable=SC2086
tar -cf - -C "$dir/save" $files
