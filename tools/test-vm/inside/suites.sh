#!/bin/sh
# Runs inside the machine: suites.sh [--only PATTERN] [NAME...]. Each suite by itself, all of them even when one fails.
# With `--only` just the tests whose titles match.
set -u
here=tools/test-vm/inside
only=''
if [ "${1:-}" = --only ]; then
  only=$2
  shift 2
fi
[ $# -gt 0 ] || set -- overlayfs-root overlayfs-user podman-user podman-root host-root host-user main-job-root main-job-user
failed=''

suite() { # root|user PROJECT PATTERN
  LITTERBOX_REQUIRE=overlayfs-overlay,podman,podman-rootless
  LITTERBOX_JEST_CACHE=/var/tmp/jest-$1
  NODE_OPTIONS='--experimental-vm-modules --no-warnings'
  export LITTERBOX_REQUIRE LITTERBOX_JEST_CACHE NODE_OPTIONS
  sh $here/as.sh "$1" timeout -k 30 5400 jest -c jest.config.mjs --selectProjects "$2" --runInBand --testTimeout=600000 \
    --testPathPatterns "$3" ${only:+-t "$only"}
}

# The engine of who uses it, started as people start it, where the tests look for the engine of the tests.
podman() { # root|user
  run=/var/lib/litterbox-test/run
  if [ "$1" = root ]; then
    systemctl start podman.socket
    install -d -m 0755 $run
    ln -sfn /run/podman/podman.sock $run/podman.sock
  else
    uid=$(id -u litterbox-test)
    sh $here/as.sh session systemctl --user start podman.socket
    install -d -m 0755 "$run/user-$uid"
    ln -sfn "/run/user/$uid/podman/podman.sock" "$run/user-$uid/podman.sock"
  fi
  [ -e /var/tmp/busybox.tar ] || sh $here/busybox-image.sh /var/tmp/busybox.tar
  who=$1
  [ "$who" = root ] || who=session
  sh $here/as.sh $who podman import -q /var/tmp/busybox.tar docker.io/library/busybox:latest
}

for name in "$@"; do
  who=${name##*-}
  echo "suite: $name"
  case $name in
    overlayfs-*) suite "$who" provider-overlayfs 'overlay.conformance|disk|scan-contents|src/' ;;
    podman-*) podman "$who" && suite "$who" provider-podman busybox.conformance ;;
    host-*) suite "$who" host 'local|src/' ;;
    main-job-*) suite "$who" litterbox main-job ;;
    *)
      echo "test-vm: no suite $name" >&2
      false
      ;;
  esac || failed="$failed $name"
done
if [ -n "$failed" ]; then
  echo "test-vm: failed:$failed"
  exit 1
fi
echo 'test-vm: every suite passed'
