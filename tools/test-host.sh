#!/bin/sh
# Prepares this machine for the tests that touch real backends: up [gate] | down | status [gate].
# `up gate` makes what the gate needs, and leaves no other image in the engines; `up` also makes what the deep tests need: an image
# with supervisors, compilers, the programs of others.
# What was made is kept and found again: a second `up` takes seconds.
set -u
here=$(cd "$(dirname "$0")" && pwd)
action=${1:-status}
level=${2:-all}
case $action:$level in
  up:gate | up:all | down:all | status:all | status:gate) ;;
  *)
    echo "usage: $0 up [gate] | down | status [gate]" >&2
    exit 2
    ;;
esac
# One at a time: two that prepare one machine would trip over each other. What a part starts and leaves running does not have the lock.
lock=/run/litterbox-test-host.lock
if [ "$action" != status ] && [ "$(id -u)" = 0 ] && [ "${TEST_HOST_LOCKED:-}" != locked ]; then
  TEST_HOST_LOCKED=locked
  export TEST_HOST_LOCKED
  flock --nonblock --close --conflict-exit-code 75 "$lock" sh "$0" "$@"
  code=$?
  [ $code = 75 ] || exit $code
  echo 'test-host: waiting for another run that prepares this machine' >&2
  exec flock --close "$lock" sh -c '[ "$2 $3" = "up " ] && sh "$1" status >/dev/null 2>&1 || exec sh "$@"' sh "$0" "$@"
fi
status=0
part() {
  sh "$here/test-host/$1.sh" "$action" "$level" || {
    [ "$action" = status ] || printf 'test-host: %s %s failed\n' "$1" "$action" >&2
    return 1
  }
}
# Parts that do not need each other, side by side.
together() {
  pids=''
  for name in "$@"; do
    part "$name" &
    pids="$pids $!"
  done
  for pid in $pids; do wait "$pid" || status=1; done
}
one_by_one() { for name in "$@"; do part "$name" || status=1; done; }

case $action in
  up)
    referees=''
    if [ "$level" = all ]; then referees=referees; fi
    # shellcheck disable=SC2086
    together packages $referees
    [ $status = 0 ] || exit 1
    one_by_one user
    together filesystems cgroups images
    [ $status = 0 ] || exit 1
    together docker podman
    ;;
  down) one_by_one referees podman docker images cgroups filesystems user packages ;;
  status)
    one_by_one packages user filesystems cgroups images docker podman
    [ "$level" = gate ] || one_by_one referees
    ;;
esac
exit $status
