#!/bin/bash
# What make install lays down works without the source tree: the command runs from where it was
# copied to, finds DuckDB beside itself, and a program compiles against the headers and the library.
set -u
[ -z "${LEAT_SANITIZE:-}" ] || { echo "skipped: a sanitizer's library needs its runtime first"; exit 77; }
passed=0 failed=0
tell() { # status name
  if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "failed: $2"; fi
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$LEAT_BUILD" --prefix "$work/first" >"$work/log" 2>&1 || {
  cat "$work/log"
  exit 1
}
mv "$work/first" "$work/moved" # nothing may remember where it was installed
at=$work/moved
cd "$work" || exit 1

version=$("$at/bin/leat" --version)
case $version in *[0-9].[0-9]*) tell 0 version ;; *) tell 1 "leat --version said \"$version\"" ;; esac

for file in lib/libleat.so.0 include/leat/base.h; do
  [ -e "$at/$file" ]
  tell $? "$file is installed"
done
! readelf -d "$at/bin/leat" "$at"/lib/libleat.so.* | grep -E 'RPATH|RUNPATH'
tell $? "nothing has a run path"

cat >use.c <<'END'
#include <stdio.h>
#include <leat/base.h>
int main(void) { return puts(leat_version()) < 0; }
END
if cc -I "$at/include" use.c -L "$at/lib" -lleat -o use; then
  said=$(LD_LIBRARY_PATH=$at/lib ./use)
  [[ "$version" == *"$said"* ]]
  tell $? "the library says version \"$said\", the command \"$version\""
else
  tell 1 "a program compiles against the installed headers and library"
fi

# Parquet is written and read with the DuckDB that was installed
if [ -e "$at/lib/leat/libduckdb.so" ]; then
  "$at/bin/leat" synth probes --measurements 1000 -o raw.parquet >log 2>&1 &&
    "$at/bin/leat" ingest probes raw.parquet -o probes >>log 2>&1
  status=$?
  [ $status = 0 ] || cat log
  tell $status "Parquet is written and read with the installed DuckDB"
  opened=$(LD_DEBUG=files "$at/bin/leat" ingest probes raw.parquet -o again 2>&1 |
    sed -n 's/.*calling init: \(.*libduckdb\.so\)$/\1/p')
  [ "$(realpath "$opened")" = "$(realpath "$at/lib/leat/libduckdb.so")" ]
  tell $? "the DuckDB that was installed is opened, not \"$opened\""
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
