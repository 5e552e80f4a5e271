#!/bin/sh
# Makes a release of a commit, in build/release (docs/release.md):
#
#   make release [REVISION=TAG]     REVISION is a tag or a commit (default: the last commit)
#
# leat-VERSION.tar.gz              the sources, from which everything else is built
# *.whl, leat-worker*              what make wheel makes of them, for x86-64 and arm64
# leat-VERSION.cdx.json            SBOM (CycloneDX 1.6): all that is linked in, and the tools' versions
# leat-VERSION-notes.md            release notes: the section of CHANGELOG.md, hashes, tools
# SHA256SUMS                       of these files
#
# The bytes are a function of the commit and of the versions that the SBOM names; verify.sh builds them
# again and compares. Changes that are not committed are not in it. A tag must be vVERSION, and
# CHANGELOG.md must not call its version unreleased. Nothing is signed or published here.
set -eu
[ $# -le 1 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
cd "$(dirname "$0")/../.."
fail() {
  echo "release: $*" >&2
  exit 1
}
revision=${1:-HEAD}
commit=$(git rev-parse -q --verify "$revision^{commit}") ||
  fail "$revision: not a tag or commit of this clone; set REVISION to one"
# line_of FILE PATTERN: what the group of the pattern is in that file of the commit
line_of() { git show "$commit:$1" | sed -n "s/$2/\1/p" | head -n 1; }
version=$(line_of include/leat/base.h '^#define LEAT_VERSION_MAJOR \(.*\)$')
version=$version.$(line_of include/leat/base.h '^#define LEAT_VERSION_MINOR \(.*\)$')
version=$version.$(line_of include/leat/base.h '^#define LEAT_VERSION_PATCH \(.*\)$')
case $version in *[!0-9.]* | .* | *. | *..*)
  fail "$revision: include/leat/base.h has no version; choose a later commit" ;;
esac
cited=$(line_of CITATION.cff '^version: \(.*\)$')
[ "$cited" = "$version" ] ||
  fail "$revision: CITATION.cff has version $cited, include/leat/base.h $version; make them the same"
# a tag by whatever name git knows it: v0.1.0, tags/v0.1.0, v0.1.0^{commit}
tag=${revision%%[~^]*}
tag=${tag#refs/}
tag=${tag#tags/}
[ "$(git rev-parse -q --verify "refs/tags/$tag^{commit}")" = "$commit" ] || tag=
if [ -n "$tag" ]; then
  [ "$tag" = "v$version" ] ||
    fail "$revision: the tag of a commit of version $version must be v$version; rename the tag"
  heading=$(line_of CHANGELOG.md "^\(## $version.*\)$")
  case $heading in
  '') fail "$revision: CHANGELOG.md has no section ## $version; write it before the tag" ;;
  *"not released"*) fail "$revision: CHANGELOG.md says \"$heading\"; change it before the tag" ;;
  esac
fi
[ -z "$(git status --porcelain)" ] ||
  echo "release: of commit $commit; changes that are not committed are not in it" >&2
mkdir -p build
exec 7>build/release.lock
flock -n 7 || fail "build/release: another release is being made; wait until it has ended"
WHEEL_CACHE=${WHEEL_CACHE:-.deps/wheel}
export WHEEL_CACHE
[ ! -d "$WHEEL_CACHE/x86_64/done" ] && [ ! -d "$WHEEL_CACHE/aarch64/done" ] ||
  echo "release: $WHEEL_CACHE has libraries that were built before, perhaps with other versions of tools \
than those that the SBOM will name; to publish the release, make it with an empty WHEEL_CACHE" >&2
archive=build/leat-$version.tar.gz
echo "release: leat $version, commit $commit"
scripts/release/archive.sh "$commit" "leat-$version" >"$archive.tar" || fail "no source archive"
gzip -9 -n <"$archive.tar" >"$archive"
rm "$archive.tar"
scripts/release/build.sh "$archive" build/release.new
rm -rf build/release "$archive"
mv build/release.new build/release
echo "release: in build/release:"
cat build/release/SHA256SUMS
