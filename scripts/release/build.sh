#!/bin/sh
# Builds a release from its source archive, for scripts/release/release.sh and verify.sh:
#
#   scripts/release/build.sh ARCHIVE OUTPUT
#
# unpacks leat-VERSION.tar.gz in OUTPUT.work, runs make wheel there for x86-64 and arm64, and fills the new folder OUTPUT with
# the archive, the wheels, the SBOM, the notes and SHA256SUMS. Only scripts of the archive decide what is
# built: a release is rebuilt by its own. The archive names the commit, and its time is
# SOURCE_DATE_EPOCH. WHEEL_CACHE is the folder of tools and libraries of make wheel.
set -eu
[ $# = 2 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
fail() {
  echo "release: $*" >&2
  exit 1
}
archive=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
output=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
name=$(basename "$archive" .tar.gz)
mkdir -p "${WHEEL_CACHE:?the folder of make wheel is not set; run make release}"
WHEEL_CACHE=$(cd "$WHEEL_CACHE" && pwd)
umask 022
LC_ALL=C TZ=UTC
unset MAKEFLAGS MFLAGS MAKELEVEL # of make release
commit=$(gzip -dc "$archive" | git get-tar-commit-id) ||
  fail "$archive: does not name a commit; it is not a source archive of scripts/release/release.sh"
rm -rf "$output" "$output.work"
mkdir "$output" "$output.work"
tar -xzf "$archive" -C "$output.work" --no-same-owner
top=$output.work/$name
[ -f "$top/scripts/release/documents.py" ] ||
  fail "$archive: has no $name/scripts/release/documents.py; releases are made from commits that have it"
SOURCE_DATE_EPOCH=$(stat -c %Y "$top/Makefile")
LEAT_COMMIT=$commit
export LC_ALL TZ SOURCE_DATE_EPOCH LEAT_COMMIT WHEEL_CACHE
for target in x86_64 aarch64; do
  make -C "$top" --no-print-directory wheel TARGET=$target WHEEL_CACHE="$WHEEL_CACHE" \
    JOBS="${JOBS:-$(nproc)}"
done
cp "$archive" "$top"/build/wheel/* "$top"/build/wheel-aarch64/* "$output/"
chmod 644 "$output"/*.tar.gz "$output"/*.whl
"$WHEEL_CACHE/tools/bin/python3" -B "$top/scripts/release/documents.py" --commit "$commit" "$output"
rm -rf "$output.work"
