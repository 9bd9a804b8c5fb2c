#!/bin/sh
# Runs a command as the tests' ordinary user, in the root's checkout: as-ordinary-user.sh ROOT COMMAND...
# The command gets a clean environment and the LITTERBOX_* variables of the caller, besides CI and TMPDIR.
set -eu
root=$1
shift
user=litterbox-test
export root user
# Private mounts: the checkout appears at a path that the user can reach, whatever the modes above and of its
# own top directory are.
# shellcheck disable=SC2016
exec unshare -m --propagation private sh -eu -c '
  at=/opt/litterbox-checkout
  mkdir -p $at
  mount -t tmpfs -o mode=0755 litterbox-checkout $at
  for entry in "$root"/* "$root"/.[!.]*; do
    name=${entry##*/}
    if [ -L "$entry" ]; then
      cp -P "$entry" "$at/$name"
      continue
    elif [ -d "$entry" ]; then
      mkdir "$at/$name"
    elif [ -f "$entry" ]; then
      : >"$at/$name"
    else
      continue
    fi
    mount --bind "$entry" "$at/$name"
  done
  session=/sys/fs/cgroup/litterbox-user-$(id -u "$user")/session/cgroup.procs
  if [ -e "$session" ]; then echo $$ >"$session"; fi
  cd $at
  # No value of these has a blank in it: they are names, numbers and addresses.
  # shellcheck disable=SC2046
  exec setpriv --reuid="$user" --regid="$user" --init-groups \
    env -i HOME="$(getent passwd "$user" | cut -d: -f6)" USER="$user" LOGNAME="$user" SHELL=/bin/sh LANG=C.UTF-8 \
    PATH="$at/node_modules/.bin:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin" \
    TMPDIR="${TMPDIR:-/tmp}" NODE_OPTIONS="${NODE_OPTIONS:-}" CI="${CI:-}" $(env | grep -E "^LITTERBOX_[A-Z_]+=" || :) \
    "$@"
' sh "$@"
