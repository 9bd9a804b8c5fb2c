#!/bin/sh
# Runs a command here while a clean machine serves SSH: ssh.sh COMMAND...
# The command finds LITTERBOX_TEST_MACHINE, a directory with `port`, `key` (of root and of litterbox-test) and `known_hosts`.
# LITTERBOX_VM_ZFS_DISK is a disk that zfs.sh made: then the machine has a pool too.
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
place=$(mktemp -d "${TMPDIR:-/tmp}/litterbox-machine-XXXXXX")
machine=''
stop() {
  # The script that boots it takes it away, and the disks of the run.
  if [ -n "$machine" ] && kill -TERM "$machine" 2>/dev/null; then wait "$machine" || :; fi
  rm -rf "$place"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

for name in key host-key; do ssh-keygen -q -t ed25519 -N '' -C test -f "$place/$name"; done
port=$(node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
echo "$port" >"$place/port"
echo "[127.0.0.1]:$port $(cat "$place/host-key.pub")" >"$place/known_hosts"
inside=tools/test-vm/inside
# shellcheck disable=SC2086
LITTERBOX_VM_SSH_PORT=$port sh "$here/boot.sh" ${LITTERBOX_VM_ZFS_DISK:+$inside/with-zfs.sh sh} $inside/serve-ssh.sh \
  "$(base64 -w 0 <"$place/host-key")" "$(base64 -w 0 <"$place/key.pub")" >"$place/said" 2>&1 &
machine=$!

answers() { # what listens on the forwarded port is QEMU, so that only words of the server count
  node -e 'const s = require("node:net").connect(Number(process.argv[1]), "127.0.0.1"); s.setTimeout(5000, () => process.exit(1)); s.once("data", (b) => process.exit(b.toString().startsWith("SSH-") ? 0 : 1)); s.once("close", () => process.exit(1)); s.on("error", () => {});' "$port"
}
until answers; do
  kill -0 "$machine" 2>/dev/null || {
    cat "$place/said" >&2
    exit 1
  }
  sleep 1
done
code=0
LITTERBOX_TEST_MACHINE=$place "$@" || code=$?
exit "$code"
