#!/bin/sh
# Makes the wheels that run on any Linux of a processor with glibc 2.28 or newer, that of leat and that of
# leat-worker, and leat-worker as a single file, into build/wheel:
#
#   make wheel [TARGET=CPU], or scripts/wheel/build.sh [CACHE [CPU]]
#
# on x86-64, for CPU: x86_64 (default), or aarch64, whose files go into build/wheel-aarch64, the single one
# as leat-worker-aarch64, and whose programs are checked in qemu-user.
#
# CACHE (default: .deps/wheel) keeps tools, sources and libraries; scripts/wheel/libraries.sh says what is
# in it. All that leat links is inside, and what it opens at run time: DuckDB, the library that
# scripts/install.sh fetched, and libmicrohttpd.
# The bytes are a function of the commit and of what sources.txt, requirements/wheel.txt and install.sh
# pin: SOURCE_DATE_EPOCH is the commit's time unless it is set, and LEAT_COMMIT names the commit where git
# does not know it. Files that are not committed are built too, and named. The folder gets only wheels
# that scripts/wheel/check.py accepts.
set -eu
[ $# -le 2 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
cd "$(dirname "$0")/../.."
top=$PWD
mkdir -p "${1:-.deps/wheel}"
cache=$(cd "${1:-.deps/wheel}" && pwd)
cpu=${2:-x86_64}
platform=manylinux_2_28_$cpu
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
case $cpu in
x86_64)
  tag=
  remedy="run scripts/install.sh where no DuckDB is installed" ;;
aarch64)
  tag=-aarch64
  remedy="run scripts/install.sh --duckdb aarch64"
  command -v qemu-aarch64 >/dev/null || command -v qemu-aarch64-static >/dev/null ||
    fail "no qemu-aarch64 to check what is built; as root: apt-get install qemu-user libc6-arm64-cross \
libstdc++6-arm64-cross" ;;
*) fail "$cpu: wheels are built for x86_64 and aarch64; name one of them" ;;
esac
duckdb=.deps/duckdb$tag
[ -f $duckdb/lib/libduckdb.so ] || fail "$duckdb has no libduckdb.so; $remedy"
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
scripts/wheel/libraries.sh "$cache" "$cpu"
prefix=$cache/$cpu
bin=$cache/bin$tag
build=build-portable$tag
mkdir -p $build
exec 8>$build/lock
flock -n 8 || fail "$top/$build: another build is using it; wait until it has ended"
# CMake looks for libraries once, and does not see that the compiler behind zcc is another
inputs=$(echo "$cache" && cat "$cache/tools/pins.txt" "$prefix"/done/* "$bin"/z*)
if [ "$(cat $build/inputs.txt 2>/dev/null)" != "$inputs" ]; then
  find $build -mindepth 1 -maxdepth 1 ! -name lock -exec rm -rf {} +
  echo "$inputs" >$build/inputs.txt
fi
echo "wheel: leat for $cpu"
PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig PATH=$bin:$PATH \
  cmake -G Ninja -S . -B $build -D CMAKE_SYSTEM_NAME=Linux -D CMAKE_SYSTEM_PROCESSOR=$cpu \
  -D CMAKE_BUILD_TYPE=Release -D CMAKE_C_COMPILER="$bin/zcc" -D CMAKE_AR="$bin/zar" \
  -D CMAKE_RANLIB="$bin/zranlib" -D CMAKE_PREFIX_PATH="$prefix" \
  -D CMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF \
  -D CMAKE_C_FLAGS="-UNDEBUG -g0 -ffile-prefix-map=$top=. -isystem $prefix/include" \
  -D CMAKE_EXE_LINKER_FLAGS="-s -pie" \
  -D CMAKE_SHARED_LINKER_FLAGS="-s -Wl,--version-script=$top/scripts/wheel/exports.map" \
  -D LEAT_CCACHE=OFF -D LEAT_TESTS=OFF -D LEAT_BENCH=OFF -D LEAT_WERROR=ON \
  -D LEAT_COMMIT="${LEAT_COMMIT:-}" \
  -D LEAT_KIND="wheel $platform" -D LEAT_MICROHTTPD_BESIDE=ON -D "LEAT_LINK=ZIP;BZIP2;LZMA;WEBP;PQ" \
  -D LEAT_DUCKDB_ROOT="$top/$duckdb" >$build/configure.log 2>&1 ||
  fail "configuring failed; the end of $build/configure.log:
$(tail -n 15 $build/configure.log)"
! grep 'left out' $build/configure.log >&2 || fail "a part of leat would be missing"
cmake --build $build --parallel "$jobs" --target leat leat_shared leat_worker -- --quiet
rm -rf $build/wheel
"$cache/tools/bin/python3" scripts/wheel/assemble.py --build $build --prefix "$prefix" \
  --duckdb $duckdb/lib --platform $platform --output $build/wheel
for wheel in $build/wheel/leat-*.whl $build/wheel/leat_worker-*.whl; do
  "$cache/tools/bin/python3" scripts/wheel/check.py "$wheel"
done
output=build/wheel$tag
mkdir -p $output
rm -f $output/leat-*-py3-none-$platform.whl $output/leat_worker-*-py3-none-$platform.whl
mv $build/wheel/*.whl $output/
cp $build/leat-worker $output/leat-worker$tag.new
mv $output/leat-worker$tag.new $output/leat-worker$tag
echo "wheel: in $output"
