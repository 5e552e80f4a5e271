#!/bin/sh
# Runs the quick tests of tests/crowd on one version of PostgreSQL. Inside a bare Debian, as root:
#
#   scripts/bare-debian.sh bookworm scripts/try-postgres.sh 13 bullseye
#   scripts/bare-debian.sh trixie scripts/try-postgres.sh 17
#
# The second argument is an older release of Debian that has this version. Its package is installed
# with the libraries that it needs, as on a machine that was upgraded from that release, because
# leat needs a newer CMake than it has. Ends in "N passed, N failed"; a version other than the
# requested one is a failure.
set -eu
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }
say() { echo "try-postgres: $*" >&2; }
case $#${1:-} in
1--help) usage; exit ;;
1[1-9][0-9] | 2[1-9][0-9]) ;;
*) usage >&2; exit 2 ;;
esac
version=$1
older=${2:-}
cd "$(dirname "$0")/.."
[ "$PWD" = /leat ] && [ ! -d /usr/lib/postgresql ] || {
  say "this is not a new root of scripts/bare-debian.sh"
  exit 2
}

# Neither a server nor a pooler is to be started by its package: the tests start their own.
mkdir -p /etc/postgresql-common
echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d
if [ -n "$older" ]; then
  . /etc/os-release
  sed "s/\b$VERSION_CODENAME\b/$older/" /etc/apt/sources.list >/etc/apt/sources.list.d/older.list
fi
apt() { DEBIAN_FRONTEND=noninteractive apt-get -q "$@"; }
{ apt update && apt install -y --no-install-recommends "postgresql-$version" pgbouncer; } \
  >/tmp/try-postgres.log 2>&1 || {
  tail -n 20 /tmp/try-postgres.log >&2
  say "apt-get could not install postgresql-$version"
  exit 1
}
scripts/install.sh --crowd # finds the server
[ "$(ls /usr/lib/postgresql)" = "$version" ] || {
  say "other versions are installed: $(ls /usr/lib/postgresql | tr '\n' ' ')"
  exit 1
}
make -s all
"/usr/lib/postgresql/$version/bin/postgres" --version
exec scripts/check --stage tests --only '^crowd_'
