#!/bin/sh
# Podman services of the tests' own, one of root and one of the ordinary user: podman.sh up [gate] | down | status [gate].
set -eu
base=/var/lib/litterbox-test
run=$base/run
user=litterbox-test
conf=$run/containers.conf
level=${2:-all}
library=docker.io/library
gate_images='busybox:latest'
deep_images='debian:bookworm supervisors:bookworm'

# Both: a directory of theirs for sockets and one for data, by the first word.
socket() { if [ "$1" = root ]; then echo "$run/podman.sock"; else echo "$run/user-$(id -u $user)/podman.sock"; fi; }
data() { if [ "$1" = root ]; then echo "$base/fs/engines/podman"; else echo "$base/fs/engines/podman-user"; fi; }

as() { # root|user COMMAND...
  who=$1
  shift
  if [ "$who" = root ]; then
    # With either of them podman is a remote client, which starts no service.
    env -u CONTAINER_HOST -u CONTAINER_CONNECTION CONTAINERS_CONF="$conf" "$@"
  else
    setpriv --reuid=$user --regid=$user --init-groups env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin \
      HOME=$base/home USER=$user LOGNAME=$user XDG_RUNTIME_DIR="$run/user-$(id -u $user)" CONTAINERS_CONF="$conf" "$@"
  fi
}

client() { # root|user ARGUMENTS...
  who=$1
  shift
  as "$who" podman --remote --url "unix://$(socket "$who")" "$@"
}

has() { client "$1" image exists "$library/$2"; }

alive() { client "$1" version >/dev/null 2>&1; }

complete() { # root|user
  for image in $gate_images $([ "$level" = gate ] || echo "$deep_images"); do has "$1" "$image" || return 1; done
}

up() { # root|user
  who=$1
  if ! alive "$who"; then
    at=$(socket "$who")
    directory=${at%/*}
    owner=root
    [ "$who" = root ] || owner=$user
    install -d -m 0755 -o $owner -g $owner "$directory"
    install -d -m 0700 -o $owner -g $owner "$(data "$who")"
    rm -f "$at"
    cd /
    # In a subshell: a function's own redirections would keep a copy of who called's output open as long as the service lives.
    (as "$who" setsid podman --root "$(data "$who")" --runroot "$directory/podman" --storage-driver overlay system service --time=0 "unix://$at") \
      >"$directory/podman.log" 2>&1 </dev/null &
    n=0
    until alive "$who"; do
      n=$((n + 1))
      [ $n -lt 300 ] || {
        tail -n 5 "$directory/podman.log" >&2
        return 1
      }
      sleep 0.1
    done
  fi
  for image in $gate_images $([ "$level" = gate ] || echo "$deep_images"); do
    has "$who" "$image" || client "$who" import - "$library/$image" <"$base/images/${image%:*}.tar" >/dev/null
  done
  # What only the deep tests have goes, so that the gate is red wherever it needs that, and not on a fresh machine alone.
  [ "$level" = gate ] || return 0
  for image in $deep_images; do
    if has "$who" "$image"; then client "$who" image rm "$library/$image" >/dev/null; fi
  done
}

down() { # root|user
  who=$1
  at=$(socket "$who")
  directory=${at%/*}
  if [ -e "$at" ]; then client "$who" rm --all --force --time 0 >/dev/null 2>&1 || :; fi
  # Who serves this socket, also where the shell that started it was killed.
  for one in /proc/[0-9]*; do
    case $(tr '\0' ' ' 2>/dev/null <"$one/cmdline") in
      *' system service '*" unix://$at ") kill "${one#/proc/}" 2>/dev/null || : ;;
    esac
  done 2>/dev/null
  # What keeps the user's own name space alive, and the mount that the store makes of itself.
  [ "$who" = root ] || as "$who" podman --root "$(data "$who")" --runroot "$directory/podman" system migrate >/dev/null 2>&1 || :
  awk -v below="$(data "$who")/" 'index($2, below) == 1 { print $2 }' /proc/self/mounts | sort -r | while read -r mount; do umount "$mount" || :; done
  rm -rf "$(data "$who")" "$directory/podman" "$directory/podman.log" "$at"
}

case ${1:-status} in
  up)
    install -d -m 0755 "$base" "$run"
    # This machine may lack the privilege to raise limits, and mix both versions of control groups.
    cat >"$conf" <<'CONF'
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=8192:8192"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
CONF
    up root &
    of_root=$!
    if id $user >/dev/null 2>&1; then up user; fi
    wait $of_root
    ;;
  down)
    down root
    if id $user >/dev/null 2>&1; then down user; fi
    rm -f "$conf"
    ;;
  status)
    status=0
    for who in root user; do
      if alive $who && complete $who; then
        echo "podman: $who, $(client $who version --format '{{.Server.Version}}') at $(socket $who)"
      else
        echo "podman: $who, not running, or without its images"
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
