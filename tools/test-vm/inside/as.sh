#!/bin/sh
# Runs inside the machine: as.sh root|user|session COMMAND...
# `session` is a login such as that of SSH. `user` is the same, with control groups of its own from the session manager.
set -eu
who=$1
shift
[ "$who" != root ] || exec "$@"
user=litterbox-test
words=''
for word in "$@"; do words="$words '$(printf '%s' "$word" | sed "s/'/'\\\\''/g")'"; done
[ "$who" = session ] || words="systemd-run --quiet --user --scope -p Delegate=yes --$words"
until [ -S "/run/user/$(id -u $user)/bus" ]; do sleep 0.1; done
exec runuser -l $user -c "cd '$PWD' && export LANG=C.UTF-8 NO_COLOR=1 TERM=dumb NODE_OPTIONS='${NODE_OPTIONS:-}' LITTERBOX_JEST_CACHE='${LITTERBOX_JEST_CACHE:-}' LITTERBOX_REQUIRE='${LITTERBOX_REQUIRE:-}' PATH='$PATH' && exec $words"
