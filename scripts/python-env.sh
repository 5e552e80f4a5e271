#!/bin/sh
# Makes .deps/venv: the Python packages that leat's files are compared with (PyArrow, array_record,
# DuckDB, NumPy), pinned by version and SHA-256. Needs Python 3.11, which Debian 12 has, and PyPI.
# Exit status 1, after one line that says why, if it cannot be made; tests that need it then skip.
set -eu
cd "$(dirname "$0")/.."
venv=$PWD/.deps/venv
pins=scripts/requirements/oracles.txt

skip() {
  echo "python-env: $*; comparisons with PyArrow, array_record and DuckDB are skipped" >&2
  exit 1
}

if [ -x "$venv/bin/python3" ] && cmp -s "$pins" "$venv/pins.txt"; then
  echo "python-env: there, in .deps/venv"
  exit 0
fi
python=
for candidate in python3.11 /usr/bin/python3.11 python3; do
  if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (3, 11))' \
    >/dev/null 2>&1; then
    python=$candidate
    break
  fi
done
[ -n "$python" ] || skip "no Python 3.11 with venv (Debian 12: apt-get install python3-venv)"
echo "python-env: making .deps/venv"
mkdir -p .deps
rm -rf "$venv"
log=$(mktemp)
{ "$python" -m venv "$venv" && "$venv/bin/pip" --disable-pip-version-check install -q --no-deps \
  --require-hashes --only-binary=:all: -r "$pins"; } >"$log" 2>&1 || {
  tail -n 3 "$log" >&2
  rm -rf "$venv" "$log"
  skip "pip could not install what $pins names"
}
rm -f "$log"
cp "$pins" "$venv/pins.txt"
echo "python-env: made"
