#!/bin/sh
# Writes the images of the cluster, as `docker save` would: images.sh DIRECTORY >TAR. One file system of busybox under two names.
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
digest=$(sha256sum "$dir/save/layer.tar" | cut -d ' ' -f 1)
config() { printf '{"architecture":"amd64","os":"linux","config":{"Cmd":%s,"Env":["PATH=/usr/local/bin:/usr/bin:/bin"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' "$1" "$digest"; }
config '["/bin/sleep","2147483647"]' >"$dir/save/pause.json"
config '["/bin/sh"]' >"$dir/save/busybox.json"
printf '[{"Config":"pause.json","RepoTags":["localhost/pause:1"],"Layers":["layer.tar"]},{"Config":"busybox.json","RepoTags":["docker.io/library/busybox:latest"],"Layers":["layer.tar"]}]' >"$dir/save/manifest.json"
tar -cf - -C "$dir/save" manifest.json pause.json busybox.json layer.tar
