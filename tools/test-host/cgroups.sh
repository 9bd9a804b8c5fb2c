#!/bin/sh
# Control groups that an ordinary user may divide: cgroups.sh up|down|status. Of another user than the tests' own: LITTERBOX_TEST_USER.
set -eu
action=${1:-status}
user=${LITTERBOX_TEST_USER:-litterbox-test}
top=/sys/fs/cgroup

uid=$(id -u "$user" 2>/dev/null || true)
if [ -z "$uid" ]; then
  [ "$action" = down ] && exit 0
  echo "cgroups: no user $user"
  exit 1
fi
group=litterbox-user-$uid
owner=$uid:$(id -g "$user")

if [ -e "$top/cgroup.controllers" ]; then version=2; else version=1; fi

directories() {
  if [ $version = 2 ]; then
    echo "$top/$group"
  else
    for controller in memory pids cpu cpuacct freezer; do
      [ ! -d "$top/$controller" ] || echo "$top/$controller/$group"
    done
  fi
}

# A kernel removes a control group only when it is empty, children first.
remove() {
  [ -d "$1" ] || return 0
  find "$1" -depth -type d -exec rmdir {} +
}

case $action in
  up)
    if [ $version = 2 ]; then
      for controller in memory pids cpu; do
        if ! grep -qw "$controller" "$top/cgroup.subtree_control"; then
          echo "+$controller" >"$top/cgroup.subtree_control" 2>/dev/null || echo "cgroups: cannot hand out $controller" >&2
        fi
      done
    fi
    for directory in $(directories); do
      if [ -d "$directory" ] && [ "$(stat -c %u "$directory")" = "$uid" ]; then continue; fi
      mkdir -p "$directory"
      if [ $version = 2 ]; then
        # A process may be moved within the delegated tree only: the test run starts in this leaf.
        mkdir -p "$directory/session"
        chown "$owner" "$directory" "$directory/cgroup.procs" "$directory/cgroup.threads" "$directory/cgroup.subtree_control"
        chown "$owner" "$directory/session" "$directory/session/cgroup.procs"
      else
        chown -R "$owner" "$directory"
      fi
    done
    ;;
  down) for directory in $(directories); do remove "$directory"; done ;;
  status)
    status=0
    for directory in $(directories); do
      if [ -d "$directory" ] && [ "$(stat -c %u "$directory")" = "$uid" ]; then
        printf 'cgroups: v%s %s\n' $version "$directory"
      else
        printf 'cgroups: v%s %s absent\n' $version "$directory"
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
