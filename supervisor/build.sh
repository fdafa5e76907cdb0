#!/bin/sh
# Builds the supervisor for both architectures: the same bytes from the same sources on every machine.
# usage: supervisor/build.sh [FOLDER FOR THE BINARIES]        default: supervisor/bin
# The compiler comes from the Python package index, pinned by version and hash; SUPERVISOR_ZIG names one that is there.
# Exit code 69: the compiler is not available. `node scripts/write-supervisor.ts` runs this and writes down what it made.
set -eu
export LC_ALL=C
cd -- "$(dirname -- "$0")"
out=${1:-bin}
# Where the compiler is kept.
cache=${SUPERVISOR_CACHE:-../node_modules/.cache/supervisor}
mkdir -p "$out" "$cache"

zig=${SUPERVISOR_ZIG:-$cache/zig/ziglang/zig}
if [ ! -x "$zig" ]; then
  python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
    --target "$cache/zig" -r build-requirements.txt || exit 69
fi

# The build's number stands for the sources and the compiler, and HELLO says it.
number=$(cat ./*.c ./*.h build.sh build-requirements.txt | sha256sum | cut -c 1-32)

for target in x64:x86_64 arm64:aarch64; do
  "$zig" cc -target "${target#*:}-linux-musl" -mcpu=baseline -std=c17 -D_GNU_SOURCE -D"BUILD=\"$number\"" \
    -Os -static -s -fstack-protector-strong -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections \
    -Wall -Wextra -Wno-address-of-packed-member -Werror -Wl,--gc-sections -Wl,--build-id=none \
    -o "$out/supervisor-${target%%:*}" ./*.c
  chmod 755 "$out/supervisor-${target%%:*}"
done
sha256sum "$out"/supervisor-*
