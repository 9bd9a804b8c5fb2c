#!/bin/sh
# This checkout, built and with its packages, as a disk of the machine: checkout.sh up|down|status.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd -P)
base=/var/lib/litterbox-test/vm
image=$base/checkout.img

# The same one, and nothing in it is newer.
is_current() {
  [ -e "$image" ] && [ "$(cat "$base/checkout.from" 2>/dev/null)" = "$root" ] &&
    [ -z "$(find "$root" \( -path "$root/.nx" -o -path "$root/bench/results" \) -prune -o -newer "$image" -print 2>/dev/null | head -n 1)" ]
}

PATH="$PATH:/usr/sbin:/sbin"
export PATH
case ${1:-status} in
  up)
    ! is_current || exit 0
    echo 'test-vm: packing the checkout' >&2
    size=$(du -sm "$root" | cut -f 1)
    : >"$image.new"
    truncate -s "$((size * 2 + 256))M" "$image.new"
    mkfs.ext4 -q -F -L checkout -m 0 -O ^has_journal -d "$root" "$image.new"
    rm -f "$image"
    mv "$image.new" "$image"
    echo "$root" >"$base/checkout.from"
    ;;
  down) rm -f "$image" "$image.new" "$base/checkout.from" ;;
  status)
    if is_current; then echo "checkout: $image"; else
      echo 'checkout: not packed, or changed since'
      exit 1
    fi
    ;;
  *)
    echo "usage: $0 up|down|status" >&2
    exit 2
    ;;
esac
