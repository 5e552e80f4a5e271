#!/bin/sh
# The main job end to end on synthetic data, in build/demo: scripts/demo.sh [MEASUREMENTS]. Raw
# measurements in Parquet (5 million, if no number is given) become probe rows, which are verified,
# looked at, and read back; then training batches are made of them, timed, read, and looked at.
# scripts/demo.sh --can [FRAMES]: the same of vehicle logs (200,000 frames), which become graphs of
# windows, and batches of those. A second call starts afresh; raw files are kept, as making them
# again would give the same bytes.
set -eu
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }
job=probes
case ${1:-} in
--help) usage; exit ;;
--can) job=can; shift ;;
esac
case ${1:-} in
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

# run WORDS COMMAND...
run() {
  step "$@"
  shift
  "$@"
}

demo_probes() {
  measurements=$1
  raw=$out/raw-$measurements.parquet
  if [ -f "$raw" ]; then
    echo "== $raw is there from the last time"
  else
    run "make $measurements measurements" \
      "$leat" synth probes --measurements "$measurements" -o "$raw"
  fi
  rm -rf "$out/probes"
  run "ingest them into probe rows" "$leat" ingest probes "$raw" -o "$out/probes"
  run "check every byte, tell what is in it, and draw it" \
    "$leat" inspect --verify --html "$out/report.html" "$out/probes"
  step "the first row's measurements back" "$leat" cat --rows 0:1 "$out/probes" "| head -n 5"
  "$leat" cat --rows 0:1 "$out/probes" | head -n 5
  run "make training batches for 3 seconds: how full, how fast" \
    "$leat" batches "$out/probes" --time
  step "one sequence in words, its first measurements" \
    "$leat" batches "$out/probes" --words --batch 1 --steps 0:1 "| head -n 12"
  "$leat" batches "$out/probes" --words --batch 1 --steps 0:1 | head -n 12
  run "what batches hold, drawn" \
    "$leat" batches "$out/probes" --report "$out/batches.html"

  cat <<END

== done. Look at
  $out/report.html           what is in the data, with plots: open it in a browser
  $out/batches.html          what training batches of it hold: padding, scales, tokens
  $out/probes/               the ArrayRecord shards for training, and manifest.json beside them
  make demo-can                     the same of vehicle logs: seconds
  $leat --help               what else there is; every command has --help with an example
END
}

demo_can() {
  frames=$1
  logs=$out/logs-$frames
  if [ -d "$logs" ]; then
    echo "== $logs is there from the last time"
  else
    run "make logs of two vehicles under attack, $frames frames" \
      "$leat" synth can --frames "$frames" --vehicles 2 -o "$logs"
  fi
  rm -rf "$out/cache"
  run "ingest them into graphs of windows" "$leat" ingest can "$logs" -o "$out/cache"
  run "check every byte, tell what is in it, and draw it" \
    "$leat" inspect --verify --html "$out/can.html" "$out/cache"
  step "a window under attack as a graph, its head and first nodes" \
    "$leat" cat "$out/cache" --split test_01_dos --graph 0 --format words "| head -n 8"
  "$leat" cat "$out/cache" --split test_01_dos --graph 0 --format words | head -n 8
  run "make training batches for 3 seconds: how full, how fast" "$leat" batches "$out/cache" --time
  run "what batches hold, drawn" "$leat" batches "$out/cache" --report "$out/can-batches.html"

  cat <<END

== done. Look at
  $out/can.html              graphs, attacks, captures and features: open it in a browser
  $out/can-batches.html      what training batches of them hold: fill, sizes, attacks
  $out/cache/                the graphs: safetensors, vocabulary, scaler, metadata
  $leat --help               what else there is; every command has --help with an example
END
}

if [ "$job" = can ]; then demo_can "${1:-200000}"; else demo_probes "${1:-5000000}"; fi
