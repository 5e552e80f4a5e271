#!/bin/sh
# Runs the benchmarks: scripts/bench.sh [NAME [OPTION...]]. Without a name, all of them at full size,
# one after the other (docs/performance.md); with "--quick" instead of a name, all of them at small
# sizes, only to show that they run. A name is that of a script in bench/, followed by its options.
# Tables go to stdout as Markdown, samples to build/bench/NAME.json; no timing is a failure.
set -u
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }
case ${1:-} in
--help) usage; exit ;;
--quick | [!-]* | '') ;;
*) usage >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."
# Rivals need .deps/venv, for can, nn, train, crowd and detect also .deps/venv-torch, and for detect
# .deps/venv-detect; without them leat is measured alone.
scripts/python-env.sh >&2 || true
case ${1:-} in can | nn | train | crowd | detect | --quick | '') scripts/python-env.sh torch >&2 || true ;; esac
case ${1:-} in detect | --quick | '') scripts/python-env.sh detect >&2 || true ;; esac

one() {
  program=bench/$1.py
  shift
  python3 "$program" "$@" || echo "bench: $program ended with status $?" >&2
}

if [ $# -gt 0 ] && [ "$1" != --quick ]; then
  [ "$1" != measure ] && [ -f "bench/$1.py" ] || {
    echo "bench: no bench/$1.py" >&2
    exit 2
  }
  one "$@"
  exit
fi
for name in formats row_access open batches order small_memory ingest scale atlas can images nn train codecs crowd crowd_limits detect; do
  one "$name" "$@"
done
one ingest --large "$@"
one can --large "$@"
one images --large "$@"
one detect --matrix "$@"
