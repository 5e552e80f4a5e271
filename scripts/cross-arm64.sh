#!/bin/sh
# Builds the kernels of src/nn/kernels for arm64 and checks them there:
#
#   scripts/cross-arm64.sh [STEP]     every STEPth float of each function (default: 257, a minute)
#   scripts/cross-arm64.sh --probe    only says whether the tools are there
#
# The kernels need libc only, so Debian's cross compiler is enough; the program runs in qemu, or
# directly where this machine is an arm64. NEON and scalar kernels must give the same bits as on
# x86-64: tests/nn/test_suite.c has the hash that both must have. Ends in "N passed, N failed"; if a
# tool is missing, one line says so and the exit status is 77.
set -eu
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }
case ${1:-257} in
--help) usage; exit ;;
--probe) ;;
*[!0-9]*) usage >&2; exit 2 ;;
esac
step=${1:-257}
cd "$(dirname "$0")/.."
skip() {
  echo "cross-arm64: skipped: $* (scripts/install.sh --all installs it)"
  exit 77
}

if [ "$(uname -m)" = aarch64 ]; then
  compiler=cc
  emulator=
else
  compiler=aarch64-linux-gnu-gcc
  command -v $compiler >/dev/null || skip "no $compiler"
  echo 'int main(void) { return 0; }' | $compiler -static -x c - -o /dev/null >/dev/null 2>&1 ||
    skip "$compiler has no C library"
  emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) || skip "no qemu-aarch64"
fi
[ "$step" != --probe ] || exit 0
mkdir -p build-arm64
$compiler -static -O2 -std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -ffp-contract=off \
  -fno-math-errno -Isrc -o build-arm64/kernels src/nn/kernels/*.c src/base/cpu.c \
  tests/nn/tool_kernels.c -lm -pthread
expected=$(sed -n 's/^#define SUITE_HASH UINT64_C(0x\(.*\))$/\1/p' tests/nn/test_suite.c)
exec $emulator build-arm64/kernels "$step" "$(nproc)" "$expected"
