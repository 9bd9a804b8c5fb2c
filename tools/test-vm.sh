#!/bin/sh
# A second machine for the tests: Debian with systemd and control groups version 2, in QEMU, without a network.
#
# test-vm.sh up|down|status     builds it, takes it away, tells what is there; `run` and the others build what is missing
# test-vm.sh run [--user|--session] -- COMMAND...
#                               in the checkout, on a clean machine: as root, as an ordinary user with control groups of its own
#                               (systemd-run --user --scope -p Delegate=yes), or as that user's login alone; ends with the command's code
# test-vm.sh run --zfs -- COMMAND...
#                               as root, with OpenZFS and a pool; its modules are built first, once for each kernel
# test-vm.sh ssh [--zfs] -- COMMAND...
#                               runs the command here while a clean machine serves SSH on loopback: see tools/test-vm/ssh.sh; with a pool
#                               of ZFS, which one boot keeps for many runs
# test-vm.sh suites [--only PATTERN] [NAME...]
#                               the suites of tools/test-vm/inside/suites.sh
#
# LITTERBOX_VM_TIMEOUT=SECONDS  after which a machine is ended (3600)
# LITTERBOX_VM_MEMORY=MIB       of the machine (4096)
# LITTERBOX_VM_EMULATE=1        without /dev/kvm: very slow
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
parts=$root/tools/test-vm
action=${1:-status}
[ $# = 0 ] || shift

# The disk of ZFS, for boot.sh.
with_zfs() {
  LITTERBOX_VM_ZFS_DISK=$(sh "$parts/zfs.sh" up)
  export LITTERBOX_VM_ZFS_DISK
}

ready() {
  sh "$root/tools/setup.sh"
  sh "$parts/machine.sh" up
  sh "$parts/checkout.sh" up
}

case $action in
  up) ready ;;
  status | down)
    status=0
    for part in checkout machine; do sh "$parts/$part.sh" "$action" || status=1; done
    exit $status
    ;;
  run)
    who=root
    while [ $# -gt 0 ]; do
      case $1 in
        --user) who=user ;;
        --session) who=session ;;
        --zfs) who=zfs ;;
        --) shift && break ;;
        *) break ;;
      esac
      shift
    done
    [ $# -gt 0 ] || {
      echo "usage: $0 run [--user|--session] -- COMMAND..." >&2
      exit 2
    }
    ready
    if [ "$who" = zfs ]; then
      with_zfs
      exec sh "$parts/boot.sh" tools/test-vm/inside/with-zfs.sh "$@"
    fi
    exec sh "$parts/boot.sh" "tools/test-vm/inside/as.sh" "$who" "$@"
    ;;
  ssh)
    zfs=''
    [ "${1:-}" != --zfs ] || { zfs=1 && shift; }
    [ "${1:-}" != -- ] || shift
    [ $# -gt 0 ] || {
      echo "usage: $0 ssh [--zfs] -- COMMAND..." >&2
      exit 2
    }
    sh "$parts/machine.sh" up
    sh "$parts/checkout.sh" up
    [ ! "$zfs" ] || with_zfs
    exec sh "$parts/ssh.sh" "$@"
    ;;
  suites)
    ready
    exec sh "$parts/boot.sh" tools/test-vm/inside/suites.sh "$@"
    ;;
  *)
    echo "usage: $0 up|down|status|run|ssh|suites" >&2
    exit 2
    ;;
esac
