#!/bin/sh
# Python for tests: that of scripts/python-env.sh where it was made, else the system's. Tests of the
# Python package (tests/python) get the environment with Grain and JAX, and the package of the build.
deps=$(dirname "$0")/../.deps
case $1 in
*/tests/python/*)
  venv=$deps/venv-train/bin/python3
  export PYTHONPATH="$LEAT_BUILD/python"
  ;;
*) venv=$deps/venv/bin/python3 ;;
esac
[ -x "$venv" ] || venv=python3
exec "$venv" "$@"
