#!/bin/sh
# Verifies a release: builds it again from its source archive, and compares file by file.
#
#   scripts/release/verify.sh FOLDER
#
# FOLDER has the files of a release (docs/release.md). First, SHA256SUMS: files that are missing, changed
# or not in it. Then the archive: it must be that of the commit that it names, which this clone must have,
# so that nothing is run of an archive that only its own sums vouch for. Then it is built in build/verify,
# with the scripts of the archive, as make wheel does: on Debian 12, an hour on two cores with a new
# WHEEL_CACHE (default: .deps/wheel), else minutes. Versions of tools that differ from those of the
# release are printed before the comparison: they explain differences. Exit status 0: all files are
# equal, documents and the archive's compression up to these versions; 1: not; 2: wrong usage.
#
# Run it from a clone that you trust. Signatures (*.sigstore.json, *.asc) are not verified here.
set -eu
case ${1:-} in '' | -*) set -- ;; esac
[ $# = 1 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ -d "$1" ] || { echo "verify: $1: not a folder; name the folder of a release" >&2; exit 2; }
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
fail() {
  echo "verify: $*" >&2
  exit 1
}
name=$(python3 -B scripts/release/compare.py --sums "$folder") || exit 1
archive=$folder/$name.tar.gz
echo "verify: SHA256SUMS: all files are as listed"
commit=$(gzip -dc "$archive" | git get-tar-commit-id) ||
  fail "$archive: does not name a commit; it is not a source archive of scripts/release/release.sh"
mkdir -p build
exec 7>build/verify.lock
flock -n 7 || fail "build/verify: another verification is running; wait until it has ended"
case $commit in *[!0-9a-f]*) fail "$archive: names a commit that is no hash; do not use this release" ;; esac
git cat-file -e "$commit^{commit}" 2>/dev/null ||
  fail "$archive: this clone does not have commit $commit, which it names; git fetch, then verify again." \
    "If the project does not have it, do not use this release"
scripts/release/archive.sh "$commit" "$name" >build/verify.tar
gzip -dc "$archive" | cmp -s - build/verify.tar ||
  fail "$archive: differs from commit $commit of this clone, which it names; do not use this release"
echo "verify: the source archive is commit $commit"
WHEEL_CACHE=${WHEEL_CACHE:-.deps/wheel}
export WHEEL_CACHE
scripts/release/build.sh "$archive" build/verify
gzip -9 -n <build/verify.tar >"build/verify/$name.tar.gz" # as release.sh compresses it
rm build/verify.tar
exec python3 -B scripts/release/compare.py "$folder" build/verify
