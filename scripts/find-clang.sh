#!/bin/sh
# Prints the clang that fuzz targets are built with: scripts/find-clang.sh. It is the first of
# clang-14 to clang-19 that can link libFuzzer, then a plain clang of version 14 or newer. Prints
# nothing and exits with status 1 if there is none.
set -eu
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }
case $#${1:-} in
0) ;;
1--help) usage; exit ;;
*) usage >&2; exit 2 ;;
esac

# libFuzzer is a separate package that may be missing, so a program is linked with it to check.
target='#if __clang_major__ < 14
#error too old
#endif
int LLVMFuzzerTestOneInput(const char *bytes, unsigned long size);
int LLVMFuzzerTestOneInput(const char *bytes, unsigned long size) { return !bytes && size; }'

for clang in clang-14 clang-15 clang-16 clang-17 clang-18 clang-19 clang; do
  command -v $clang >/dev/null || continue
  if echo "$target" | $clang -fsanitize=fuzzer,address -x c - -o /dev/null >/dev/null 2>&1; then
    echo $clang
    exit
  fi
done
exit 1
