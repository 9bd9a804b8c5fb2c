#!/bin/sh
# Installs Debian packages, as root: install-packages.sh PACKAGE... Without one it reads the lists of packages anew and no more. The set-up of
# a checkout, that of the test host and the builds for tests may call it at the same time, so they take turns, and wait for others.
set -eu
exec 9>/run/litterbox-install-packages.lock
flock 9
apt-get -qq update
[ $# = 0 ] ||
  DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@" >/dev/null 9>&-
