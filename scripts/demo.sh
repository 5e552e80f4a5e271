#!/bin/sh
# The main job end to end on synthetic data, in build/demo: scripts/demo.sh [MEASUREMENTS]. Raw
# measurements in Parquet (default: 5 million) become probe rows, which are verified, plotted and read
# back; then training batches are made from them, timed, printed and plotted. scripts/demo.sh --can
# [FRAMES]: the same with vehicle logs (default: 200,000 frames), which become window graphs and
# batches of graphs. scripts/demo.sh --images [STEPS]: synthetic portraits become a data set, on which
# a small DCGAN is trained (default: 1600 steps, two minutes on 2 cores); PHOTOS=DIR takes the
# images of a folder or zip archive instead. scripts/demo.sh --crowd [STEPS] (default: 160) trains over
# four workers, of which two are killed and one joins late, and compares the weights with those of one
# machine. A second call starts over; raw files are kept, because
# creating them again gives the same bytes.
set -eu
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }
job=probes
case ${1:-} in
--help) usage; exit ;;
--can) job=can; shift ;;
--images) job=images; shift ;;
--crowd) job=crowd; shift ;;
esac
case ${1:-} in
*[!0-9]*) usage >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."
leat=build/leat
out=build/demo
mkdir -p "$out"
rm -f "$out"/*.html "$out/generated.png" # those of earlier versions have no mark of leat

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
    echo "== $raw exists from an earlier run"
  else
    run "make $measurements measurements" \
      "$leat" synth probes --measurements "$measurements" -o "$raw"
  fi
  rm -rf "$out/probes"
  run "ingest them into probe rows" "$leat" ingest probes "$raw" -o "$out/probes"
  run "check every byte, show the contents, and plot them" \
    "$leat" inspect --verify --html "$out/report.html" "$out/probes"
  step "read the first row's measurements back" "$leat" cat --rows 0:1 "$out/probes" "| head -n 5"
  "$leat" cat --rows 0:1 "$out/probes" | head -n 5
  run "make training batches for 3 seconds: how full, how fast" \
    "$leat" batches "$out/probes" --time
  step "print one sequence in words: its first measurements" \
    "$leat" batches "$out/probes" --words --batch 1 --steps 0:1 "| head -n 12"
  "$leat" batches "$out/probes" --words --batch 1 --steps 0:1 | head -n 12
  run "plot what batches hold" \
    "$leat" batches "$out/probes" --report "$out/batches.html"

  cat <<END

== done. Look at
  $out/report.html           the contents of the data set, with plots: open it in a browser
  $out/batches.html          the contents of training batches: padding, scales, tokens
  $out/probes/               the ArrayRecord shards for training, and manifest.json
  make demo-can                     the same with vehicle logs, in seconds
  $leat --help               all commands; each has --help with examples
END
}

demo_can() {
  frames=$1
  logs=$out/logs-$frames
  if [ -d "$logs" ]; then
    echo "== $logs exists from an earlier run"
  else
    run "make logs of two vehicles under attack, $frames frames" \
      "$leat" synth can --frames "$frames" --vehicles 2 -o "$logs"
  fi
  rm -rf "$out/cache"
  run "ingest them into window graphs" "$leat" ingest can "$logs" -o "$out/cache"
  run "check every byte, show the contents, and plot them" \
    "$leat" inspect --verify --html "$out/can.html" "$out/cache"
  step "print a window under attack as a graph: its head and first nodes" \
    "$leat" cat "$out/cache" --split test_01_dos --graph 0 --format words "| head -n 8"
  "$leat" cat "$out/cache" --split test_01_dos --graph 0 --format words | head -n 8
  run "make training batches for 3 seconds: how full, how fast" "$leat" batches "$out/cache" --time
  run "plot what batches hold" "$leat" batches "$out/cache" --report "$out/can-batches.html"

  cat <<END

== done. Look at
  $out/can.html              graphs, attacks, captures and features: open it in a browser
  $out/can-batches.html      the contents of training batches: fill, sizes, attacks
  $out/cache/                the graphs: safetensors, vocabulary, scaler, metadata
  $leat --help               all commands; each has --help with examples
END
}

demo_images() {
  steps=$1
  photos=${PHOTOS:-}
  if [ -z "$photos" ]; then
    photos=$out/portraits.zip
    if [ -f "$photos" ]; then
      echo "== $photos exists from an earlier run"
    else
      run "paint 5000 portraits" "$leat" synth images --count 5000 -o "$photos"
    fi
  fi
  rm -rf "$out/faces" "$out/run" "$out/model"
  run "ingest them into a data set of 64 x 64 pixels" "$leat" ingest images "$photos" -o "$out/faces"
  run "check every byte, show the contents, and plot them" \
    "$leat" inspect --verify --html "$out/faces.html" "$out/faces"
  # In so short a run, a small network learns more from many steps of few images.
  set -- --width 16 --unit-size 16 --micro-batch 16 --learning-rate 0.001 --steps "$steps"
  run "estimate the memory and time of the training run" "$leat" train dcgan "$out/faces" "$@" --dry-run
  run "train; $out/run/report.html shows it meanwhile" \
    "$leat" train dcgan "$out/faces" -o "$out/run" "$@" --sample-every 400
  run "generate 64 images" "$leat" sample "$out/run" -o "$out/generated.png"
  run "write the model for PyTorch" "$leat" export "$out/run" -o "$out/model"

  cat <<END

== done. Look at
  $out/run/report.html       curves, score and samples: open it in a browser
  $out/generated.png         64 generated images
  $out/faces.html            the images that it learned from
  $out/model/                weights with PyTorch's names, and a model card
  $leat train dcgan $out/faces -o $out/run --resume --steps $((4 * steps))
                                    train four times as long
END
}

# Waits until a line of a file has a text: until_said FILE TEXT
until_said() {
  tries=0
  until grep -q "$2" "$1" 2>/dev/null; do
    tries=$((tries + 1))
    if [ $tries -gt 600 ] || ! kill -0 "$coordinator" 2>/dev/null; then
      cat "$1" >&2
      exit 1
    fi
    sleep 0.1
  done
}

# Waits until the run has taken so many steps.
until_step() {
  while kill -0 "$coordinator" 2>/dev/null; do
    step=$("$leat" status --db "$url" --json 2>/dev/null | sed -n 's/.*"step": *\([0-9]*\).*/\1/p' |
      head -n 1)
    [ "${step:-0}" -lt "$1" ] || return 0
    sleep 0.2
  done
}

# work NUMBER: starts a worker.
work() {
  echo "\$ $leat work '$shown' --data $out/faces   # worker $1"
  "$leat" work "$url" --data "$out/faces" --key "$out/keys/machine.key" --name "worker-$1" \
    --threads 1 --on-battery work >"$out/worker-$1.log" 2>&1 &
  eval "worker_$1=\$!"
  workers="${workers:-} $!"
}

state_of() { sed -n 's/^state  *//p' "$1"; }

demo_crowd() {
  steps=$1
  if [ -f "$out/portraits.zip" ]; then
    echo "== $out/portraits.zip exists from an earlier run"
  else
    run "paint 5000 portraits" "$leat" synth images --count 5000 -o "$out/portraits.zip"
  fi
  rm -rf "$out/faces" "$out/crowd" "$out/alone" "$out/keys" "$out"/worker-*.log
  run "ingest them into a data set of 64 x 64 pixels" \
    "$leat" ingest images "$out/portraits.zip" -o "$out/faces"
  set -- --width 16 --units 4 --unit-size 32 --micro-batch 16 --codec-up bf16 --codec-down bf16 \
    --steps "$steps" --sample-every 0
  step "a coordinator with a PostgreSQL server of its own" \
    "$leat" coordinate "$out/crowd" --db local --data "$out/faces" "$@"
  "$leat" coordinate "$out/crowd" --db local --data "$out/faces" --poll-ms 50 --threads 1 "$@" \
    >"$out/coordinator.log" 2>"$out/coordinator.err" &
  coordinator=$!
  # shellcheck disable=SC2064,SC2154
  trap "kill $coordinator \$workers 2>/dev/null || true" EXIT
  until_said "$out/coordinator.err" "leat work '"
  cat "$out/coordinator.err"
  url=$(sed -n "s/.*leat work '\([^']*\)'.*/\1/p" "$out/coordinator.err")
  shown=$(echo "$url" | sed 's/:[^:@]*@/:...@/')
  echo
  echo "== three workers"
  work 1
  work 2
  work 3
  until_step $((steps / 4))
  echo
  echo "== kill -9 of worker 1; a fourth joins"
  kill -9 "$worker_1"
  work 4
  until_step $((steps / 2))
  step "who works, and how it goes" "$leat" status --db "'$shown'"
  "$leat" status --db "$url"
  until_step $((steps * 3 / 4))
  echo
  echo "== kill -9 of worker 2"
  kill -9 "$worker_2"
  wait "$coordinator" || { cat "$out/coordinator.err" >&2; exit 1; }
  trap - EXIT
  wait "$worker_3" "$worker_4"
  echo
  echo "== what the coordinator says"
  cat "$out/coordinator.log"
  run "the same on one machine" "$leat" train dcgan "$out/faces" -o "$out/alone" "$@" \
    >"$out/alone.log"
  cat "$out/alone.log"
  echo
  echo "== the weights"
  echo "over lent machines  $(state_of "$out/coordinator.log")"
  echo "on one machine      $(state_of "$out/alone.log")"
  [ "$(state_of "$out/coordinator.log")" = "$(state_of "$out/alone.log")" ] || {
    echo "they differ" >&2
    exit 1
  }

  cat <<END

== done. Look at
  $out/crowd/report.html     curves and settings of the run: open it in a browser
  docs/crowd.md                     how it works, and how to do it over many machines
END
}

case $job in
crowd) demo_crowd "${1:-160}" ;;
can) demo_can "${1:-200000}" ;;
images) demo_images "${1:-1600}" ;;
*) demo_probes "${1:-5000000}" ;;
esac
