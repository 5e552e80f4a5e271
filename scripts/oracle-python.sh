#!/bin/sh
# Python for tests: that of scripts/python-env.sh where it was made, else the system's.
venv=$(dirname "$0")/../.deps/venv/bin/python3
[ -x "$venv" ] || venv=python3
exec "$venv" "$@"
