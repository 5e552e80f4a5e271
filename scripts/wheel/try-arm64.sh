#!/bin/sh
# Tries the wheel for arm64 in an emulator: what try.sh does in a bare system, without Python's part.
#
#   scripts/wheel/try-arm64.sh WHEEL
#
# The command of the wheel runs in qemu-user, with Debian's libraries for arm64 (libc6-arm64-cross,
# libstdc++6-arm64-cross): synthetic measurements, logs and images ingested, batches, a training of three
# steps, Parquet by the DuckDB of the wheel. All hashes must be those of build/leat, or of LEAT, here.
# leat-worker's wheel, if it is beside that one, must have the same build inside. Minutes. Without the
# emulator, one line says so, and the exit status is 77.
set -eu
case $#${1:-} in 1*.whl) ;; *) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;; esac
wheel=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")/../.."
libraries=/usr/aarch64-linux-gnu
emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) && [ -e $libraries/lib/libstdc++.so.6 ] || {
  echo "try-arm64: skipped: as root: apt-get install qemu-user libc6-arm64-cross libstdc++6-arm64-cross"
  exit 77
}
found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT
# program NAME FILE: a command that runs that file of a wheel
program() {
  chmod +x "$2"
  printf '#!/bin/sh\nexec "%s" -L "%s" "%s" "$@"\n' "$emulator" "$libraries" "$2" >"$found/$1"
  chmod +x "$found/$1"
}
python3 -m zipfile -e "$wheel" "$found/files"
program leat "$found/files/leat/leat"
for worker in "$(dirname "$wheel")"/leat_worker-*-"${wheel##*-}"; do
  [ -f "$worker" ] || continue
  python3 -m zipfile -e "$worker" "$found/worker"
  program leat-worker "$(echo "$found"/worker/*.data/scripts/leat-worker)"
  "$found/leat" version | grep -v '^leat \|DuckDB' >"$found/leat.txt"
  "$found/leat-worker" version | grep -v '^leat ' | diff "$found/leat.txt" - || {
    echo "try-arm64: leat-worker (>) is another build than leat (<)" >&2
    exit 1
  }
done
LEAT=$found/leat sh scripts/wheel/tried.sh --built "$found/work" >"$found/there"
LEAT=${LEAT:-$PWD/build/leat} sh scripts/wheel/tried.sh --built "$found/work-here" >"$found/here"
for file in here there; do
  grep '^result: ' "$found/$file" | grep -v '^result: processor ' >"$found/$file.results" || true
done
if ! diff "$found/here.results" "$found/there.results"; then
  echo "try-arm64: the wheel's results (>) are not those of this machine's (<)" >&2
  exit 1
fi
echo "try-arm64: $(grep -c . "$found/here.results") results on an emulated arm64 are those of this machine's"
