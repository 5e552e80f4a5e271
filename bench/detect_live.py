"""How fast leat detect is on a running bus: the part "live" of detect.py.

A log of a synthetic vehicle, as candump writes it, goes through a pipe at the speed of the bus,
frame by frame. The delay of a window is from the moment before its last frame is written to that at
which its line has been read, by another thread of this process: Python's delays count as leat's.
"""
import csv
import glob
import json
import os
import subprocess
import threading
import time

import measure
from measure import Missing, Report, program, rounds, spread

MODELS = ("vgae", "gat")
DETECTED = 256  # lines, which the format is detected from: windows before their end wait for them
GOAL_MS, GOAL_FRAMES = 10.0, 100_000


# ---- inputs -----------------------------------------------------------------------------------

def vehicle(options):
    path = os.path.join(options.work, f"vehicle-1-{options.frames}")
    return measure.made_once(path, lambda part: measure.quiet(
        [program(options, "leat"), "synth", "can", "--frames", str(options.frames),
         "--seed", "1", "-o", part]))


def trained(options, logs):
    """model -> a run of one epoch: how good it is makes no difference here."""
    leat, of = program(options, "leat"), os.path.join(options.work, "detect", "live")
    os.makedirs(of, exist_ok=True)
    name = f"{os.path.basename(logs)}-{int(os.stat(leat).st_mtime)}"

    def make(part):
        cache = os.path.join(part, "cache")
        measure.quiet([leat, "ingest", "can", logs, "--vocab", "benign", "-o", cache, "--quiet"])
        for model in MODELS:
            measure.quiet([leat, "train", model, cache, "-o", os.path.join(part, model),
                           "--epochs", "1", "--quiet"])
    folder = measure.made_once(os.path.join(of, name), make)
    return {model: os.path.join(folder, model) for model in MODELS}


def bus_of(options, logs):
    """(seconds since the first, line) of the first frames of the test with replay."""
    tests = sorted(glob.glob(os.path.join(logs, "test_*replay*", "*.csv")))
    if not tests:
        raise Missing(f"{logs} has no test with replay")
    bus, begin = [], None
    with open(tests[0], encoding="ascii") as file:
        for row in csv.DictReader(file):
            at = float(row["timestamp"])
            begin = at if begin is None else begin
            bus.append((at - begin, f"({at:.6f}) can0 {row['arbitration_id']}#"
                        f"{row['data_field']}\n".encode()))
            if len(bus) == options.live_frames:
                break
    return bus


# ---- a sample ---------------------------------------------------------------------------------

def quantile(values, share):
    """The smallest value that so many are not above."""
    ranked = sorted(values)
    return ranked[max(0, -int(-share * len(ranked) // 1) - 1)]


def read_lines(stream, found):
    for line in stream:
        found.append((time.perf_counter(), line))


def delays(options, run, bus):
    """Milliseconds of each window at the speed of the bus, or --pace times that."""
    command = [program(options, "leat"), "detect", run, "--all", "--format", "candump", "--quiet"]
    found, written = [], []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, bufsize=0) as process:
        reader = threading.Thread(target=read_lines, args=(process.stdout, found))
        reader.start()
        while not found:  # it is ready
            time.sleep(0.001)
        begin = time.perf_counter()
        for due, line in bus:
            wait = begin + due / options.pace - time.perf_counter()
            if wait > 0:
                time.sleep(wait)
            written.append(time.perf_counter())
            os.write(process.stdin.fileno(), line)
        lasted = time.perf_counter() - begin
        process.stdin.close()
        reader.join()
    windows = [(at, json.loads(line)) for at, line in found if b'"event":"window"' in line]
    start, end = json.loads(found[0][1]), json.loads(found[-1][1])
    if end["frames"] != len(bus):
        raise RuntimeError(f"{end['frames']} of {len(bus)} frames were read")
    taken = [1e3 * (at - written[window["last_line"] - 1]) for at, window in windows
             if window["last_line"] > DETECTED]
    if not taken:
        raise Missing(f"no window ends after line {DETECTED}: use more --live-frames")
    return {"p50_ms": quantile(taken, 0.50), "p99_ms": quantile(taken, 0.99),
            "most_ms": max(taken), "windows": len(taken), "frames_per_s": len(bus) / lasted,
            "identifiers": start["identifiers"], "window": start["window"],
            "stride": start["stride"], "memory_bytes": start["memory_bytes"], "delays_ms": taken}


def throughput(options, run, log):
    """Frames a second of the processor, of a log that is there."""
    before = os.times()
    process = subprocess.run([program(options, "leat"), "detect", run, log, "--quiet"],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - \
        before.children_system
    end = json.loads(process.stdout.splitlines()[-1])
    return {"frames_per_processor_s": end["frames"] / max(spent, 1e-9), "frames": end["frames"]}


# ---- the report -------------------------------------------------------------------------------

def measure_live(options):
    report = Report("detect-live", options)
    logs = vehicle(options)
    runs, bus = trained(options, logs), bus_of(options, logs)
    log = os.path.join(options.work, "detect", "live", "bus.log")
    with open(log, "wb") as file:
        file.writelines(line for _, line in bus * options.live_repeats)
    sides = []
    for model, run in runs.items():
        sides += [(f"{model}-delay", lambda _, run=run: delays(options, run, bus)),
                  (f"{model}-speed", lambda _, run=run: throughput(options, run, log))]
    samples = rounds(sides, options.runs, options.warmup)
    for model in runs:
        taken, fast = samples[f"{model}-delay"], samples[f"{model}-speed"]
        p50, p99 = spread(taken, "p50_ms"), spread(taken, "p99_ms")
        report.row(f"{model.upper()}: from the last frame of a window to its line, p50; p99",
                   f"{p50.text(' ms')}; {p99.text(' ms')}", "1.147 ms (MIDS, published)",
                   goal=f"p99 < {GOAL_MS:g} ms", met=p99.high < GOAL_MS)
        rate = spread(fast, "frames_per_processor_s")
        report.row(f"{model.upper()}: frames/s of a core, from a file", rate.text(digits=0),
                   goal=f">= {GOAL_FRAMES:,}", met=rate.median >= GOAL_FRAMES)
    one = samples["vgae-delay"][0]
    report.note(f"{one['identifiers']} identifiers, windows of {one['window']} frames, stride "
                f"{one['stride']}; {len(bus):,} frames through a pipe, "
                f"{one['frames_per_s']:,.0f} a second ({options.pace:g} times the bus); "
                f"{one['windows']} windows a round")
    report.note("a pipe, since this part needs no CAN interface; the delay has that of Python's "
                "reader in it")
    report.samples = samples
    report.print()
    report.save()
