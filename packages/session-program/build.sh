#!/bin/sh
# Builds the session program. usage: build.sh ARCHITECTURE OUTPUT [FLAG...]      the architecture as `uname -m` says it; CC names another compiler, LINK
# other ways of linking than -static, which sanitizers need.
# Of another architecture than this machine's it is built where Debian's compiler for that one is installed, and left out where it is not.
set -eu
directory=$(cd "$(dirname "$0")" && pwd)
architecture=$1
output=$2
shift 2
compiler=${CC:-gcc}
[ "$architecture" = "$(uname -m)" ] || compiler=$architecture-linux-gnu-gcc
if ! command -v "$compiler" >/dev/null; then
  echo "session-program: not built for $architecture, for there is no $compiler" >&2
  exit 0
fi
mkdir -p "$(dirname "$output")"
"$compiler" -std=c17 -D_GNU_SOURCE -O2 ${LINK--static} -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wformat=2 -Wstrict-prototypes \
  -Wmissing-prototypes -Wvla -Werror -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fno-strict-aliasing \
  -Wl,-s,-z,relro,-z,now,-z,noexecstack "$@" "$directory"/src/*.c -o "$output.new"
mv "$output.new" "$output"
