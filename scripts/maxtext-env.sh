#!/bin/sh
# Creates .deps/maxtext, where the real MaxText trains on a CPU, and runs commands in it:
#
#   scripts/maxtext-env.sh             create or complete it (root; 1 to 2 minutes, 1.3 GB)
#   scripts/maxtext-env.sh CMD ARG...  then run CMD inside, in the current directory
#
# MaxText requires Python 3.12 or newer, which Debian 12 does not have. .deps/maxtext/root is a small
# Debian 13 with Python and the libraries that libleat is linked with, unpacked from the mirror that
# apt uses (DEBIAN_MIRROR overrides it). It contains a virtual environment with the packages that
# scripts/requirements/maxtext.txt pins, from the index that pip uses. Commands run in their own
# process namespace: MaxText kills orphaned worker processes that it finds in /proc, and must find
# only its own. If the environment cannot be created, one line says why, and the exit status is 77.
set -eu
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }
[ "${1:-}" != --help ] || { usage; exit; }

suite=trixie
packages=python3,python3-venv,ca-certificates,libzstd1,libxxhash0,libssl3t64,libjansson4,zlib1g
packages=$packages,libbrotli1,libsnappy1v5,liblz4-1,libyaml-0-2,libjpeg62-turbo,libpng16-16t64
say() { echo "maxtext-env: $*" >&2; }
die() { say "$*; tests with MaxText are skipped"; exit 77; }

[ "$(id -u)" = 0 ] || die "must be root (debootstrap, chroot)"
home=$(cd "$(dirname "$0")/.." && pwd)
pins=$home/scripts/requirements/maxtext.txt
mkdir -p "$home/.deps/maxtext"
dir=$(cd "$home/.deps/maxtext" && pwd -P)
root=$dir/root
here=/
last=
py=/maxtext
for tool in debootstrap unshare chroot; do
  command -v $tool >/dev/null || die "$tool is missing (scripts/install.sh --all installs it)"
done

mirror() {  # the URL from which apt gets this release's main component
  [ -z "${DEBIAN_MIRROR:-}" ] || { echo "$DEBIAN_MIRROR"; return; }
  code=$(. /etc/os-release && echo "$ID ${VERSION_CODENAME:-}")
  [ "${code% *}" = debian ] || die "not Debian: set DEBIAN_MIRROR to the URL of a Debian archive"
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' \
    2>/dev/null |
    awk -v c="${code#* }" '$2 == c && $3 == "main" { print $1; exit }'
}

# pip's setting KEY on this machine: from the environment, then from its files; no local folders.
setting() {
  name=PIP_$(echo "$1" | tr a-z- A-Z_)
  value=$(printenv "$name" || python3 -m pip config get "global.$1" 2>/dev/null) || return 0
  value=$(for v in $value; do case $v in file:* | /*) ;; *) printf '%s ' "$v" ;; esac; done)
  [ -z "$value" ] || echo "$1 = $value"
}

# Runs a command with its own mounts, which are gone when it ends, its own processes, and of the
# environment only proxies and XLA_FLAGS.
inside() {
  $last unshare --mount --pid --fork --kill-child --propagation private sh -c '
    root=$1; here=$2; shift 2
    mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" || exit 1
    if [ "$here" != / ]; then
      mkdir -p "$root$here" && mount --bind "$here" "$root$here" || exit 1
    fi
    exec chroot "$root" env -C "$here" -i "$@"' sh "$root" "$here" \
    PATH="$py/bin:/usr/sbin:/usr/bin:/sbin:/bin" HOME=/root LANG=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    ${no_proxy:+no_proxy="$no_proxy"} ${XLA_FLAGS:+XLA_FLAGS="$XLA_FLAGS"} "$@"
}

if [ "$(cat "$root/packages" 2>/dev/null)" != "$packages" ]; then
  from=$(mirror)
  [ -n "$from" ] || die "apt names no Debian archive: set DEBIAN_MIRROR to the URL of one"
  say "unpacking Debian $suite from $from"
  rm -rf --one-file-system "$dir/root.part" "$root"
  eval "$(apt-config shell proxy Acquire::http::Proxy)"
  [ -z "${proxy:-}" ] || [ "$proxy" = DIRECT ] || export http_proxy="$proxy"
  unshare --mount --propagation private debootstrap --variant=minbase --include="$packages" \
    $suite "$dir/root.part" "$from" >"$dir/debootstrap.log" 2>&1 ||
    die "debootstrap failed, see $dir/debootstrap.log"
  rm -rf "$dir/root.part/var/cache/apt/archives"
  echo "$packages" >"$dir/root.part/packages"
  mv "$dir/root.part" "$root"
fi

cp -L /etc/resolv.conf "$root/etc/resolv.conf"
echo "127.0.0.1 localhost $(hostname)" >"$root/etc/hosts"  # gloo looks up the host's own name

if ! cmp -s "$pins" "$root$py/pins"; then
  ca=${PIP_CERT:-${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}}
  # trust the same certificates as this machine
  [ ! -f "$ca" ] || cat "$ca" >"$root/etc/ssl/certs/ca-certificates.crt"
  {
    printf '[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n'
    for key in index-url extra-index-url trusted-host proxy timeout; do setting $key; done
  } >"$root/etc/pip.conf"
  chmod 600 "$root/etc/pip.conf"  # an index URL may hold a password
  say "installing $(grep -c == "$pins") packages with pip"
  rm -rf "$root$py"
  inside /usr/bin/python3 -m venv $py
  cp "$pins" "$root$py/pins.part"
  inside pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps \
    --require-hashes --only-binary :all: -r $py/pins.part || die "pip failed"
  inside pip check >"$dir/pip-check.log" ||
    die "the pinned packages contradict each other, see $dir/pip-check.log"
  inside env DECOUPLE_GCLOUD=TRUE JAX_PLATFORMS=cpu \
    python -c 'import maxtext.trainers.pre_train.train' >"$dir/import.log" 2>&1 ||
    die "MaxText cannot be imported, see $dir/import.log"
  mv "$root$py/pins.part" "$root$py/pins"
fi

if [ $# = 0 ]; then
  say "ready: $(inside python --version), $(grep -o '^maxtext==[0-9.]*' "$pins")"
else
  case $PWD in
    # mounting these would hide the Debian inside
    / | /bin | /dev | /etc | /lib | /lib64 | /proc | /root | /sbin | /usr | /usr/* | /var) here=/ ;;
    *) here=$PWD ;;
  esac
  last=exec
  inside "$@"
fi
