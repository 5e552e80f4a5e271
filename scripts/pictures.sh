#!/bin/sh
# Draws docs/report.png anew, the page that the commands of the README make, with Chromium:
# scripts/pictures.sh, after make. With a folder, scripts/pictures.sh DIR, draws that page and the
# one of its batches there instead, whole, in light and in dark, to look at them. On another machine
# the pictures may differ in fonts.
set -eu
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }
case $#${1:-} in
0) out= ;;
1--help) usage; exit ;;
1-*) usage >&2; exit 2 ;;
1*) mkdir -p "$1" && out=$(cd "$1" && pwd) ;;
*) usage >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."
browser=$(command -v chromium || command -v chromium-browser) || {
  echo "pictures: chromium is not installed" >&2
  exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# draw PAGE PNG HEIGHT [OPTION...]
draw() {
  page=$1 png=$2 height=$3
  shift 3
  "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size="1280,$height" \
    --user-data-dir="$work/browser" --screenshot="$png" "$@" "file://$page"
}

build/leat synth probes -n 1000000 -o "$work/pings.parquet"
build/leat ingest probes "$work/pings.parquet" -o "$work/probes"
leat=$PWD/build/leat
(cd "$work" && "$leat" inspect probes --verify --html probes.html) # the title is the path
if [ -z "$out" ]; then
  draw "$work/probes.html" "$work/report.png" 1300
  cp "$work/report.png" docs/report.png
  exit
fi
(cd "$work" && "$leat" batches probes --report batches.html)
for name in probes batches; do
  draw "$work/$name.html" "$out/$name.png" 3600
  draw "$work/$name.html" "$out/$name-dark.png" 3600 --blink-settings=preferredColorScheme=0
done
