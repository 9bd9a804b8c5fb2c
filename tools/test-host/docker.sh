#!/bin/sh
# A Docker Engine of the tests' own, on a socket and a bridge of its own: docker.sh up [gate] | down | status [gate].
set -eu
base=/var/lib/litterbox-test
run=$base/run
data=$base/fs/engines/docker
socket=$run/docker.sock
bridge=lbtest0
user=litterbox-test
level=${2:-all}
gate_images='busybox:latest debian:bookworm'
deep_images='supervisors:bookworm'

alive() {
  [ -e "$run/docker.pid" ] || return 1
  read -r pid <"$run/docker.pid" || [ -n "$pid" ] || return 1
  [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = dockerd ] && tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q -- "$socket"
}

client() { /usr/bin/docker -H "unix://$socket" "$@"; }

has() { client image inspect "$@" >/dev/null 2>&1; }

make() { # NAME:TAG..., each of the tar with that name
  for image in "$@"; do
    has "$image" || client import "$base/images/${image%:*}.tar" "$image" >/dev/null
  done
}

PATH="$PATH:/usr/sbin:/sbin"
export PATH
case ${1:-status} in
  up)
    install -d -m 0755 "$base" "$run"
    if ! alive; then
      # A second engine without a bridge of its own would take the first one's away.
      ip link show $bridge >/dev/null 2>&1 || ip link add $bridge type bridge
      ip addr show dev $bridge | grep -q 172.31.251.1 || ip addr add 172.31.251.1/24 dev $bridge
      ip link set $bridge up
      echo '{}' >"$run/docker.json"
      rm -f "$run/docker.pid" "$socket"
      setsid dockerd --config-file "$run/docker.json" --data-root "$data" --exec-root "$run/docker" --pidfile "$run/docker.pid" \
        -H "unix://$socket" --bridge $bridge --iptables=false --ip6tables=false >"$run/docker.log" 2>&1 </dev/null &
      n=0
      until client version >/dev/null 2>&1; do
        n=$((n + 1))
        [ $n -lt 300 ] || {
          tail -n 5 "$run/docker.log" >&2
          exit 1
        }
        sleep 0.1
      done
    fi
    # The tests' ordinary user reaches this engine, and is root on this machine by it: as everybody in that group.
    if id $user >/dev/null 2>&1; then chgrp "$user" "$socket"; fi
    # shellcheck disable=SC2086
    make $gate_images
    # What only the deep tests have goes, so that the gate is red wherever it needs that, and not on a fresh machine alone.
    # shellcheck disable=SC2086
    if [ "$level" = all ]; then
      make $deep_images
    elif has $deep_images; then
      client image rm $deep_images >/dev/null
    fi
    ;;
  down)
    if alive; then
      containers=$(client ps --all --quiet)
      # shellcheck disable=SC2086
      [ -z "$containers" ] || client rm --force $containers >/dev/null || :
      read -r pid <"$run/docker.pid" || :
      kill "$pid"
      n=0
      while [ -d "/proc/$pid" ] && [ $n -lt 300 ]; do
        n=$((n + 1))
        sleep 0.1
      done
    fi
    # The engine mounts its directory on itself, and leaves that when it ends in a hurry.
    awk -v one="$data/" -v two="$run/docker/" 'index($2 "/", one) == 1 || index($2, two) == 1 { print $2 }' /proc/self/mounts | sort -r | while read -r mount; do umount "$mount" || :; done
    rm -rf "$data" "$run/docker" "$run/docker.json" "$run/docker.log" "$socket"
    if ip link show $bridge >/dev/null 2>&1; then ip link delete $bridge; fi
    ;;
  status)
    wanted=$gate_images
    [ "$level" = gate ] || wanted="$wanted $deep_images"
    # shellcheck disable=SC2086
    if alive && has $wanted; then
      echo "docker: $(client version --format '{{.Server.Version}}') at $socket"
    else
      echo 'docker: not running, or without its images'
      exit 1
    fi
    ;;
  *)
    echo "usage: $0 up|down|status" >&2
    exit 2
    ;;
esac
