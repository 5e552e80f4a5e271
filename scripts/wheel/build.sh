#!/bin/sh
# Makes the wheels that run on any x86-64 Linux with glibc 2.28 or newer, that of leat and that of
# leat-worker, and leat-worker as a single file, into build/wheel:
#
#   make wheel, or scripts/wheel/build.sh [CACHE]
#
# CACHE (default: .deps/wheel) keeps tools, sources and libraries; scripts/wheel/libraries.sh says
# what is in it. All that leat links is inside; DuckDB is the library that scripts/install.sh fetched.
# The bytes are a function of the commit and of what sources.txt, requirements/wheel.txt and install.sh
# pin: SOURCE_DATE_EPOCH is the commit's time unless it is set, and LEAT_COMMIT names the commit where git
# does not know it. Files that are not committed are built too, and named. build/wheel gets only wheels
# that scripts/wheel/check.py accepts.
set -eu
[ $# -le 1 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
cd "$(dirname "$0")/../.."
top=$PWD
mkdir -p "${1:-.deps/wheel}"
cache=$(cd "${1:-.deps/wheel}" && pwd)
platform=manylinux_2_28_x86_64
jobs=${JOBS:-$(nproc)}
unset CFLAGS LDFLAGS CPATH C_INCLUDE_PATH LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH \
  CMAKE_TOOLCHAIN_FILE # of other builds
fail() {
  echo "wheel: $*" >&2
  exit 1
}
case $top in *[!A-Za-z0-9/._+~-]*)
  fail "$top: a wheel cannot be built in a path with spaces or special characters; move the clone" ;;
esac
[ "$(uname -m)" = x86_64 ] || fail "this builds on x86-64 only; elsewhere: pip wheel --no-deps ./python"
[ -f .deps/duckdb/lib/libduckdb.so ] ||
  fail ".deps/duckdb has no libduckdb.so; run scripts/install.sh where no DuckDB is installed"
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) ||
    fail "git cannot tell the time of the commit; set SOURCE_DATE_EPOCH to the time of the release"
fi
export SOURCE_DATE_EPOCH
[ "$(git rev-parse --show-toplevel 2>/dev/null)" != "$(pwd -P)" ] || LEAT_COMMIT= # git knows it
changes=$(git status --porcelain -- CMakeLists.txt cmake cli include python/leat scripts src 2>/dev/null) ||
  changes=
[ -z "$changes" ] || echo "wheel: built with these changes, which are not committed:
$changes" >&2
scripts/wheel/libraries.sh "$cache"
prefix=$cache/x86_64
build=build-portable
mkdir -p $build
exec 8>$build/lock
flock -n 8 || fail "$top/$build: another build is using it; wait until it has ended"
# CMake looks for libraries once, and does not see that the compiler behind zcc is another
inputs=$(echo "$cache" && cat "$cache/tools/pins.txt" "$cache"/x86_64/done/* "$cache"/bin/z*)
if [ "$(cat $build/inputs.txt 2>/dev/null)" != "$inputs" ]; then
  find $build -mindepth 1 -maxdepth 1 ! -name lock -exec rm -rf {} +
  echo "$inputs" >$build/inputs.txt
fi
echo "wheel: leat"
PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig PATH=$cache/bin:$PATH \
  cmake -G Ninja -S . -B $build -D CMAKE_SYSTEM_NAME=Linux -D CMAKE_SYSTEM_PROCESSOR=x86_64 \
  -D CMAKE_BUILD_TYPE=Release -D CMAKE_C_COMPILER="$cache/bin/zcc" -D CMAKE_AR="$cache/bin/zar" \
  -D CMAKE_RANLIB="$cache/bin/zranlib" -D CMAKE_PREFIX_PATH="$prefix" \
  -D CMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF \
  -D CMAKE_C_FLAGS="-UNDEBUG -g0 -ffile-prefix-map=$top=. -isystem $prefix/include" \
  -D CMAKE_EXE_LINKER_FLAGS="-s -pie" \
  -D CMAKE_SHARED_LINKER_FLAGS="-s -Wl,--version-script=$top/scripts/wheel/exports.map" \
  -D LEAT_CCACHE=OFF -D LEAT_TESTS=OFF -D LEAT_BENCH=OFF -D LEAT_WERROR=ON \
  -D LEAT_COMMIT="${LEAT_COMMIT:-}" \
  -D LEAT_KIND="wheel $platform" -D "LEAT_LINK=ZIP;BZIP2;LZMA;WEBP;PQ" \
  -D LEAT_DUCKDB_ROOT="$top/.deps/duckdb" >$build/configure.log 2>&1 ||
  fail "configuring failed; the end of $build/configure.log:
$(tail -n 15 $build/configure.log)"
! grep 'left out' $build/configure.log >&2 || fail "a part of leat would be missing"
cmake --build $build --parallel "$jobs" --target leat leat_shared leat_worker -- --quiet
rm -rf $build/wheel
"$cache/tools/bin/python3" scripts/wheel/assemble.py --build $build --prefix "$prefix" \
  --duckdb .deps/duckdb/lib --platform $platform --output $build/wheel
for wheel in $build/wheel/leat-*.whl $build/wheel/leat_worker-*.whl; do
  "$cache/tools/bin/python3" scripts/wheel/check.py "$wheel"
done
mkdir -p build/wheel
rm -f build/wheel/leat-*-py3-none-$platform.whl build/wheel/leat_worker-*-py3-none-$platform.whl
mv $build/wheel/*.whl build/wheel/
cp $build/leat-worker build/wheel/leat-worker.new
mv build/wheel/leat-worker.new build/wheel/leat-worker
echo "wheel: in build/wheel"
