#!/bin/sh
# A class on one machine: scripts/demo-class.sh [STEPS] (default: 400, below five minutes on 2
# cores). A coordinator with a PostgreSQL server of its own listens at 127.0.0.2, as at an address of
# a room. Four volunteers get tickets; of their workers two are killed, and come back. A page follows
# the run; a picture of it is taken if there is a Chromium (the program CHROMIUM, or one on PATH). In
# the middle the lesson ends: coordinator and server stop, and start again in the next one, for which
# the same tickets are good. At the end: samples, and the weights beside those of one machine.
#
# Images are synthetic portraits, or the blood cells in the folder LEAT_SHARED, if that is set and has
# them, or those of the folder or zip archive PHOTOS. Results are in build/demo-class, or the folder
# OUT. The command is build/leat, or LEAT. What was started ends with the script, also if that is
# stopped, or if nobody reads what it prints any more; but not if it is killed with SIGKILL. As long
# as anything of a class runs, no other one begins in the same folder.
set -eu
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }
case ${1:-} in
--help) usage; exit ;;
0* | *[!0-9]*) usage >&2; exit 2 ;;
esac
[ $# -le 1 ] || { usage >&2; exit 2; }
steps=${1:-400}
[ "$steps" -ge 12 ] || { echo "demo-class: at least 12 steps, not $steps" >&2; exit 2; }
case ${OUT:-/} in /*) ;; *) OUT=$PWD/$OUT ;; esac
case ${PHOTOS:-/} in /*) ;; *) PHOTOS=$PWD/$PHOTOS ;; esac
case ${LEAT:-/} in /*) ;; *) LEAT=$PWD/$LEAT ;; esac
cd "$(dirname "$0")/.."
leat=${LEAT:-build/leat}
out=${OUT:-build/demo-class}
class="ann bob carol dave"
begun=$(date +%s)

# ---- What runs ------------------------------------------------------------------------------------

started='' # "NAME=NUMBER ..."

# start NAME COMMAND...: in the background, its messages in NAME.log of the folder
start() {
  name=$1
  shift
  "$@" >>"$out/$name.log" 2>&1 &
  started="$started $name=$!"
}

number_of() {
  for of in $started; do
    [ "${of%=*}" != "$1" ] || echo "${of#*=}"
  done
}

# Whether it runs: a process with its number may be another one, which is no child of this script.
runs() {
  of=$(number_of "$1")
  [ -n "$of" ] && grep -q "^State:[[:space:]]*[A-Y]" "/proc/$of/status" 2>/dev/null &&
    grep -qx "PPid:[^0-9]*$$" "/proc/$of/status" 2>/dev/null
}

# Waits for its end: its exit status.
ended() {
  of=$(number_of "$1")
  [ -n "$of" ] || return 0
  its_status=0
  wait "$of" || its_status=$?
  started=$(echo "$started" | sed "s/ $1=$of\$//; s/ $1=$of / /")
  return "$its_status"
}

# finish NAME [SIGNAL]: ends it, whatever it says to that.
finish() {
  ! runs "$1" || kill -s "${2:-TERM}" "$(number_of "$1")" 2>/dev/null || true
  ended "$1" 2>/dev/null || true
}

# The coordinator stops its server, also if it is killed.
at_end() {
  its_end=$?
  trap - EXIT
  trap '' INT TERM HUP PIPE
  for name in $class; do finish "$name" KILL; done
  finish alone KILL
  finish dash
  finish coordinator
  exit "$its_end"
}
trap at_end EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 141' PIPE # without it some shells end at once, as in demo-class.sh | head
trap 'exit 143' TERM

die() {
  echo "demo-class: $*" >&2
  exit 1
}

# until_said NAME TEXT: waits until its messages have the text.
until_said() {
  until grep -q -e "$2" "$out/$1.log" 2>/dev/null; do
    runs "$1" || { cat "$out/$1.log" >&2; die "$1 has ended"; }
    sleep 0.1
  done
}

# Of a worker, which ends with the run. One that was connecting when the server ended waits for it.
settle() {
  while runs "$1" && ! tail -n 1 "$out/$1.log" | grep -q "trying again"; do sleep 0.1; done
  finish "$1"
}

taken() { sed -n '$s/.*"step": *\([0-9]*\).*/\1/p' "$out/run/metrics.jsonl" 2>/dev/null; }

# Waits until the run has taken so many steps.
until_step() {
  while step=$(taken) && [ "${step:-0}" -lt "$1" ]; do
    runs coordinator || { cat "$out/coordinator.log" >&2; die "the coordinator has ended"; }
    sleep 0.2
  done
}

# ---- What is shown --------------------------------------------------------------------------------

step() {
  echo
  echo "== $1"
  shift
  [ $# -eq 0 ] || echo "\$ $*"
}

# run WORDS COMMAND...
run() {
  step "$@"
  shift
  "$@"
}

coordinate() { # [--resume]
  step "lesson $lesson: the coordinator, and the server that it starts" \
    "$leat" coordinate "$out/run" --db local --listen 127.0.0.2 --data "$out/faces" --serve-data \
    "$@"
  : >"$out/coordinator.log"
  start coordinator "$leat" coordinate "$out/run" --db local --listen 127.0.0.2 \
    --data "$out/faces" --serve-data --poll-ms 50 --threads 1 "$@"
  until_said coordinator "to invite a volunteer"
  grep -e "is open" -e "to invite" "$out/coordinator.log"
}

# The ticket is in a file, so that nobody sees it in the list of processes. Each worker has a key
# file of its own, because all are on one machine.
work() {
  echo "\$ $leat work @$out/$1.txt   # the machine of $1"
  start "$1" "$leat" work "@$out/$1.txt" --key "$out/keys/$1" --name "desk of $1" --threads 1 \
    --on-battery work
}

invite() {
  (umask 077 && : >"$out/$1.txt") # it has a password
  "$leat" invite "$1" --db "@$out/run/database/invite.url" >"$out/$1.txt" 2>"$out/invite.log" ||
    { cat "$out/invite.log" >&2; die "no ticket for $1"; }
  echo "\$ $leat invite $1 --db @$out/run/database/invite.url >$out/$1.txt"
}

# The page without a browser: its files, and what they would show.
save_page() {
  mkdir -p "$out/page"
  for file in index.html page.css page.js colours.css facts.json curves.json; do
    path=$url$([ $file = index.html ] || echo $file)
    if command -v curl >/dev/null; then curl -fsS -o "$out/page/$file" "$path"
    else python3 -c 'import sys, urllib.request as r; r.urlretrieve(*sys.argv[1:])' "$path" \
      "$out/page/$file"; fi || die "the page at $path cannot be read"
  done
}

picture() {
  result=0
  step "the page as a picture" scripts/page_picture.py "$url" "$out/page.png"
  python3 scripts/page_picture.py "$url" "$out/page.png" || result=$?
  case $result in
  0) return ;;
  3) echo "there is no Chromium here: the files of the page are saved in $out/page" ;;
  *) echo "no picture: the files of the page are saved in $out/page" ;;
  esac
  save_page
}

state_of() { sed -n 's/^state  *//p' "$1"; }

# Names who has the lock.
still_running() {
  exec 9>&-
  lock=$(readlink -f "$out/.demo-class")
  numbers=
  for of in /proc/[0-9]*; do
    [ "$(readlink "$of/fd/9" 2>/dev/null)" != "$lock" ] || numbers="$numbers ${of#/proc/}"
  done
  die "a class in the folder \"$out\" is still running: wait for its end, or end it first" \
    "(kill${numbers:- its processes}), or name another folder with OUT"
}

# The server of a coordinator that was killed is told to stop, but needs a moment.
until_stopped() {
  server=$(head -n 1 "$out/run/database/data/postmaster.pid" 2>/dev/null) || return 0
  tries=100
  while tr '\0' ' ' 2>/dev/null <"/proc/$server/cmdline" | grep -qF run/database; do
    [ $((tries -= 1)) -gt 0 ] || die "the database in \"$out/run\" is still running: kill $server"
    sleep 0.1
  done
}

# ---- The class ------------------------------------------------------------------------------------

# Only what an earlier run has left is removed, and only when all of it has ended: whatever this
# script starts inherits the descriptor, and holds the lock as long as it runs.
mkdir -p "$out"
[ -e "$out/.demo-class" ] || [ -z "$(ls -A "$out")" ] ||
  die "the folder \"$out\" (OUT) has files that this script did not write; name another one"
exec 9>>"$out/.demo-class"
flock -n 9 || still_running
until_stopped
for old in run alone faces keys page; do rm -rf "${out:?}/$old"; done
rm -f "$out"/*.log "$out"/*.txt "$out"/*.png
photos=${PHOTOS:-${LEAT_SHARED:-/none}/data/images/blood_cells}
if [ -z "${PHOTOS:-}" ] && [ ! -e "$photos" ]; then
  photos=$out/portraits.zip
  if [ -f "$photos" ]; then
    echo "== $photos exists from an earlier run"
  else
    run "paint 2000 portraits" "$leat" synth images --count 2000 -o "$photos"
  fi
fi
run "ingest images into a data set of 64 x 64 pixels" "$leat" ingest images "$photos" -o "$out/faces"

lesson=1
set -- --width 16 --units 4 --unit-size 8 --micro-batch 8 --learning-rate 0.001 --codec-up bf16 \
  --codec-down bf16 --steps "$steps" --sample-every $((steps / 4))
coordinate "$@"
step "a ticket for each volunteer"
for name in $class; do invite "$name"; done

step "four machines"
mkdir -p "$out/keys"
for name in $class; do work "$name"; done

url=
if "$leat" version | grep -q "libmicrohttpd  *present"; then
  step "a page that follows the run" \
    "$leat" dash "$out/run" --db "@$out/ann.txt" --listen 127.0.0.1:0
  start dash "$leat" dash "$out/run" --db "@$out/ann.txt" --listen 127.0.0.1:0
  until_said dash "http://"
  url=$(sed -n 's/^\(http:[^ ]*\)$/\1/p' "$out/dash.log" | head -n 1)
  echo "$url"
else
  step "no page: this leat was built without libmicrohttpd"
fi

until_step $((steps / 6))
step "the machine of bob is gone (kill -9)"
finish bob KILL
until_step $((steps / 3))
step "and comes back, with the same ticket"
work bob

until_step $((steps / 2))
step "the lesson ends: the coordinator saves the state and stops, and so does its server"
finish coordinator
echo "stopped after step $(taken) of $steps; workers are left running"
step "between lessons nobody can be invited" "$leat" invite eve --db "@$out/run/database/invite.url"
if "$leat" invite eve --db "@$out/run/database/invite.url"; then die "eve was invited"; fi

lesson=2
coordinate "$@" --resume
step "workers connect again by themselves, with the tickets that they have"
until_step $((steps * 7 / 12))
step "the machine of carol is gone (kill -9)"
finish carol KILL
until_step $((steps * 2 / 3))
step "and comes back"
work carol
until_step $((steps * 3 / 4))
step "who works" "$leat" status --db "@$out/ann.txt"
"$leat" status --db "@$out/ann.txt" || ! runs coordinator || die "no status"
[ -z "$url" ] || picture
ended coordinator || { cat "$out/coordinator.log" >&2; die "the coordinator failed"; }
for name in $class; do settle "$name"; done
finish dash
step "what the coordinator says"
sed -n '/^units/,$p' "$out/coordinator.log"
run "samples of the trained model" "$leat" sample "$out/run" -o "$out/samples.png"

step "the same on one machine" "$leat" train dcgan "$out/faces" -o "$out/alone" "$@"
start alone "$leat" train dcgan "$out/faces" -o "$out/alone" "$@"
ended alone || { cat "$out/alone.log" >&2; die "leat train failed"; }
here=$(state_of "$out/alone.log")
there=$(state_of "$out/coordinator.log")
step "the weights"
echo "of the class    $there"
echo "of one machine  $here"
[ -n "$here" ] && [ "$here" = "$there" ] || die "they differ"

cat <<END

== done, in $(($(date +%s) - begun)) s. Look at
  $out/samples.png           images of the trained generator
  $out/run/report.html       curves, samples and who contributed what: open it in a browser
END
[ ! -s "$out/page.png" ] || echo "  $out/page.png              the page that followed the run"
[ ! -d "$out/page" ] || echo "  $out/page/                 its files, as they were then"
cat <<END
  docs/class.md              how to do it with the machines of a room
END
