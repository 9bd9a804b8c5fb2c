#!/bin/sh
# Installs Debian packages, as root: install-packages.sh PACKAGE... The set-up of a checkout and that of the test host may call it at
# the same time, so they take turns.
set -eu
exec 9>/run/litterbox-install-packages.lock
flock 9
apt-get -qq update
DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" >/dev/null 9>&-
