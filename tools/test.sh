#!/bin/sh
# The gate: set-up, lint, the fast tests, and on every backend what tools/tests/parts.mjs lists for it. As an ordinary user it runs
# the ordinary user's part of that.
#
# LITTERBOX_TEST_ONLY="lint kit-overlay"   only these parts
# LITTERBOX_SEED=N                        another seed than the fixed one, or 'random'
# LITTERBOX_TEST_LANES=N                  how many parts at a time; the number of processors otherwise
# LITTERBOX_REQUIRE=a,b                   backends whose absence is a failure instead of a skip
set -u
root=$(cd "$(dirname "$0")/.." && pwd -P)
cd "$root" || exit 1

status=''
if [ "$(id -u)" = 0 ]; then
  # Packages, file systems and engines come while the checkout is set up, linted and tested without them.
  mkdir -p test-output
  status=test-output/machine.status
  rm -f "$status"
  (
    sh tools/test-host.sh up gate >test-output/machine.log 2>&1 </dev/null
    echo $? >"$status.new" && mv "$status.new" "$status"
  ) &
fi

sh tools/setup.sh || exit 1
# What was just built is what the tests start.
PATH="$root/node_modules/.bin:$PATH:/usr/sbin:/sbin" NX_DAEMON=false LITTERBOX_TEST_BUILT=1
export PATH NX_DAEMON LITTERBOX_TEST_BUILT
# shellcheck disable=SC2086
exec node tools/tests/gate.mjs $status
