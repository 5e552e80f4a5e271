#!/usr/bin/env python3
"""The windowed order of batches beside the global one: rates, and what it mixes.

Each rate is of one process of `leat batches --time`, sides in turn:
  cold     the pages of the data set are dropped from the page cache first (posix_fadvise)
  cached   they are read through first
  packed   the same rows compressed with zstd:3, cached
  slow     every read takes 1 ms or 20 ms longer (bench/rivals/slow_reads.c), --io pread, cold
  grain    Grain's own shuffle of the same rows, with the sampler of bench/rivals/python_batches.py,
           cold and cached
  tar, mds the same rows in shards of WebDataset and of MosaicML Streaming, with that sampler in two
           processes (bench/rivals/row_loaders.py), cold and cached; and with no sampler, only to
           read the rows. They need --loaders
  disk     the same files read one after the other, 8 MiB at a time, by as many threads as the
           windowed order has, cold
One epoch each, in the global order fewer steps where that is slow.
Mixing is counted over the contexts of batches in the middle of an epoch (bench/order_mixing.py).
"""
import concurrent.futures
import os
import sys
import time

import measure
from batches import grain_command, package_home, with_package
from measure import MIB, Report, drop, parse, parser, program, ratio, rival, rounds, run, spread

SIZES = {
    "measurements": (100_000_000, 200_000, "of the data set"),
    "batch": (64, 8, "sequences of 1,024 tokens a step"),
    "global_steps": (100, 5, "made in the global order where it is slow"),
    "seconds": (20, 2, "that Python makes batches for"),
    "mixing_steps": (400, 5, "whose contexts are looked at"),
    "runs": (3, 1, "counted rounds"),
    "warmup": (1, 0, "rounds before them"),
}
SIDES = ("cold", "cached", "packed", "slow", "grain", "mixing")
LOADERS = {"tar": "WebDataset", "mds": "MosaicML Streaming"}
MEMORY = "2G"
DELAYS = (1, 20)  # ms
GOAL_COLD, GOAL_PACKED = 25e6, 30e6


def shards_of(folder):
    return sorted(os.path.join(where, name) for where, _, names in os.walk(folder)
                  for name in names if name.endswith((".arrayrecord", ".tar", ".mds")))


def make_datasets(options):
    leat = program(options, "leat")
    raw = os.path.join(options.work, f"order-{options.measurements}-input")
    made = []
    for name, compression in (("plain", "none"), ("packed", "zstd:3")):
        def make(part, compression=compression):
            if not os.path.exists(raw):
                measure.quiet([leat, "synth", "probes", "--measurements",
                               str(options.measurements), "-o", raw])
            measure.quiet([leat, "ingest", "probes", raw, "-o", part, "--memory", "2G",
                           "--compression", compression])
        made.append(measure.made_once(
            os.path.join(options.work, f"order-{options.measurements}-{name}"), make))
    measure.remove(raw)
    return made


def batch_rate(options, data, *more, steps=None, before=measure.read_through, env=()):
    def take(_):
        before(data)
        command = [program(options, "leat"), "batches", data, "--batch", str(options.batch),
                   "--memory", MEMORY, "--time", "--json", *more,
                   *(["--steps", f"0:{steps}"] if steps else ["--epochs", "1"])]
        sample = run(["env", *env, *command])
        return {"tokens_per_s": sample["time"]["tokens_per_second"],
                "read_bytes": sample["read_bytes"],
                "read_wait_s": sample["time"]["read_wait_seconds"],
                "seconds": sample["time"]["seconds"],
                "window_bytes": sample["counters"]["window_bytes"],
                "epoch_sequences": sample["epoch_sequences"], "rss": sample["rss"]}
    return take


def read_file(path):
    size = 0
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(8 * MIB):
            size += len(piece)
    return size


def disk(data):
    def take(_):
        drop(data)
        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            size = sum(pool.map(read_file, shards_of(data)))
        return {"bytes_per_s": size / (time.monotonic() - begin), "bytes": size}
    return take


def slow_library(options):
    path = os.path.join(options.work, "slow_reads.so")
    measure.quiet([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O2", "-D_GNU_SOURCE", "-o",
                   path, os.path.join(measure.RIVALS, "slow_reads.c"), "-ldl"])
    return path


def sides_of(options, plain, packed):
    windowed = ("--order", "windowed")
    sides = {}
    if "cold" not in options.skip:
        sides["disk"] = disk(plain)
        sides["cold windowed"] = batch_rate(options, plain, *windowed, before=drop)
        sides["cold windowed, read"] = batch_rate(options, plain, *windowed, "--io", "pread",
                                               before=drop)
        sides["cold global"] = batch_rate(options, plain, steps=options.global_steps, before=drop)
    if "cached" not in options.skip:
        sides["cached windowed"] = batch_rate(options, plain, *windowed)
        sides["cached windowed, read"] = batch_rate(options, plain, *windowed, "--io", "pread")
        sides["cached global"] = batch_rate(options, plain)
    if "packed" not in options.skip:
        sides["packed windowed"] = batch_rate(options, packed, *windowed)
        sides["packed global"] = batch_rate(options, packed, steps=options.global_steps)
    if "slow" not in options.skip:
        library = slow_library(options)
        for ms in DELAYS:
            env = (f"LD_PRELOAD={library}", f"SLOW_READ_US={ms * 1000}")
            sides[f"slow {ms} windowed"] = batch_rate(
                options, plain, *windowed, "--io", "pread", before=drop, env=env)
            sides[f"slow {ms} global"] = batch_rate(
                options, plain, "--io", "pread", steps=options.global_steps, before=drop, env=env)
    grain = grain_command(rival("python_batches.py", plain, options.batch, options.seconds,
                                "grain")) if measure.rival_python() else None
    if grain and "grain" not in options.skip:
        for name, before in (("cold", drop), ("cached", measure.read_through)):
            def take(_, before=before):
                before(plain)
                return run(grain)
            sides[f"grain {name}"] = take
    if options.loaders:
        sides.update(loader_sides(options, plain))
    return list(sides.items())


def loader_sides(options, plain):
    """WebDataset and MosaicML Streaming: the rows are written once, in each of their formats."""
    script = [options.loaders, os.path.join(measure.RIVALS, "row_loaders.py")]
    shards = measure.made_once(
        os.path.join(options.work, f"order-{options.measurements}-loaders"),
        lambda part: measure.quiet([*script, "write", plain, part]))
    sides = {}
    for kind in LOADERS:
        for ending in ("", "-rows"):
            for name, before in (("cold", drop), ("cached", measure.read_through)):
                def take(_, mode=kind + ending, home=os.path.join(shards, kind), before=before):
                    before(home)
                    return run([*script, mode, shards, str(options.batch), str(options.seconds)])
                sides[f"{kind}{ending} {name}"] = take
    return sides


def rate(samples):
    return spread(samples, "tokens_per_s", 1e-6)


def compare(report, samples, what, name, goal=None, least=0.0):
    """A row of the windowed order beside the global one."""
    if f"{name} windowed" not in samples:
        return
    for ending, words in (("", ""), (", read", ", --io pread")):
        if f"{name} windowed{ending}" not in samples:
            continue
        mine, theirs = rate(samples[f"{name} windowed{ending}"]), rate(samples[f"{name} global"])
        times = ratio(mine, theirs)
        met = None
        if goal:
            met = mine.median * 1e6 >= goal
        elif least:
            met = times.median >= least
        report.row(f"{what}{words}", mine.text(" M tokens/s", 1), theirs.text(" M tokens/s", 1),
                   times.text("x the speed"), goal=(f">= {goal / 1e6:.0f} M tokens/s" if goal else
                                                    f">= {least}x" if least else ""), met=met)


def report_disk(report, samples, epoch_bytes):
    """What a cold epoch reads, and how near that comes to the disk."""
    mine = samples["cold windowed"]
    theirs = spread(samples["disk"], "bytes_per_s", 1e-6)
    used = spread(mine, lambda sample: epoch_bytes / sample["seconds"] * 1e-6)
    report.row("of the data a second, compared with reading the files in order",
               used.text(" MB/s", 0), theirs.text(" MB/s", 0), ratio(used, theirs).text("x"),
               goal=">= 0.8x, or the rate above",
               met=ratio(used, theirs).median >= 0.8 or rate(mine).median * 1e6 >= GOAL_COLD)
    again = spread(mine, lambda sample: sample["read_bytes"] / epoch_bytes)
    report.row("bytes read from the disk in an epoch, compared with the data", again.text("x"),
               goal="<= 1.1x", met=again.median <= 1.1)


def report_loaders(report, samples):
    for kind, words in LOADERS.items():
        for name in ("cold", "cached"):
            if f"{kind} {name}" not in samples or f"{name} windowed" not in samples:
                continue
            mine, theirs = rate(samples[f"{name} windowed"]), rate(samples[f"{kind} {name}"])
            report.row(f"{name}, two threads, compared with {words} in two processes",
                       mine.text(" M tokens/s", 1), theirs.text(" M tokens/s"),
                       ratio(mine, theirs).text("x the speed", 0))
            rows = spread(samples[f"{kind}-rows {name}"], "bytes_per_s", 1e-6)
            report.row(f"{name}, {words}: rows read, without tokens", "", rows.text(" MB/s", 0))


def report_mixing(report, options, data):
    for order in ("global", "windowed"):
        command = with_package(options, [
            measure.rival_python() or sys.executable,
            os.path.join(measure.HOME, "bench", "order_mixing.py"), data, order,
            str(options.batch), str(options.mixing_steps), "0"])
        report.samples[f"mixing {order}"] = run(command)
    measure.remove(package_home(options))
    a, b = report.samples["mixing windowed"], report.samples["mixing global"]
    for key, words in (("segments", "contexts a sequence"),
                       ("same_sequence", "contexts of a probe that the sequence has already"),
                       ("one_probe", "sequences of several contexts, all of one probe"),
                       ("same_batch", "contexts of a probe of an earlier row of the batch"),
                       ("same_near", "contexts of a probe of the 100 batches before")):
        form = (lambda x: f"{x:.2f}") if key == "segments" else (lambda x: f"{x:.3%}")
        report.row(f"mixing: {words}", form(a[key]), form(b[key]))


def body():
    made = parser(__doc__, SIZES)
    made.add_argument("--skip", action="append", default=[], choices=SIDES,
                      help="what to leave out; may be repeated")
    made.add_argument("--loaders", metavar="PYTHON", help="measure WebDataset and MosaicML "
                      "Streaming too: an interpreter with torch, array_record and these two")
    options = parse(made, SIZES)
    plain, packed = make_datasets(options)
    epoch_bytes = sum(map(os.path.getsize, (
        path for path in shards_of(plain) if os.sep + "train" + os.sep in path)))
    report = Report("order", options)
    kept = os.path.join(options.work, "order-samples.jsonl")
    samples = rounds(sides_of(options, plain, packed), options.runs, options.warmup, kept)
    report.samples = samples
    windows = max((sample.get("window_bytes", 0) for taken in samples.values()
                   for sample in taken), default=0)
    report.note(f"{options.measurements:,} measurements, {epoch_bytes / 1e9:.2f} GB of training "
                f"shards; batches of {options.batch}; leat is the windowed order, rival the global "
                f"one; up to {windows / MIB:.0f} MiB of windows")
    compare(report, samples, "page cache empty", "cold", goal=GOAL_COLD)
    if "disk" in samples:
        report_disk(report, samples, epoch_bytes)
    compare(report, samples, "cached", "cached", least=0.9)
    compare(report, samples, "compressed zstd:3, cached", "packed", goal=GOAL_PACKED)
    for name in ("cold", "cached"):
        if f"grain {name}" in samples and f"{name} windowed" in samples:
            mine, theirs = rate(samples[f"{name} windowed"]), rate(samples[f"grain {name}"])
            report.row(f"{name}, two threads, compared with Grain in one process",
                       mine.text(" M tokens/s", 1), theirs.text(" M tokens/s"),
                       ratio(mine, theirs).text("x the speed", 0))
    report_loaders(report, samples)
    for ms in DELAYS:
        compare(report, samples, f"each read {ms} ms longer, page cache empty", f"slow {ms}")
    if "mixing" not in options.skip:
        report_mixing(report, options, plain)
    report.print()
    report.save()


if __name__ == "__main__":
    measure.main(body)
