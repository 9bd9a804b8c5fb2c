#!/bin/sh
# The whole check: set-up, lint, every test as root, the tests of host and provider once more as an ordinary user.
# Run by an ordinary user it does the ordinary user's part only. The suites of the library, the command line and the MCP server
# run on copy-on-write sandboxes with everything else, and what tells of the main job once more on each engine.
#
# LITTERBOX_TEST_ONLY="core host"  only these packages
# LITTERBOX_TEST_TURN=0|1|2        a third of what runs once more, and of the hardening, as CI does in turns
# LITTERBOX_TEST_WHOLE=1           everything everywhere: what was shown once is shown again on every backend and for every user
# LITTERBOX_REQUIRE=a,b            backends whose absence is a failure instead of a skip
set -u
root=$(cd "$(dirname "$0")/.." && pwd -P)
cd "$root" || exit 1

user=litterbox-test
base=/var/lib/litterbox-test
# What an ordinary user can run, and what of it runs once more after root.
ordinary='host provider-overlayfs provider-podman litterbox mcp cli'
[ "$(id -u)" != 0 ] || [ "${LITTERBOX_TEST_WHOLE:-}" ] || ordinary='host provider-overlayfs provider-podman litterbox'
engines='docker podman'
# A test that never ends is a failure, not a run without an end.
LANE_SECONDS=6600
# The engines of the tests, not those of who runs them.
DOCKER_HOST=unix://$base/run/docker.sock
CONTAINER_HOST=unix://$base/run/podman.sock
export DOCKER_HOST CONTAINER_HOST
only=${LITTERBOX_TEST_ONLY:-}

# The part that runs as the ordinary user: test.sh --ordinary COUNTS PROJECT...
if [ "${1:-}" = --ordinary ]; then
  LITTERBOX_TEST_COUNTS=$2
  LITTERBOX_JEST_CACHE=${TMPDIR:-/tmp}/litterbox-jest-cache-$(id -u)
  NODE_OPTIONS='--experimental-vm-modules --no-warnings'
  PATH="$root/node_modules/.bin:$PATH"
  export LITTERBOX_TEST_COUNTS LITTERBOX_JEST_CACHE NODE_OPTIONS PATH
  shift 2
  set -- --selectProjects "$@" --runInBand --testPathIgnorePatterns /node_modules/ /dist/
  # Once more after root: without what has nothing to do with who runs it, or shows it a second time.
  [ -z "${LITTERBOX_TEST_AGAIN:-}" ] || [ "${LITTERBOX_TEST_WHOLE:-}" ] || set -- "$@" broken-providers broken-hosts 'litterbox/test/(fork|lost-state|memory|pool|processes|setup-cache|supervisors)' '(copy|reflink).conformance'
  exec timeout -k 30 "$LANE_SECONDS" jest -c jest.config.mjs "$@"
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
      TMPDIR="${TMPDIR:-/tmp}" CI="${CI:-}" LITTERBOX_REQUIRE="${LITTERBOX_REQUIRE:-}" LITTERBOX_TEST_AGAIN=1 LITTERBOX_TEST_BUILT=1 LITTERBOX_TEST_WHOLE="${LITTERBOX_TEST_WHOLE:-}" \
      sh tools/test.sh --ordinary "$counts" "$@"
  ' sh "$root" $user "$@"
}

# What runs once more elsewhere: as the ordinary user, on each engine, from outside. once_more COUNTS
once_more() {
  failed=0
  if [ -n "$ordinary" ]; then
    if id $user >/dev/null 2>&1; then
      # With counts of its own: a file that the user may write.
      counted=$(mktemp)
      chown $user "$counted"
      # shellcheck disable=SC2086
      as_ordinary_user "$counted" $ordinary || failed=1
      cat "$counted" >>"$1"
      rm -f "$counted"
    else
      echo "test: no user $user: the ordinary user's tests did not run"
      failed=1
    fi
  fi
  if [ -n "$over_engines" ]; then
    for engine in $engines; do
      echo "test: on $engine"
      # What tells of the main job on each; on one of them what stands on it too. A process for each command makes the command line slow.
      patterns='litterbox/test/main-job mcp/test/work'
      [ "$engine" != docker ] || patterns="$patterns litterbox/test/(fork|install|network) mcp/test/tools"
      [ -z "${LITTERBOX_TEST_WHOLE:-}" ] || patterns="litterbox/test/(fork|install|main-job|network) mcp/test/(tools|work) cli/test/commands"
      # shellcheck disable=SC2086
      LITTERBOX_TEST_PROVIDER=$engine LITTERBOX_TEST_COUNTS=$1 NODE_OPTIONS='--experimental-vm-modules --no-warnings' \
        timeout -k 30 3000 jest -c jest.config.mjs --selectProjects $over_engines --runInBand \
        --testPathPatterns $patterns || failed=1
    done
  fi
  if [ -n "$outside" ]; then
    echo 'test: from outside'
    LITTERBOX_TEST_COUNTS=$1 timeout -k 30 3000 node tools/outside/main.mjs || failed=1
  fi
  return $failed
}

sh tools/setup.sh || exit 1
PATH="$root/node_modules/.bin:$PATH:/usr/sbin:/sbin"
NX_DAEMON=false
# What was just built is what the tests start.
LITTERBOX_TEST_BUILT=1
export PATH NX_DAEMON LITTERBOX_TEST_BUILT

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

  # Two lanes at a time, as much of either is waiting: root's tests of each package, and what runs once more elsewhere.
  # shellcheck disable=SC2086
  over_engines=$(chosen litterbox cli mcp)
  outside=$(chosen create-litterbox-provider)
  case ${LITTERBOX_TEST_TURN:-} in
    0) over_engines='' outside='' ;;
    1) ordinary='' ;;
    2) ordinary='' over_engines='' outside='' ;;
  esac
  [ -z "${LITTERBOX_TEST_TURN:-}" ] || echo "test: turn $LITTERBOX_TEST_TURN of 0, 1 and 2"
  if [ -n "$ordinary" ]; then expected=$((expected + 1)); fi
  if [ -n "$over_engines" ]; then for engine in $engines; do expected=$((expected + 1)); done; fi
  if [ -n "$outside" ]; then expected=$((expected + 1)); fi
  theirs=$(mktemp) said=$(mktemp)
  (once_more "$theirs") </dev/null >"$said" 2>&1 &
  beside=$!

  # shellcheck disable=SC2086
  selected=$(chosen $packages)
  projects=''
  for name in $selected; do
    expected=$((expected + 1))
    case $name in litterbox | create-litterbox-provider) projects="$projects,$name" ;; *) projects="$projects,@litterbox/$name" ;; esac
  done
  if [ -n "$projects" ]; then
    echo 'test: as root'
    LITTERBOX_TEST_COUNTS=$counts timeout -k 30 "$LANE_SECONDS" nx run-many -t test --projects="${projects#,}" --parallel=1 --exclude-task-dependencies --output-style=stream </dev/null ||
      ended=failed
  fi
  wait "$beside" || ended=failed
  cat "$said"
  cat "$theirs" >>"$counts"
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
    const slow = runs.flatMap((run) => run.slow ?? []).sort((one, other) => other.seconds - one.seconds);
    for (const { file, seconds } of slow) console.log(`${String(seconds).padStart(5)} s  ${file}`);
    for (const failure of runs.flatMap((run) => run.failures)) console.log(`FAILED ${failure}\n`);
    console.log(`${sum("passed")} passed, ${failed} failed, ${sum("skipped")} skipped`);
  ' "$counts" $expected $broken "${ended:-}"
) || exit 1
printf '\n%s\n' "$summary"
case $summary in *FAILED*) exit 1 ;; *' 0 failed,'*) exit 0 ;; *) exit 1 ;; esac
