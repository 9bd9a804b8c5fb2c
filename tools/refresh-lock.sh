#!/bin/sh
# Writes the versions of our own packages into package-lock.json. npm must not run on the Node that lives in node_modules.
set -eu
cd "$(dirname "$0")/.."
PATH=$(printf '%s' "$PATH" | tr ':' '\n' | grep -v '/node_modules/' | paste -sd: -)
export PATH
exec npm install --package-lock-only --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error
