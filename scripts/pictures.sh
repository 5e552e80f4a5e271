#!/bin/sh
# Draws docs/report.png anew, the page that the commands of the README make, with Chromium:
# scripts/pictures.sh, after make. On another machine the picture may differ in fonts.
set -eu
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }
case $#${1:-} in
0) ;;
1--help) usage; exit ;;
*) usage >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."
browser=$(command -v chromium || command -v chromium-browser) || {
  echo "pictures: chromium is not installed" >&2
  exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build/leat synth probes -n 1000000 -o "$work/pings.parquet"
build/leat ingest probes "$work/pings.parquet" -o "$work/probes"
leat=$PWD/build/leat
(cd "$work" && "$leat" inspect probes --verify --html probes.html) # the title is the path
"$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,1226 \
  --user-data-dir="$work/browser" --screenshot="$work/report.png" "file://$work/probes.html"
cp "$work/report.png" docs/report.png
