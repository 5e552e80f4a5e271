#!/bin/sh
# Builds the libraries of the wheel for glibc 2.28 with zig's compiler: static ones, which leat links, and
# libmicrohttpd as a shared one, because it is LGPL:
#
#   scripts/wheel/libraries.sh CACHE [CPU]
#
# for CPU, x86_64 (default) or aarch64. What is of aarch64 alone has -aarch64 in its name:
#
# CACHE/sources        Debian's source packages (scripts/wheel/sources.txt), fetched with apt-get by
#                      version, with lists of its own: the system's are not changed; what Debian no
#                      longer has, from snapshot.debian.org
# CACHE/tools          zig, and what checks a wheel (scripts/requirements/wheel.txt)
# CACHE/bin[-CPU]      zcc, zcxx, zar, zranlib: zig for this target
# CACHE/CPU            include/, lib/, licences/; lib/pkgconfig for CMake
# CACHE/logs[-CPU]     what the builds printed
#
# What is there is not fetched or built again; a library is built again if its line in sources.txt,
# its function here, or what all share (tools, flags) has changed; all of them take half an hour on two
# busy cores. An interrupted build continues with the library that it had reached. Requires apt-get, dpkg-source,
# cmake, ninja, nasm, perl, make, flock, python3 with venv, and Debian's and PyPI's archives.
set -eu
[ $# = 1 ] || [ $# = 2 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cache=$(cd "$1" && pwd)
cpu=${2:-x86_64}
prefix=$cache/$cpu
target=$cpu-linux-gnu.2.28
jobs=${JOBS:-$(nproc)}
# what is made is what this file says, not what the user has set for other builds, or given to make
unset MAKEFLAGS MFLAGS CC CXX AR RANLIB CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LIBS CPATH C_INCLUDE_PATH \
  CPLUS_INCLUDE_PATH LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH CMAKE_TOOLCHAIN_FILE
say() { echo "wheel: $*"; }
fail() {
  echo "wheel: $*" >&2
  exit 1
}
case $cache in *[!A-Za-z0-9/._+~-]*)
  fail "$cache: the libraries cannot be built in a path with spaces or special characters; name another \
folder, as in: make wheel WHEEL_CACHE=/var/tmp/leat-wheel" ;;
esac
case $cpu in
x86_64) tag= ;;
aarch64) tag=-aarch64 ;;
*) fail "$cpu: libraries are built for x86_64 and aarch64; name one of them" ;;
esac
for tool in apt-get dpkg-source cmake ninja nasm perl make flock python3; do
  command -v $tool >/dev/null ||
    fail "$tool is missing; as root: apt-get install dpkg-dev cmake ninja-build nasm perl make \
util-linux python3-venv"
done
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
exec 9>"$cache/lock"
flock -n 9 || fail "$cache: another build is using it; wait until it has ended, or name another folder"
mkdir -p "$cache/sources" "$cache/build$tag" "$cache/bin$tag" "$cache/logs$tag" "$prefix/include" \
  "$prefix/lib/pkgconfig" "$prefix/licences" "$prefix/done"

# ---- tools ----

pins=$here/../requirements/wheel.txt
if ! cmp -s "$pins" "$cache/tools/pins.txt"; then
  say "tools"
  rm -rf "$cache/tools"
  python3 -m venv "$cache/tools"
  "$cache/tools/bin/pip" --disable-pip-version-check install -q --no-deps --require-hashes \
    --only-binary=:all: -r "$pins" ||
    fail "the tools in $pins could not be installed from PyPI"
  cp "$pins" "$cache/tools/pins.txt"
fi
zig=$("$cache/tools/bin/python3" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))')
ZIG_GLOBAL_CACHE_DIR=$cache/zig ZIG_LOCAL_CACHE_DIR=$cache/zig
export ZIG_GLOBAL_CACHE_DIR ZIG_LOCAL_CACHE_DIR
tool() {
  printf '#!/bin/sh\nexport ZIG_GLOBAL_CACHE_DIR="%s" ZIG_LOCAL_CACHE_DIR="%s"\nexec "%s/zig" %s "$@"\n' \
    "$cache/zig" "$cache/zig" "$zig" "$2" >"$cache/bin$tag/$1.new"
  chmod +x "$cache/bin$tag/$1.new"
  if cmp -s "$cache/bin$tag/$1.new" "$cache/bin$tag/$1"; then rm "$cache/bin$tag/$1.new"
  else mv "$cache/bin$tag/$1.new" "$cache/bin$tag/$1"; fi
}
tool zcc "cc -target $target"
tool zcxx "c++ -target $target"
tool zar ar
tool zranlib ranlib
PATH=$cache/bin$tag:$PATH
# zig adds -DNDEBUG and -g uninvited
flags="-O2 -g0 -fPIC -UNDEBUG"

# ---- sources ----

mkdir -p "$cache/apt/lists/partial" "$cache/apt/cache/archives/partial"
cat >"$cache/apt/sources.list" <<END
deb-src [signed-by=$keyring] http://deb.debian.org/debian bookworm main
deb-src [signed-by=$keyring] http://deb.debian.org/debian sid main
END
cat >"$cache/apt/apt.conf" <<END
Dir::Etc::sourcelist "$cache/apt/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$cache/apt/lists";
Dir::Cache "$cache/apt/cache";
END
PATH=$PATH:/usr/lib/apt # has apt-helper
fresh= # the lists: yes or missing, once they have been asked for
apt() { APT_CONFIG="$cache/apt/apt.conf" apt-get -qq "$@"; }

# from_snapshot PACKAGE=VERSION SHA256: into the current folder, from the archive of all that Debian ever
# had. It may come from anywhere, as its SHA-256 is known. "#snapshot" of sources.txt is where it was at a
# time when Debian had all versions
from_snapshot() {
  place=${1%%=*}
  case $place in
  lib?*) place=$(echo "$place" | cut -c 1-4)/$place ;;
  *) place=$(echo "$place" | cut -c 1)/$place ;;
  esac
  place=$(sed -n 's/^#snapshot //p' "$here/sources.txt")/pool/main/$place
  say "$1: asking $place" >&2
  file=${dsc##*/}
  get "$place/$file" "$2" || return 1
  sed -n '/^Checksums-Sha256:/,/^[^ ]/s/^ \([0-9a-f]*\) [0-9]* \([^/ ]*\)$/\1 \2/p' "$file" >files
  while read -r sha name; do get "$place/$name" "$sha" || return 1; done <files
  rm files
}
get() { # URL SHA256: into the current folder
  APT_CONFIG="$cache/apt/apt.conf" apt-helper -qq download-file "$1" "${1##*/}" "SHA256:$2" >&2
}

# no_source PACKAGE=VERSION: why it has not been fetched, and what helps. Debian keeps a version until it
# has the next one, which takes years in bookworm and perhaps days in sid
no_source() {
  [ "$fresh" = yes ] || fail "Debian's lists of sources could not be fetched, nor $1 from \
snapshot.debian.org; run this again when there is a connection"
  now=$(APT_CONFIG="$cache/apt/apt.conf" apt-cache showsrc --only-source "${1%%=*}" 2>/dev/null |
    sed -n 's/^Version: //p' | sort -u | tr '\n' ' ')
  case " $now" in
  " ") fail "$1: the source could not be fetched, nor a list of what Debian has; run this again when there \
is a connection" ;;
  *" ${1#*=} "*) fail "$1: the source could not be fetched, although Debian has it; run this again when \
there is a connection" ;;
  esac
  fail "$1: Debian no longer has this version, but ${now% }, and snapshot.debian.org, which has, could not \
be reached. For the wheel that scripts/wheel/sources.txt describes, run this again where it can, or copy \
${dsc##*/} and the files that it lists into $cache/sources, as from the same folder of another WHEEL_CACHE. \
For a wheel with another version, write that \
and the SHA-256 of its .dsc into scripts/wheel/sources.txt"
}

# fetch PACKAGE=VERSION SHA256: prints the .dsc
fetch() {
  dsc=$cache/sources/${1%%=*}_$(echo "${1#*=}" | sed 's/^[0-9]*://').dsc
  if [ ! -f "$dsc" ]; then
    [ -f $keyring ] || fail "$keyring is missing; as root: apt-get install debian-archive-keyring"
    [ -n "$fresh" ] || { apt update && fresh=yes; } || fresh=missing
    rm -rf "$cache/sources/new"
    mkdir "$cache/sources/new"
    (cd "$cache/sources/new" && apt source --download-only --only-source "$1" >&2) ||
      (cd "$cache/sources/new" && from_snapshot "$1" "$2") || no_source "$1"
    for file in "$cache/sources/new"/*; do # the .dsc last: then all that it names is there
      [ "${file##*.}" = dsc ] || mv "$file" "$cache/sources/"
    done
    mv "$cache/sources/new"/*.dsc "$cache/sources/"
  fi
  echo "$2  $dsc" | sha256sum --check --status || fail "$dsc: not the SHA-256 of sources.txt"
}

# ---- one function a library, run in its unpacked source ----

cmake_in() { # SOURCE-OPTIONS...
  cmake -G Ninja -S . -B out -D CMAKE_SYSTEM_NAME=Linux -D CMAKE_SYSTEM_PROCESSOR=$cpu \
    -D CMAKE_C_COMPILER="$cache/bin$tag/zcc" -D CMAKE_CXX_COMPILER="$cache/bin$tag/zcxx" \
    -D CMAKE_AR="$cache/bin$tag/zar" -D CMAKE_RANLIB="$cache/bin$tag/zranlib" \
    -D CMAKE_C_FLAGS="$flags" -D CMAKE_CXX_FLAGS="$flags" -D CMAKE_BUILD_TYPE=None \
    -D CMAKE_POLICY_DEFAULT_CMP0074=NEW -D CMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF \
    -D CMAKE_PREFIX_PATH="$prefix" -D CMAKE_INSTALL_PREFIX="$prefix" -D CMAKE_INSTALL_LIBDIR=lib "$@"
}
build() { cmake --build out -j "$jobs" "$@"; }
pc() { # NAME LIBRARIES
  cat >"$prefix/lib/pkgconfig/$1.pc" <<END
prefix=\${pcfiledir}/../..
Name: $1
Description: $1
Version: $version
Libs: -L\${prefix}/lib $2
Cflags: -I\${prefix}/include
END
}

lib_zlib() {
  CC=zcc AR=zar RANLIB=zranlib CFLAGS="$flags" ./configure --static
  make -j "$jobs" libz.a
  cp libz.a "$prefix/lib"
  cp zlib.h zconf.h "$prefix/include"
  pc zlib -lz
}
lib_zstd() { # -O3 is its own default
  make -j "$jobs" -C lib CC=zcc AR=zar CFLAGS="-O3 -fomit-frame-pointer -g0 -fPIC -UNDEBUG $maps" libzstd.a
  cp lib/libzstd.a "$prefix/lib"
  cp lib/*.h "$prefix/include"
  pc libzstd -lzstd
}
lib_lz4() {
  make -j "$jobs" -C lib CC=zcc AR=zar CFLAGS="$flags" liblz4.a
  cp lib/liblz4.a "$prefix/lib"
  cp lib/lz4.h lib/lz4hc.h lib/lz4frame.h "$prefix/include"
  pc liblz4 -llz4
}
lib_bzip2() {
  make -j "$jobs" CC=zcc AR=zar RANLIB=zranlib CFLAGS="$flags -D_FILE_OFFSET_BITS=64" libbz2.a
  cp libbz2.a "$prefix/lib"
  cp bzlib.h "$prefix/include"
}
lib_brotli() {
  cmake_in -D BUILD_SHARED_LIBS=OFF
  build --target brotlienc-static brotlidec-static brotlicommon-static
  for name in enc dec common; do
    cp out/libbrotli$name-static.a "$prefix/lib/libbrotli$name.a"
    pc libbrotli$name -lbrotli$name
  done
  cp -r c/include/brotli "$prefix/include"
}
lib_jansson() {
  cmake_in -D JANSSON_BUILD_DOCS=OFF -D JANSSON_WITHOUT_TESTS=ON -D JANSSON_EXAMPLES=OFF
  build
  cp out/lib/libjansson.a "$prefix/lib"
  cp out/include/*.h "$prefix/include"
  pc jansson -ljansson
}
lib_yaml() {
  cmake_in -D BUILD_TESTING=OFF -D BUILD_SHARED_LIBS=OFF
  build
  cp out/libyaml.a "$prefix/lib"
  cp include/yaml.h "$prefix/include"
  pc yaml-0.1 -lyaml
}
lib_snappy() { # with BUILD_SHARED_LIBS=OFF Debian's patch makes two rules for one file
  cmake_in -D BUILD_SHARED_LIBS=ON -D SNAPPY_BUILD_TESTS=OFF -D SNAPPY_BUILD_BENCHMARKS=OFF
  for name in snappy snappy-c snappy-sinksource snappy-stubs-internal; do
    zcxx $flags -std=c++11 -fno-exceptions -fno-rtti -DHAVE_CONFIG_H -I. -Iout -c $name.cc -o $name.o
  done
  rm -f libsnappy.a
  zar rcs libsnappy.a snappy.o snappy-c.o snappy-sinksource.o snappy-stubs-internal.o
  cp libsnappy.a "$prefix/lib"
  cp snappy-c.h "$prefix/include"
  pc snappy "-lsnappy -lc++"
}
lib_xxhash() { # Debian's archive has no dispatch
  names=xxhash
  [ $cpu != x86_64 ] || names="xxhash xxh_x86dispatch"
  for name in $names; do
    zcc -O3 -fomit-frame-pointer -g0 -fPIC -UNDEBUG $maps -c $name.c -o $name.o
  done
  rm -f libxxhash.a
  zar rcs libxxhash.a xxh*.o
  cp libxxhash.a "$prefix/lib"
  cp xxhash.h xxh3.h "$prefix/include"
  [ $cpu != x86_64 ] || cp xxh_x86dispatch.h "$prefix/include"
  pc libxxhash -lxxhash
}
lib_jpeg() { # without nasm it builds without SIMD, and says nothing
  cmake_in -D ENABLE_SHARED=OFF -D WITH_TURBOJPEG=OFF -D WITH_JPEG8=OFF -D REQUIRE_SIMD=ON \
    -D CMAKE_ASM_NASM_COMPILER="$(command -v nasm)"
  build --target jpeg-static
  cp out/libjpeg.a "$prefix/lib"
  cp out/jconfig.h jpeglib.h jmorecfg.h jerror.h "$prefix/include"
  pc libjpeg -ljpeg
}
lib_png() {
  CC=zcc AR=zar RANLIB=zranlib CFLAGS="$flags" CPPFLAGS="-I$prefix/include" LDFLAGS="-L$prefix/lib" \
    ./configure --host=$cpu-linux-gnu --disable-shared --disable-dependency-tracking
  make -j "$jobs" libpng16.la
  cp .libs/libpng16.a "$prefix/lib"
  cp png.h pngconf.h pnglibconf.h "$prefix/include"
  pc libpng "-lpng16 -lz -lm"
}
lib_webp() {
  CC=zcc AR=zar RANLIB=zranlib CFLAGS="$flags" ./configure --host=$cpu-linux-gnu \
    --disable-shared --disable-libwebpmux --disable-libwebpdemux --enable-libwebpdecoder \
    --disable-gif --disable-tiff --disable-png --disable-jpeg --disable-gl \
    --disable-dependency-tracking
  make -j "$jobs" -C sharpyuv
  make -j "$jobs" -C src
  cp src/.libs/libwebpdecoder.a "$prefix/lib"
  mkdir -p "$prefix/include/webp"
  cp src/webp/decode.h src/webp/types.h "$prefix/include/webp"
}
lib_xz() {
  CC=zcc AR=zar RANLIB=zranlib CFLAGS="$flags" ./configure --host=$cpu-linux-gnu \
    --disable-shared --disable-xz --disable-xzdec --disable-lzmadec --disable-lzmainfo \
    --disable-lzma-links --disable-scripts --disable-doc --disable-nls --disable-encoders \
    --disable-dependency-tracking
  make -j "$jobs" -C src/liblzma
  cp src/liblzma/.libs/liblzma.a "$prefix/lib"
  cp -r src/liblzma/api/lzma* "$prefix/include"
}
lib_zip() {
  cmake_in -D BUILD_SHARED_LIBS=OFF -D ENABLE_COMMONCRYPTO=OFF -D ENABLE_GNUTLS=OFF \
    -D ENABLE_MBEDTLS=OFF -D ENABLE_OPENSSL=OFF -D ENABLE_WINDOWS_CRYPTO=OFF -D ENABLE_LZMA=OFF \
    -D ENABLE_BZIP2=ON -D BUILD_TOOLS=OFF -D BUILD_REGRESS=OFF -D BUILD_EXAMPLES=OFF -D BUILD_DOC=OFF
  build
  cp out/lib/libzip.a "$prefix/lib"
  cp lib/zip.h out/zipconf.h "$prefix/include"
}
lib_crypto() { # what hashes and TLS need. Its compiler line is in it, so no paths there
  CC=zcc AR=zar RANLIB=zranlib CFLAGS="$flags" perl ./Configure linux-$cpu no-shared no-module \
    no-dso no-engine no-tests no-legacy no-comp no-ssl3 no-weak-ssl-ciphers no-idea no-mdc2 no-rc5 \
    no-afalgeng no-ui-console no-aria no-bf no-camellia no-cast no-cmp no-cms no-ct no-dsa no-dtls \
    no-gost no-ocsp no-psk no-rc2 no-rc4 no-scrypt no-seed no-sm2 no-srp no-srtp no-ts no-whirlpool \
    --openssldir=/etc/ssl --libdir=lib
  make -j "$jobs" build_generated
  make -j "$jobs" libcrypto.a libssl.a
  cp libcrypto.a libssl.a "$prefix/lib"
  cp -r include/openssl "$prefix/include"
  pc libcrypto "-lcrypto -ldl -lpthread"
}
lib_pq() { # with what it has from PostgreSQL's other parts. configure wants bison and flex for grammars,
  # which are not in it; of the server, it needs some headers that are generated
  CC=zcc AR=zar RANLIB=zranlib CFLAGS="$flags" CPPFLAGS="-I$prefix/include" LDFLAGS="-L$prefix/lib" \
    BISON="echo bison GNU Bison 3.8" FLEX="echo flex 2.6.4" LIBS="-ldl -lpthread" \
    ./configure --host=$cpu-linux-gnu --with-ssl=openssl --without-readline --without-zlib \
    --without-gssapi --without-ldap --without-icu --without-libxml --without-pam --disable-rpath \
    --with-system-tzdata=/usr/share/zoneinfo
  make -C src/include/catalog generated-headers
  make -C src/backend/utils ../../../src/include/utils/header-stamp
  make -C src/port NO_GENERATED_HEADERS=yes libpgport_shlib.a
  make -j "$jobs" -C src/common NO_GENERATED_HEADERS=yes libpgcommon_shlib.a
  make -j "$jobs" -C src/interfaces/libpq NO_GENERATED_HEADERS=yes SHLIB_PREREQS= libpq.a
  printf '%s\n' "create libpq.a" "addlib src/interfaces/libpq/libpq.a" \
    "addlib src/common/libpgcommon_shlib.a" "addlib src/port/libpgport_shlib.a" save end | zar -M
  zranlib libpq.a
  cp libpq.a "$prefix/lib"
  cp src/interfaces/libpq/libpq-fe.h src/include/postgres_ext.h "$prefix/include"
}
lib_microhttpd() { # of a kind that can be replaced: a file of its own, which leat dash opens
  CC=zcc AR=zar RANLIB=zranlib CFLAGS="$flags" LDFLAGS=-s ./configure --host=$cpu-linux-gnu \
    --enable-shared --disable-static --disable-https --disable-curl --disable-doc --disable-examples \
    --disable-bauth --disable-dauth --disable-postprocessor --disable-dependency-tracking
  make -j "$jobs" -C src/microhttpd libmicrohttpd.la
  cp -L src/microhttpd/.libs/libmicrohttpd.so.12 "$prefix/lib"
  cp src/include/microhttpd.h "$prefix/include"
}

# ---- all of them ----

SOURCE_DATE_EPOCH=1 # of the libraries, whose versions are in sources.txt
export SOURCE_DATE_EPOCH
# text_of FUNCTION: its lines in this file, as they are for this processor
text_of() { sed -n "/^$1() {/,/^}/ { s/[$]cpu/$cpu/g; s/[$]tag/$tag/g; p; }" "$here/libraries.sh"; }
shared=$(
  echo "$target $flags"
  cat "$pins"
  text_of cmake_in
  text_of pc
)
# make_library NAME PACKAGE SHA256 LICENCES
make_library() {
  mark=$( (echo "$2 $3 $4 $shared"; text_of "lib_$1") | sha256sum | cut -d' ' -f1)
  [ "$(cat "$prefix/done/$1" 2>/dev/null)" != "$mark" ] || return 0
  fetch "$2" "$3"
  say "$2"
  rm -rf "$cache/build$tag/$1"
  # it compares the archives with the hashes of the .dsc, and warns that it cannot check the signature
  dpkg-source --no-copy -x "$dsc" "$cache/build$tag/$1" >"$cache/logs$tag/$1.log" 2>&1 ||
    fail "$1: cannot be unpacked; the end of $cache/logs$tag/$1.log:
$(tail -n 15 "$cache/logs$tag/$1.log")
To fetch it again, remove $dsc"
  # not "( ) || fail": there, the shell goes on after a command that failed
  set +e
  (
    set -e
    cd "$cache/build$tag/$1"
    version=${2#*=} # PACKAGE=EPOCH:VERSION-REVISION
    version=${version#*:}
    version=${version%%-*}
    maps="-ffile-prefix-map=$cache/build$tag/$1=."
    [ "$1" = crypto ] || flags="$flags $maps"
    "lib_$1"
  ) >>"$cache/logs$tag/$1.log" 2>&1 </dev/null
  status=$?
  set -e
  [ $status = 0 ] || fail "$1: the build failed; the end of $cache/logs$tag/$1.log:
$(tail -n 15 "$cache/logs$tag/$1.log")"
  rm -rf "$prefix/licences/$1"
  mkdir "$prefix/licences/$1"
  for file in $(echo "$4" | tr , ' '); do cp "$cache/build$tag/$1/$file" "$prefix/licences/$1/"; done
  echo "$mark" >"$prefix/done/$1"
  rm -rf "$cache/build$tag/$1"
}
while read -r name package sha spdx licences; do
  case $name in '' | '#'*) continue ;; esac
  make_library "$name" "$package" "$sha" "$licences"
done <"$here/sources.txt"
mkdir -p "$prefix/licences/llvm" "$prefix/licences/zig"
cp "$zig/lib/libcxx/LICENSE.TXT" "$prefix/licences/llvm/" # libc++, libc++abi
cp "$zig/LICENSE" "$prefix/licences/zig/"                 # its compiler-rt
