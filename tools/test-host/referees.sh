#!/bin/sh
# Others' programs that judge the server for agents: the MCP Inspector and the MCP conformance suite, 110 MB of npm packages
# without any of their scripts. Their lock is in tools/referees; npm keeps what it fetched.
set -eu
cd "$(dirname "$0")/../referees"
done=node_modules/.litterbox

# npm runs on the machine's own Node, not on the one of this checkout.
npm_outside() (
  PATH=$(printf '%s' "$PATH" | tr ':' '\n' | grep -v '/node_modules/' | paste -sd: -)
  export PATH
  npm "$@"
)

case ${1:-status} in
  up)
    if [ ! -e $done ] || [ package-lock.json -nt $done ]; then
      echo 'referees: npm ci' >&2
      npm_outside ci --ignore-scripts --omit=optional --no-audit --no-fund --loglevel=error
      touch $done
    fi
    ;;
  down) rm -rf node_modules ;;
  status)
    if [ ! -e $done ] || [ package-lock.json -nt $done ]; then
      echo 'referees: absent or of another version'
      exit 1
    fi
    echo 'referees: installed'
    ;;
  *)
    echo "usage: $0 up|down|status" >&2
    exit 2
    ;;
esac
