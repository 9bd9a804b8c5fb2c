#!/bin/sh
# Every static check, all of them even when one fails. Under a minute.
set -u
cd "$(dirname "$0")/.." || exit 1
PATH="$PWD/node_modules/.bin:$PATH"
export PATH

failed=''
check() {
  name=$1
  shift
  if ! "$@"; then
    failed="$failed $name"
    printf 'lint: %s failed\n' "$name" >&2
  fi
}

# Of a checkout without git too, as in the test machine.
scripts() {
  find tools packages -name '*.sh' -not -path '*/node_modules/*' | while read -r script; do sh -n "$script" || return 1; done
}

check scripts scripts
check types tsc -b
check test-types tsc -p tsconfig.tests.json
check format biome format --colors=off
check rules oxlint --type-aware --deny-warnings --quiet
check boundaries depcruise --config dependency-cruiser.cjs --output-type err packages bench
check public-types node tools/check-public-types.mjs
check public-api node tools/check-public-api.mjs
check packages node tools/check-packages.mjs
check core-words node tools/check-core-words.mjs
check house node tools/check-house.mjs
check boundary-rules node tools/check-boundaries.mjs
check capabilities node tools/check-capabilities.mjs
check reference node --no-warnings --conditions=@litterbox/source tools/write-reference.mjs --check
check options node --no-warnings --conditions=@litterbox/source tools/write-option-types.mjs --check
check test-parts node tools/tests/check-parts.mjs
check faults node tools/tests/plant-faults.mjs --check
check documents node docs/check-documents.mjs

if [ -n "$failed" ]; then
  printf 'lint: failed:%s\n' "$failed" >&2
  exit 1
fi
echo 'lint: clean'
