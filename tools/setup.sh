#!/bin/sh
# Prepares a checkout: npm packages, the Debian packages the main job needs, a build. Does only what is missing.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*" >&2; }

# The person's own Node and npm. npm replaces node_modules, so it must not run on the Node that lives in there.
outside() (
  PATH=$(printf '%s' "$PATH" | tr ':' '\n' | grep -v '/node_modules/' | paste -sd: -)
  export PATH
  "$@"
)

installed=node_modules/.package-lock.json
if [ ! -e "$installed" ]; then
  # What the installed command needs is said before minutes are spent; the checkout itself brings its own Node.
  version=$(outside node --version)
  if ! printf '%s\n' v22.19.0 "$version" | sort -C -V; then
    say "the litterbox command needs Node 22.19 or newer, and yours is $version. Before you install the command: npm install --global node@24"
  fi
  global=$(outside npm prefix --global)/lib/node_modules
  while [ ! -e "$global" ]; do global=$(dirname "$global"); done
  [ -w "$global" ] || say "npm may not write to $global. Before you install the command: npm config set prefix ~/.local, and add ~/.local/bin to PATH"
fi

missing=''
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
export PATH
need git git
need bwrap bubblewrap
need newuidmap uidmap
need tar tar
need unshare util-linux
need gcc 'gcc libc6-dev'
if [ -n "$missing" ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    say "installing$missing"
    # shellcheck disable=SC2086
    sh tools/install-packages.sh $missing
  else
    say "missing:$missing. On Debian this installs it:"
    printf 'sudo apt-get update && sudo apt-get install -y%s\n' "$missing" >&2
    exit 1
  fi
fi

if [ ! -e "$installed" ] || [ -n "$(find package-lock.json -newer "$installed")" ]; then
  say 'npm ci'
  outside npm ci --no-audit --no-fund --loglevel=error
  touch "$installed"
fi

PATH="$PWD/node_modules/.bin:$PATH"
NX_DAEMON=false
export PATH NX_DAEMON

stale=''
for package in packages/*/; do
  package=${package%/}
  [ -e "$package/tsconfig.json" ] || continue
  stamp=$package/dist/.tsbuildinfo
  if [ ! -e "$stamp" ] ||
    [ -n "$(find "$package/src" "$package/package.json" "$package/tsconfig.json" tsconfig.base.json tools/bundle \
      ! -name '*.test.ts' -newer "$stamp" 2>/dev/null | head -n 1)" ]; then
    stale="$stale $package"
  fi
done
case $(uname -m) in aarch64) program=packages/session-linux-arm64 ;; *) program=packages/session-linux-x64 ;; esac
program=$program/dist/litterbox-session
if [ ! -e "$program" ] || [ -n "$(find packages/session-program -newer "$program" | head -n 1)" ]; then
  stale="$stale packages/session-program"
fi
if [ -n "$stale" ]; then
  say "building (changed:$stale)"
  npm run --silent build >&2
  # A build answered from the cache, or one without any difference, keeps its old times.
  touch packages/*/dist/.tsbuildinfo packages/session-linux-*/dist/litterbox-session
fi
