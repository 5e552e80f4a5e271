#!/bin/sh
# Creates the Python environments of tests and benchmarks, pinned by version and SHA-256:
#
#   scripts/python-env.sh          .deps/venv: the packages that leat's files are compared with
#                                  (PyArrow, array_record, DuckDB, NumPy, Pillow, Polars,
#                                  python-can, safetensors)
#   scripts/python-env.sh train    .deps/venv-train: the packages that build, check and test the
#                                  Python package (scikit-build-core, mypy, Grain, JAX)
#   scripts/python-env.sh torch    .deps/venv-torch: PyTorch for the CPU and PyTorch Geometric, whose
#                                  batches leat.torch makes, and psycopg2 for bench/crowd.py; 900 MB,
#                                  x86-64 only
#   scripts/python-env.sh detect   .deps/venv-detect: scikit-learn, which bench/detect.py compares
#                                  detectors with; 300 MB, x86-64 only
#
# Requires Python 3.11, which Debian 12 has, and PyPI; torch also download.pytorch.org, unless pip
# finds that wheel in its own index. If an environment cannot be created, one line says why, and the
# exit status is 1; tests that need it are skipped.
set -eu
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }
case $#${1:-} in
0 | 1train | 1torch | 1detect) ;;
1--help) usage; exit ;;
*) usage >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."
case ${1:-} in
'') venv=.deps/venv pins=scripts/requirements/oracles.txt
  without="comparisons with PyArrow, array_record, DuckDB, Pillow, python-can and safetensors" ;;
train) venv=.deps/venv-train pins=scripts/requirements/train.txt
  without="the Python package's tests" ;;
torch) venv=.deps/venv-torch pins=scripts/requirements/torch.txt
  without="the tests of leat.torch" ;;
detect) venv=.deps/venv-detect pins=scripts/requirements/detect.txt
  without="comparisons of detectors with scikit-learn" ;;
esac

skip() {
  echo "python-env: $*; $without are skipped" >&2
  exit 1
}

if [ -x "$venv/bin/python3" ] && cmp -s "$pins" "$venv/pins.txt"; then
  echo "python-env: already in $venv"
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
echo "python-env: creating $venv"
mkdir -p .deps
rm -rf "$venv"
log=$(mktemp)
install() {
  "$venv/bin/pip" --disable-pip-version-check install -q --no-deps --require-hashes \
    --only-binary=:all: -r "$pins" "$@"
}
# The second location is tried only if the first fails: a machine that cannot reach it would wait in
# vain. Of 6,000 modules, only those that the import needs are compiled.
install_torch() {
  { install --no-compile ||
    install --no-compile --find-links https://download.pytorch.org/whl/cpu/torch/; } &&
    env -u PYTHONDONTWRITEBYTECODE "$venv/bin/python3" -W ignore -c 'import torch_geometric'
}
{ "$python" -m venv "$PWD/$venv" && case ${1:-} in
torch) install_torch ;;
*) install ;;
esac; } >"$log" 2>&1 || {
  tail -n 3 "$log" >&2
  rm -rf "$venv" "$log"
  skip "pip could not install the packages of $pins"
}
rm -f "$log"
cp "$pins" "$venv/pins.txt"
echo "python-env: created"
