#!/bin/sh
# Runs a command as a new user does: in a minimal Debian without a compiler, on a clone of HEAD.
#
#   scripts/bare-debian.sh RELEASE COMMAND...         RELEASE is bookworm, trixie, sid, ...
#   scripts/bare-debian.sh --keep RELEASE COMMAND...  continue where the last call left off
#
#   example:  scripts/bare-debian.sh trixie 'make demo && make check'
#
# Root only. debootstrap unpacks .deps/bare/RELEASE-base once, from the mirror that apt uses here
# (DEBIAN_MIRROR overrides it; 0.3 GB); each call copies that to .deps/bare/RELEASE and clones HEAD
# to /leat there. Name resolution, certificates and proxies are those of this machine, everything
# else is Debian's. The exit status is that of COMMAND; if it cannot be run, one line says why, and
# the exit status is 77.
set -eu
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }
say() { echo "bare-debian: $*" >&2; }
die() { say "$*"; exit 77; }

keep=
case ${1:-} in
--help) usage; exit ;;
--keep) keep=yes; shift ;;
esac
case ${1:-} in
'' | *[!a-z]*) usage >&2; exit 2 ;;
esac
[ $# -ge 2 ] || { usage >&2; exit 2; }
release=$1
shift
home=$(cd "$(dirname "$0")/.." && pwd)
base=$home/.deps/bare/$release-base
root=$home/.deps/bare/$release
log=$home/.deps/bare/$release.log
certificates=/etc/ssl/certs/ca-certificates.crt

[ "$(id -u)" = 0 ] || die "must be root (debootstrap, chroot)"
for tool in debootstrap unshare chroot git; do
  command -v $tool >/dev/null || die "$tool is missing (scripts/install.sh --all installs it)"
done
mkdir -p "$home/.deps/bare"

mirror() {
  if [ -n "${DEBIAN_MIRROR:-}" ]; then echo "$DEBIAN_MIRROR"; else
    apt-get indextargets --format '$(REPO_URI) $(COMPONENT) $(ORIGIN)' 'Created-By: Packages' \
      2>/dev/null |
      awk '$1 !~ /security/ && $2 == "main" && $3 == "Debian" { print $1; exit }'
  fi
}

if [ ! -d "$base" ]; then
  from=$(mirror)
  [ -n "$from" ] || die "apt names no Debian archive: set DEBIAN_MIRROR to the URL of one"
  say "unpacking Debian $release from $from"
  rm -rf --one-file-system "$base.part"
  unshare --mount --propagation private debootstrap --variant=minbase \
    --include=ca-certificates,git,make "$release" "$base.part" "$from" >"$log" 2>&1 ||
    die "debootstrap failed, see $log"
  rm -f "$base.part"/var/cache/apt/archives/*.deb
  # apt's proxy and certificate settings, to reach the mirror
  for file in /etc/apt/apt.conf.d/*; do
    ! grep -qi 'proxy\|cainfo' "$file" || cp "$file" "$base.part/etc/apt/apt.conf.d/"
  done
  # a mirror may be a few days out of date, which does no harm here
  echo 'Acquire::Check-Valid-Until "false";' >"$base.part/etc/apt/apt.conf.d/90late-mirror"
  mv "$base.part" "$base"
fi

if [ -z "$keep" ] || [ ! -d "$root" ]; then
  rm -rf --one-file-system "$root" "$root.part"
  cp -a --reflink=auto "$base" "$root.part"
  git clone -q --no-hardlinks "$home" "$root.part/leat"
  mv "$root.part" "$root"
fi
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
[ ! -f $certificates ] || cp -L $certificates "$root$certificates"

# Its own mounts and processes, which are gone when it ends.
exec unshare --mount --pid --fork --kill-child --propagation private sh -c '
  root=$1
  shift
  mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" || exit 77
  exec chroot "$root" env -C /leat -i "$@"' sh "$root" \
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
  SSL_CERT_FILE=$certificates PIP_CERT=$certificates NODE_EXTRA_CA_CERTS=$certificates \
  npm_config_cafile=$certificates ${http_proxy:+http_proxy="$http_proxy"} \
  ${https_proxy:+https_proxy="$https_proxy"} ${no_proxy:+no_proxy="$no_proxy"} sh -c "$*"
