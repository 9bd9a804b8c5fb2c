#!/bin/sh
# Root file systems for the images of the tests, made without a registry: images.sh up [gate] | down | status [gate].
# The gate needs BusyBox and Debian.
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

# Debian as this machine has it: the essential packages and what they depend on, copied from here. That takes seconds and no mirror.
essential_packages() {
  new=$(dpkg-query -W -f '${Essential} ${Package}\n' | sed -n 's/^yes //p')
  all=''
  while [ -n "$new" ]; do
    all="$all $new"
    # Of alternatives the first; a virtual package is none that dpkg knows.
    # shellcheck disable=SC2086
    new=$(dpkg-query -W -f '${Pre-Depends}, ${Depends}\n' $new 2>/dev/null | tr , '\n' | sed 's/[|(:].*//; s/ //g' | sort -u |
      while read -r name; do
        # shellcheck disable=SC2086
        case " $(echo $all) " in *" $name "*) ;; *) echo "$name" ;; esac
      done)
  done
  # shellcheck disable=SC2086
  dpkg-query -W -f '${db:Status-Status} ${Package}\n' $all 2>/dev/null | sed -n 's/^installed //p'
}

debian_image() {
  root=$(mktemp -d "$images/.debian-XXXXXX")
  chmod 0755 "$root"
  for name in bin sbin lib lib64; do
    install -d "$root/usr/$name"
    ln -s "usr/$name" "$root/$name"
  done
  # shellcheck disable=SC2046
  {
    dpkg -L $(essential_packages)
    printf '%s\n' /usr/bin/awk /etc/alternatives/awk "$(readlink -f /usr/bin/awk)"
  } | grep -E '^/.' | grep -Ev '^/(s?bin|lib(64)?|usr/share/(doc|info|lintian|locale|man)/.*)$' | sort -u >"$images/.debian.files"
  tar -c -C / --no-recursion --verbatim-files-from -T "$images/.debian.files" 2>/dev/null | tar -x -C "$root" --keep-directory-symlink --numeric-owner
  cp /usr/share/base-passwd/passwd.master "$root/etc/passwd"
  cp /usr/share/base-passwd/group.master "$root/etc/group"
  tar -c -f "$images/.debian.tar.new" -C "$root" --numeric-owner .
  rm -rf "$root" "$images/.debian.files"
  mv "$images/.debian.tar.new" "$images/debian.tar"
}

# A Debian with three supervisors, from the mirror that this machine itself uses.
supervisors_image() {
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Codename: $codename" 'Component: main' | head -n 1)
  mmdebstrap --variant=minbase --include=supervisor,s6,runit --format=tar \
    "$codename" "$images/.supervisors.tar.new" "$mirror" >"$images/mmdebstrap.log" 2>&1 || {
    tail -n 5 "$images/mmdebstrap.log" >&2
    return 1
  }
  mv "$images/.supervisors.tar.new" "$images/supervisors.tar"
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
    [ -e "$images/debian.tar" ] || debian_image
    [ "${2:-all}" = all ] || exit 0
    [ -e "$images/supervisors.tar" ] || supervisors_image
    [ -d "$images/supervisors" ] || unpacked supervisors
    ;;
  down) rm -rf "$images/supervisors" "$images/busybox.tar" "$images/debian.tar" "$images/supervisors.tar" "$images/mmdebstrap.log" ;;
  status)
    status=0
    names='busybox debian'
    [ "${2:-all}" = gate ] || names="$names supervisors"
    for name in $names; do
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
