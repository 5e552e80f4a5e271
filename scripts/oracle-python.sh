#!/bin/sh
# Python for tests: that of scripts/python-env.sh if it was created, otherwise the system's. Tests of
# the Python package use the package of the build, and the environment with Grain and JAX
# (tests/python) or with PyTorch (tests/torch, which also uses tests/python/support.py).
deps=$(dirname "$0")/../.deps
case $1 in
*/tests/python/*)
  venv=$deps/venv-train/bin/python3
  export PYTHONPATH="$LEAT_BUILD/python"
  ;;
*/tests/torch/*)
  venv=$deps/venv-torch/bin/python3
  export PYTHONPATH="$LEAT_BUILD/python:$(dirname "$1")/../python"
  ;;
*) venv=$deps/venv/bin/python3 ;;
esac
[ -x "$venv" ] || venv=python3
exec "$venv" "$@"
