#!/bin/sh
# The part of scripts/wheel/try.sh that runs in the bare system: tried.sh FOLDER, with the wheels; and
# on the machine that built leat: LEAT=COMMAND tried.sh --built FOLDER. Prints a line "result: ..." for
# each hash that must be the same.
set -eu
result() { echo "result: $1 $(sha256sum "$2" | cut -d' ' -f1)"; }
# of_files NAME FOLDER PATTERN: their paths from FOLDER and their contents
of_files() {
  (cd "$2" && find . -name "$3" -type f | LC_ALL=C sort | xargs sha256sum) >files.txt
  test -s files.txt
  result "$1" files.txt
}
if [ "$1" = --built ]; then
  mkdir -p "$2"
  cd "$2"
  leat() { "$LEAT" "$@"; }
else
  cd "$(mktemp -d)"
  python3 -m venv env
  env/bin/pip -q --disable-pip-version-check install --no-index --find-links "$1" "$1"/leat*.whl
  PATH=$PWD/env/bin:$PATH
  test "$(id -u)" != 0
  test "$(python3 -m leat --version)" = "$(leat --version)"
  python3 -c 'import leat; print("leat", leat.__version__, "in Python")'
  leat version
  if [ -f env/bin/leat-worker ]; then
    leat-worker version | grep -v '^leat ' >worker.txt
    leat version | grep -v '^leat \|DuckDB' | diff - worker.txt
    # there is no server here; libpq, which is linked in, reads the URL
    ! SSL_CERT_FILE=/none leat-worker "postgresql://a@localhost/b?sslrootcert=system" --key ./key \
      2>refused.txt || exit 1
    grep 'SSL_CERT_FILE is "/none"' refused.txt
  fi
fi
leat version >version.txt
grep '^cpu ' version.txt >processor.txt
result processor processor.txt
leat doctor --kernels --hash >kernels.txt
result kernels kernels.txt
leat synth probes -n 20000 -p 400 --seed 3 -o pings.parquet >log.txt
leat ingest probes pings.parquet -o probes >log.txt
of_files "ingest probes" probes '*.arrayrecord'
leat batches probes --batch 8 --length 256 --steps 0:20 --hash >batches.txt
result "batches of probes" batches.txt
leat synth can --frames 40000 --vehicles 2 --seed 5 -o logs >log.txt
leat ingest can logs -o cache >log.txt 2>&1
of_files "ingest can" cache '*.safetensors'
leat synth images -n 70 -o faces.zip >log.txt
leat ingest images faces.zip -o faces >log.txt
of_files "ingest images" faces '*.safetensors'
leat train dcgan faces -o run --width 8 --steps 3 --seed 1 >log.txt 2>&1
of_files "train dcgan" run '*.safetensors'
if [ "$1" != --built ]; then
  python3 - <<'END'
import leat
batch = next(iter(leat.Loader(leat.ProbeDataset("probes"), batch=8, length=256)))
print("Python: batch of", sorted(batch), batch["inputs"].shape)
END
  python3 - <<'END'
import json, subprocess, urllib.request
with subprocess.Popen(["leat", "dash", "run", "--listen", "127.0.0.1:0"], text=True,
                      stdout=subprocess.PIPE) as served:
    try:
        url = served.stdout.readline().strip()
        with urllib.request.urlopen(url + "facts.json", timeout=60) as answer:
            print("leat dash: step", json.load(answer)["step"])
    finally:
        served.terminate()
END
fi
