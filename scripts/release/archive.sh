#!/bin/sh
# Writes the source archive of a commit, uncompressed, to standard output:
#
#   scripts/release/archive.sh COMMIT NAME >FILE.tar
#
# NAME is the folder in which all files are. The bytes are a function of the commit and of git's version:
# no setting of this clone or of its user reaches them. The archive's header has the commit, and its
# files have the commit's time.
set -eu
[ $# = 2 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
cd "$(dirname "$0")/../.."
for name in GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE; do unset $name; done # of a hook
[ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ] || {
  echo "archive: $PWD: not a clone of leat; run this in one" >&2
  exit 1
}
bare=$(mktemp -d)
trap 'rm -rf "$bare"' EXIT
# a repository of its own: .git/info/attributes and .git/config of this one are not in it
git clone -q --bare --shared --template= . "$bare/leat.git"
GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null git -C "$bare/leat.git" -c tar.umask=0022 \
  -c core.attributesFile=/dev/null archive --format=tar --prefix="$2/" "$1"
