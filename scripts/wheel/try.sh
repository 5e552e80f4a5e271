#!/bin/sh
# Tries a wheel where nothing else is: a minimal Debian with Python and no compiler, as an ordinary
# user, without network.
#
#   scripts/wheel/try.sh WHEEL [RELEASE]     RELEASE is bookworm (default), trixie, ...
#
# Root only. scripts/bare-debian.sh makes the system in .deps/bare; Python and NumPy's wheel come from
# the network, before it is cut off. Then: pip install, the command and `python3 -m leat`, synthetic
# measurements, logs and images ingested, batches, a training of three steps, `import leat`, a page of
# `leat dash`, and Parquet written and read by the DuckDB of the wheel. leat-worker's wheel, if it is
# beside that one, goes into the same environment. The hashes of the batches must be those of build/leat,
# and what leat version says of the processor that which it says here. If the system cannot be made,
# one line says why, and the exit status is 77.
set -eu
case $# in 1 | 2) ;; *) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;; esac
wheel=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
release=${2:-bookworm}
cd "$(dirname "$0")/../.."
here=.deps/bare/$release/leat/tried
scripts/bare-debian.sh "$release" 'apt-get update -qq &&
  apt-get install -y -qq --no-install-recommends python3-venv >/dev/null 2>&1 || exit 77
  python3 -m venv /tmp/fetch && mkdir tried &&
  /tmp/fetch/bin/pip -q --disable-pip-version-check download -d tried "numpy>=1.23" || exit 77
  rm -rf /tmp/fetch; chmod -R a+rX /leat; ! command -v cc'
cp "$wheel" scripts/wheel/tried.sh "$here/"
for worker in "$(dirname "$wheel")"/leat_worker-*-"${wheel##*-}"; do # of the same platform
  [ ! -f "$worker" ] || cp "$worker" "$here/"
done
found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT
cat >"$here/loopback.py" <<'END'
import fcntl, socket, struct  # SIOCSIFFLAGS of "lo": up, running; leat dash is asked there
fcntl.ioctl(socket.socket(type=socket.SOCK_DGRAM), 0x8914, struct.pack("16sH14x", b"lo", 0x41))
END
{ scripts/bare-debian.sh --keep "$release" 'unshare --net sh -c "python3 /leat/tried/loopback.py &&
  exec setpriv --reuid 4321 --regid 4321 --clear-groups env HOME=/tmp \
  sh /leat/tried/tried.sh /leat/tried"' || touch "$found/failed"; } | tee "$found/there"
[ ! -e "$found/failed" ] || { echo "try: the wheel failed on Debian $release" >&2; exit 1; }
LEAT=$PWD/build/leat sh scripts/wheel/tried.sh --built "$found/work" >"$found/here"
for file in here there; do grep '^result: ' "$found/$file" >"$found/$file.results" || true; done
if ! diff "$found/here.results" "$found/there.results"; then
  echo "try: the wheel's results (>) are not those of build/leat (<)" >&2
  exit 1
fi
echo "try: $(grep -c . "$found/here.results") results on Debian $release are those of build/leat"
