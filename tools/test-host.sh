#!/bin/sh
# Prepares this machine for the tests that touch real backends: up | down | status.
set -u
here=$(cd "$(dirname "$0")" && pwd)
action=${1:-status}
case $action in
  up | status) parts='packages user filesystems cgroups images docker podman referees' ;;
  down) parts='referees podman docker images cgroups filesystems user packages' ;;
  *)
    echo "usage: $0 up|down|status" >&2
    exit 2
    ;;
esac
status=0
for part in $parts; do
  if ! sh "$here/test-host/$part.sh" "$action"; then
    status=1
    [ "$action" = status ] || printf 'test-host: %s %s failed\n' "$part" "$action" >&2
  fi
done
exit $status
