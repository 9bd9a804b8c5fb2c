#!/bin/sh
# Boots the machine, runs one command in the checkout inside as root, and ends with its code: boot.sh COMMAND...
# Each machine begins clean: what it writes is thrown away.
# LITTERBOX_VM_SSH_PORT is a port of this machine's loopback that leads to port 22 inside; the machine then starts again when it is told to.
# LITTERBOX_VM_ZFS_DISK is a disk that zfs.sh made, for commands that want it.
# What the command prints goes to stdout; the machine's own console is kept in a file that is told of when something is wrong.
set -eu
base=/var/lib/litterbox-test/vm
limit=${LITTERBOX_VM_TIMEOUT:-3600}
memory=${LITTERBOX_VM_MEMORY:-4096}
zfs=${LITTERBOX_VM_ZFS_DISK:-}
network='-nic none -no-reboot'
# Nothing gets out: the one way is into the machine, over loopback.
[ -z "${LITTERBOX_VM_SSH_PORT:-}" ] ||
  network="-netdev user,id=ssh,restrict=on,hostfwd=tcp:127.0.0.1:$LITTERBOX_VM_SSH_PORT-10.0.2.15:22 -device virtio-net-pci,netdev=ssh,romfile="

kernel='root=/dev/vda rw console=ttyS0 panic=-1 systemd.show_status=no mitigations=off'
if [ -n "${LITTERBOX_VM_EMULATE:-}" ]; then
  # The emulated processors have one time, which the kernel cannot find out in time: it would ask a device of QEMU's for each look at the clock.
  # Code at another address is translated anew: without `norandmaps` that is all of it for each program that starts.
  kernel="$kernel tsc=reliable apparmor=0 norandmaps nokaslr"
  acceleration='-accel tcg,thread=multi,tb-size=1024 -cpu max,la57=off,svm=off'
elif [ -r /dev/kvm ] && [ -w /dev/kvm ]; then
  acceleration='-accel kvm -cpu host,-arch-capabilities,-cx16'
else
  echo 'test-vm: /dev/kvm cannot be opened. Run this as root on a machine with virtualisation, or slowly with LITTERBOX_VM_EMULATE=1.' >&2
  exit 1
fi

run=$(mktemp -d "$base/run-XXXXXX")
machine=''
stop() {
  if [ -n "$machine" ] && [ -e "$run/pid" ]; then kill -9 "$(cat "$run/pid")" 2>/dev/null || :; fi
  rm -rf "$run"
}
trap stop EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# The command as a disk: words quoted for a shell, filled up with newlines to whole sectors.
{
  printf 'exec sh'
  for word in "$@"; do printf " '%s'" "$(printf '%s' "$word" | sed "s/'/'\\\\''/g")"; done
  echo
} >"$run/command"
size=$(wc -c <"$run/command")
head -c "$((4096 - size % 4096))" /dev/zero | tr '\0' '\n' >>"$run/command"

disk() { # FILE NAME OPTIONS
  printf -- '-drive file=%s,if=none,format=raw,id=%s,%s -device virtio-blk-pci,drive=%s,serial=%s' "$1" "$2" "$3" "$2" "$2"
}

# shellcheck disable=SC2046,SC2086
TMPDIR=$run timeout --foreground -k 5 "$limit" qemu-system-x86_64 $acceleration -m "$memory" -smp 2 \
  -pidfile "$run/pid" -nodefaults -no-user-config -display none $network -object rng-random,id=random,filename=/dev/urandom -device virtio-rng-pci,rng=random \
  -kernel "$base/kernel" -initrd "$base/initrd" \
  -append "$kernel" \
  -chardev "file,id=console,path=$run/console" -serial chardev:console \
  $(disk "$base/root.img" root snapshot=on,cache=unsafe) \
  $(disk "$base/checkout.img" checkout snapshot=on,cache=unsafe) \
  $(disk "$run/command" command readonly=on) \
  ${zfs:+$(disk "$zfs" zfs readonly=on)} \
  -chardev stdio,id=output,signal=off -serial chardev:output \
  -chardev "file,id=status,path=$run/status" -serial chardev:status \
  </dev/null &
machine=$!
ended=0
wait $machine || ended=$?
machine=''
code=$(tr -d '\r\n' <"$run/status" 2>/dev/null || :)
if [ -z "$code" ]; then
  if [ "$ended" = 124 ]; then echo "test-vm: the machine did not end within $limit s" >&2; else echo "test-vm: the machine ended without an answer ($ended)" >&2; fi
  tail -n 40 "$run/console" >&2 || :
  exit 1
fi
exit "$code"
