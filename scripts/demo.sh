#!/bin/sh
# The main job end to end on synthetic data, in build/demo: scripts/demo.sh [MEASUREMENTS]. Raw
# measurements in Parquet (5 million, if no number is given) become probe rows, which are verified,
# looked at, and read back; then training batches are made of them, timed, read, and looked at. A
# second call starts afresh; the raw file is kept, as making it again would give the same bytes.
set -eu
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }
measurements=${1:-5000000}
case $measurements in
--help) usage; exit ;;
*[!0-9]*) usage >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."
leat=build/leat
out=build/demo
mkdir -p "$out"

step() {
  echo
  echo "== $1"
  shift
  echo "\$ $*"
}

raw=$out/raw-$measurements.parquet
if [ -f "$raw" ]; then
  echo "== $raw is there from the last time"
else
  step "make $measurements measurements" "$leat" synth probes --measurements "$measurements" -o "$raw"
  "$leat" synth probes --measurements "$measurements" -o "$raw"
fi
rm -rf "$out/probes"
step "ingest them into probe rows" "$leat" ingest probes "$raw" -o "$out/probes"
"$leat" ingest probes "$raw" -o "$out/probes"
step "check every byte, tell what is in it, and draw it" \
  "$leat" inspect --verify --html "$out/report.html" "$out/probes"
"$leat" inspect --verify --html "$out/report.html" "$out/probes"
step "the first row's measurements back" "$leat" cat --rows 0:1 "$out/probes" "| head -n 5"
"$leat" cat --rows 0:1 "$out/probes" | head -n 5
step "make training batches for 3 seconds: how full, how fast" \
  "$leat" batches "$out/probes" --time
"$leat" batches "$out/probes" --time
step "one sequence in words, its first measurements" \
  "$leat" batches "$out/probes" --words --batch 1 --steps 0:1 "| head -n 12"
"$leat" batches "$out/probes" --words --batch 1 --steps 0:1 | head -n 12
step "what batches hold, drawn" \
  "$leat" batches "$out/probes" --report "$out/batches.html"
"$leat" batches "$out/probes" --report "$out/batches.html"

cat <<END

== done. Look at
  $out/report.html           what is in the data, with plots: open it in a browser
  $out/batches.html          what training batches of it hold: padding, scales, tokens
  $out/probes/               the ArrayRecord shards for training, and manifest.json beside them
  $leat --help               what else there is; every command has --help with an example
END
