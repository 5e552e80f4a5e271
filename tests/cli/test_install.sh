#!/bin/bash
# What make install lays down works without the source tree: the command runs from where it was
# copied to, finds DuckDB beside itself, and a program compiles against each of the headers and the
# library. (tests/examples does more with the library.)
set -u
[ -z "${LEAT_SANITIZE:-}" ] || { echo "skipped: a sanitizer's library needs its runtime first"; exit 77; }
passed=0 failed=0
tell() { # status name
  if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "failed: $2"; fi
}
source=$(cd "$(dirname "$0")/../.." && pwd)
config=$(sed -n 's/^CMAKE_BUILD_TYPE:.*=//p' "$LEAT_BUILD/CMakeCache.txt" | tr '[:upper:]' '[:lower:]')
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

# Version: the header has it, everything else got it from there.
export PKG_CONFIG_PATH=$at/lib/pkgconfig
cat >use.c <<'END'
#include <leat/leat.h>
#include <stdio.h>
int main(void) {
    printf("%s %s %d %d.%d\n", LEAT_VERSION, leat_version(), LEAT_VERSION_NUMBER, LEAT_VERSION_MAJOR,
           LEAT_VERSION_MINOR);
    return 0;
}
END
# shellcheck disable=SC2046 # the words of pkg-config are to be split
if cc use.c $(pkg-config --cflags --libs leat) -o use; then
  read -r header library number series <<<"$(LD_LIBRARY_PATH=$at/lib ./use)"
  package=$(pkg-config --modversion leat)
  [ "$library" = "$header" ] && [ "$package" = "$header" ] && [ "$version" = "leat $header" ]
  tell $? "versions agree: header $header, library $library, leat.pc $package, \"$version\""
  IFS=. read -r major minor patch <<<"$header"
  [ "$number" = $((major * 10000 + minor * 100 + patch)) ]
  tell $? "LEAT_VERSION_NUMBER is $number, of version $header"
else
  tell 1 "a program compiles against the installed headers and library"
fi

# Structs are passed by value, so a program asks for the library of its own minor version.
soname=libleat.so.$series
readelf -d "$at/lib/libleat.so" | grep -qF "Library soname: [$soname]"
tell $? "the soname is $soname"
[ "$(readlink "$at/lib/libleat.so")" = "$soname" ] &&
  [ "$(readlink "$at/lib/$soname")" = "libleat.so.$header" ] && [ ! -L "$at/lib/libleat.so.$header" ]
tell $? "libleat.so and $soname lead to libleat.so.$header"
! readelf -d "$at/bin/leat" "$at/lib/libleat.so" | grep -E 'RPATH|RUNPATH'
tell $? "nothing has a run path"

# What is installed for programs is this, no more and no less.
(cd "$at" && find include lib -type f -o -type l) | grep -v '^lib/leat/' | sort >found
{
  (cd "$source" && find include -name '*.h')
  printf '%s\n' lib/libleat.so "lib/$soname" "lib/libleat.so.$header" lib/pkgconfig/leat.pc
  printf 'lib/cmake/leat/%s\n' leatConfig.cmake leatConfigVersion.cmake "leatConfig-$config.cmake"
} | sort >wanted
diff wanted found
tell $? "the installed files are those that are meant to be"
! grep -rlF "$work/first" "$at/lib/pkgconfig" "$at/lib/cmake"
tell $? "no installed file knows where it was installed"

# Each header by itself: plain C, and C++ where there is a compiler for it.
compiles() { # compiler standard language
  status=0
  for header in "$at"/include/leat/*.h; do
    echo "#include <leat/$(basename "$header")>" |
      "$1" "-std=$2" -Wall -Wextra -pedantic -Werror -fsyntax-only -I "$at/include" -x "$3" - || status=1
  done
  tell $status "every header compiles alone with $1 -std=$2"
}
compiles cc c99 c
compiles cc c11 c
cxx=$(command -v c++ || command -v g++ || command -v clang++ || command -v clang++-14)
if [ -n "$cxx" ]; then
  compiles "$cxx" c++11 c++
  compiles "$cxx" c++20 c++
else
  echo "no C++ compiler: the headers are not tried with one"
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
