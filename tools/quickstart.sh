#!/bin/sh
# npm run quickstart [-- [PATH] [--provider overlayfs|docker|podman] [--image NAME] [--host [USER@]HOST[:PORT] [--identity-file PATH]]]:
# the main job on a real repository, this one or the one at PATH, in a scratch clone of it; on another machine with --host.
set -eu
start=$(pwd)
cd "$(dirname "$0")/.."
sh tools/setup.sh
case ${1:-} in
  '' | -*) repository=$PWD ;;
  /*) repository=$1 && shift ;;
  *) repository=${INIT_CWD:-$start}/$1 && shift ;;
esac
exec node_modules/.bin/node tools/quickstart.mjs "$repository" "$@"
