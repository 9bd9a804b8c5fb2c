#!/bin/sh
# The whole check: set-up, lint, every test as root, the tests of host and provider once more as an ordinary user.
# Run by an ordinary user it does the ordinary user's part only. The suites of the library, the command line and the MCP server
# run on copy-on-write sandboxes with everything else, and what tells of the main job once more on each engine.
#
# LITTERBOX_TEST_ONLY="core host"  only these packages
# LITTERBOX_REQUIRE=a,b            backends whose absence is a failure instead of a skip
set -u
root=$(cd "$(dirname "$0")/.." && pwd -P)
cd "$root" || exit 1

user=litterbox-test
base=/var/lib/litterbox-test
ordinary='host provider-overlayfs litterbox mcp cli'
engines='docker podman'
# The engines of the tests, not those of who runs them.
DOCKER_HOST=unix://$base/run/docker.sock
CONTAINER_HOST=unix://$base/run/podman.sock
export DOCKER_HOST CONTAINER_HOST
only=${LITTERBOX_TEST_ONLY:-}

# The part that runs as the ordinary user: test.sh --ordinary COUNTS PROJECT...
# A test that never ends is a failure, not a run without an end: hence the times.
if [ "${1:-}" = --ordinary ]; then
  LITTERBOX_TEST_COUNTS=$2
  LITTERBOX_JEST_CACHE=${TMPDIR:-/tmp}/litterbox-jest-cache-$(id -u)
  NODE_OPTIONS='--experimental-vm-modules --no-warnings'
  PATH="$root/node_modules/.bin:$PATH"
  export LITTERBOX_TEST_COUNTS LITTERBOX_JEST_CACHE NODE_OPTIONS PATH
  shift 2
  set -- --selectProjects "$@" --runInBand --testPathIgnorePatterns /node_modules/ /dist/
  # Once more after root: without what has nothing to do with who runs it.
  [ -z "${LITTERBOX_TEST_AGAIN:-}" ] || set -- "$@" broken-providers broken-hosts supervisors 'cli/test/(init|agent-install)' '(cli|litterbox)/test/memory' \
    'mcp/test/(bundle|conformance|http|inspector|plotted-model|profiles|protocol)'
  exec timeout -k 30 1800 jest -c jest.config.mjs "$@"
fi

chosen() { # NAMES...: those that LITTERBOX_TEST_ONLY leaves
  for name in "$@"; do
    case " ${only:-$name} " in *" $name "*) printf ' %s' "$name" ;; esac
  done
}

broken=0
breakage() {
  broken=$((broken + 1))
  printf 'test: %s\n' "$*" >&2
}

# The tests of the packages named, as the ordinary user: as_ordinary_user COUNTS PROJECT...
as_ordinary_user() {
  echo "test: as $user"
  # Private mounts: the checkout appears at a path that the user can reach, whatever the modes above and of its
  # own top directory are.
  # shellcheck disable=SC2016
  unshare -m --propagation private sh -eu -c '
    root=$1 user=$2 counts=$3
    shift 3
    at=/opt/litterbox-checkout
    mkdir -p $at
    mount -t tmpfs -o mode=0755 litterbox-checkout $at
    for entry in "$root"/* "$root"/.[!.]*; do
      name=${entry##*/}
      if [ -L "$entry" ]; then
        cp -P "$entry" "$at/$name"
        continue
      elif [ -d "$entry" ]; then
        mkdir "$at/$name"
      elif [ -f "$entry" ]; then
        : >"$at/$name"
      else
        continue
      fi
      mount --bind "$entry" "$at/$name"
    done
    session=/sys/fs/cgroup/litterbox-user-$(id -u "$user")/session/cgroup.procs
    if [ -e "$session" ]; then echo $$ >"$session"; fi
    cd $at
    exec setpriv --reuid="$user" --regid="$user" --init-groups \
      env -i HOME="$(getent passwd "$user" | cut -d: -f6)" USER="$user" LOGNAME="$user" SHELL=/bin/sh LANG=C.UTF-8 \
      PATH="$at/node_modules/.bin:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin" \
      TMPDIR="${TMPDIR:-/tmp}" CI="${CI:-}" LITTERBOX_REQUIRE="${LITTERBOX_REQUIRE:-}" LITTERBOX_TEST_AGAIN=1 \
      sh tools/test.sh --ordinary "$counts" "$@"
  ' sh "$root" $user "$@"
}

sh tools/setup.sh || exit 1
PATH="$root/node_modules/.bin:$PATH:/usr/sbin:/sbin"
NX_DAEMON=false
export PATH NX_DAEMON

packages=''
for manifest in packages/*/package.json bench/package.json; do
  name=${manifest#packages/}
  packages="$packages ${name%/package.json}"
done
for name in $only; do
  case " $packages " in *" $name "*) ;; *) breakage "LITTERBOX_TEST_ONLY names '$name', which is no package" ;; esac
done
# shellcheck disable=SC2086
ordinary=$(chosen $ordinary)

counts=$(mktemp)
trap 'rm -f "$counts" "${theirs:-}" "${said:-}"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

expected=0
if [ "$(id -u)" = 0 ]; then
  sh tools/lint.sh || breakage 'lint failed'
  sh tools/test-host.sh up || {
    echo 'test: the test host is incomplete' >&2
    exit 1
  }
  if [ -d $base/fs/ext4 ] && [ "$(stat -c %m $base/fs/ext4)" = $base/fs/ext4 ]; then
    # Deleting many files on a root file system without a journal or below an overlay is slow.
    install -d -m 1777 $base/fs/ext4/tmp
    TMPDIR=$base/fs/ext4/tmp
    export TMPDIR
  fi
  rm -f "$counts"
  counts=$(mktemp)

  # shellcheck disable=SC2086
  selected=$(chosen $packages)
  projects=''
  for name in $selected; do
    expected=$((expected + 1))
    case $name in litterbox | create-litterbox-provider) projects="$projects,$name" ;; *) projects="$projects,@litterbox/$name" ;; esac
  done
  if [ $expected -gt 0 ]; then
    echo 'test: as root'
    LITTERBOX_TEST_COUNTS=$counts timeout -k 30 3300 nx run-many -t test --projects="${projects#,}" --parallel=1 --output-style=stream </dev/null ||
      ended=failed
  fi
  if [ -n "$ordinary" ]; then
    expected=$((expected + 1))
    if id $user >/dev/null 2>&1; then
      # Beside what runs on the engines, most of which is waiting for them. With counts and output of its own.
      theirs=$(mktemp) said=$(mktemp)
      chown $user "$theirs"
      # shellcheck disable=SC2086
      as_ordinary_user "$theirs" $ordinary </dev/null >"$said" 2>&1 &
      beside=$!
    else
      breakage "no user $user: the ordinary user's tests did not run"
    fi
  fi
  # shellcheck disable=SC2086
  over_engines=$(chosen litterbox cli mcp)
  if [ -n "$over_engines" ]; then
    for engine in $engines; do
      expected=$((expected + 1))
      echo "test: on $engine"
      # What the command line adds is the same on each; a process for each command makes it slow.
      commands=
      [ "$engine" != docker ] || commands=cli/test/commands
      # shellcheck disable=SC2086
      LITTERBOX_TEST_PROVIDER=$engine LITTERBOX_TEST_COUNTS=$counts NODE_OPTIONS='--experimental-vm-modules --no-warnings' \
        timeout -k 30 1200 jest -c jest.config.mjs --selectProjects $over_engines --runInBand \
        --testPathPatterns 'litterbox/test/(main-job|network)' 'mcp/test/(work|tools)' $commands </dev/null || ended=failed
    done
  fi
  if [ -n "$(chosen create-litterbox-provider)" ]; then
    expected=$((expected + 1))
    echo 'test: from outside'
    LITTERBOX_TEST_COUNTS=$counts timeout -k 30 900 node tools/outside/main.mjs </dev/null || ended=failed
  fi
  # Waits for the ordinary user's tests, which ran beside those above.
  if [ -n "${beside:-}" ]; then
    wait "$beside" || ended=failed
    cat "$said"
    cat "$theirs" >>"$counts"
  fi
elif [ -n "$ordinary" ]; then
  expected=1
  # shellcheck disable=SC2086
  sh tools/test.sh --ordinary "$counts" $ordinary </dev/null || ended=failed
fi

# A run that ended without counts died; a run that failed without a failed test did not test what it should.
summary=$(
  node -e '
    const { readFileSync } = require("node:fs");
    const [file, expected, broken, ended] = process.argv.slice(1);
    const runs = readFileSync(file, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
    const sum = (key) => runs.reduce((total, run) => total + run[key], 0);
    let failed = sum("failed") + Number(broken) + Math.max(0, Number(expected) - runs.length);
    if (ended === "failed" && failed === 0) failed = 1;
    for (const failure of runs.flatMap((run) => run.failures)) console.log(`FAILED ${failure}\n`);
    console.log(`${sum("passed")} passed, ${failed} failed, ${sum("skipped")} skipped`);
  ' "$counts" $expected $broken "${ended:-}"
) || exit 1
printf '\n%s\n' "$summary"
case $summary in *FAILED*) exit 1 ;; *' 0 failed,'*) exit 0 ;; *) exit 1 ;; esac
