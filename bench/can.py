#!/usr/bin/env python3
"""CAN logs to window graphs, and their batches, compared with Polars, PyTorch Geometric, memcpy.

Three parts (--part; default: all). Sides, each a fresh process, in turn:
ingest   features  leat ingest can, features stored, with --threads and --memory
         frames    the same, frames stored
         polars    the same features with Polars, of fewer frames; any memory
         disk      the number of bytes that `features` wrote, to one new file, with fsync
batches  features  leat_graph_loader_next, one thread: an epoch at first access, then another one
         cold      the same with the file not in the page cache at first
         frames    the same with frames stored and features computed from them
         small     graphs of 64 edges: windows of 66 frames
         pyg       Batch.from_data_list of the graphs of `features`, in memory
         pyg_small the same with graphs of 32 nodes, 64 edges and 8 features
open     opening a cache, planning an epoch, and `leat ingest can` of logs whose cache exists
bench/can.c is leat's side in the last two; it also measures memcpy.
--large measures the ingest alone: peak memory and rate at --small-frames and --large-frames.
"""
import os
import shutil
import sys

import measure
from measure import MIB, Missing, Report, parse, parser, program, ratio, rival, rounds, run, spread

SIZES = {
    "frames": (20_000_000, 60_000, "of the logs"),
    "polars_frames": (2_000_000, 20_000, "of the logs that Polars reads"),
    "small_frames": (2_000_000, 20_000, "of the smaller logs of --large"),
    "large_frames": (50_000_000, 100_000, "of the larger logs of --large"),
    "open_frames": (5_000_000, 20_000, "of the logs of part open, a window every 5 frames"),
    "max_nodes": (8_192, 1_024, "of a batch"),
    "pyg_graphs": (20_000, 200, "that PyTorch Geometric has in memory"),
    "pyg_seconds": (10, 1, "that it makes batches for"),
    "threads": (2, 2, "of an ingest"),
    "runs": (5, 2, "counted rounds"),
    "warmup": (1, 1, "rounds before them"),
}
PARTS = ("ingest", "batches", "open")
SIDES = ("frames", "polars", "disk", "cold", "small", "pyg", "pyg_small")
WAYS = {"ffd": "first-fit decreasing", "next_fit": "next-fit", "bucket": "buckets",
        "fixed": "a fixed number"}
SMALL_WINDOW = 66
BYTES_A_FRAME = 350  # of disk while an ingest runs: log, spilled frames and cache together
GOAL_RATE, GOAL_DISK, GOAL_POLARS = 3e6, 1.25, 10
GOAL_COPY, GOAL_PYG, GOAL_PYG_SMALL = 0.70, 8, 25
GOAL_OPEN_MS, GOAL_PLAN_S, GOAL_FOUND_MS = 50, 1.0, 50


def options_of_command_line():
    made = parser(__doc__, SIZES)
    measure.add_memory(made)
    made.add_argument("--part", action="append", default=[], choices=PARTS,
                      help="a part to measure; may be repeated (default: all)")
    made.add_argument("--skip", action="append", default=[], choices=SIDES,
                      help="a side to leave out; may be repeated")
    made.add_argument("--large", action="store_true", help="the ingest alone, at two sizes")
    return parse(made, SIZES)


# ---- inputs -----------------------------------------------------------------------------------

def make_logs(options, frames):
    path = os.path.join(options.work, f"can-{frames}")
    return measure.made_once(path, lambda part: measure.quiet(
        [program(options, "leat"), "synth", "can", "--frames", str(frames), "-o", part]))


def logs_bytes(logs):
    return sum(os.path.getsize(os.path.join(folder, name))
               for folder, _, names in os.walk(logs) for name in names)


def make_cache(options, name, frames, *settings):
    """The cache that bench/can.c reads, and its logs."""
    logs = make_logs(options, frames)
    caches = measure.made_once(
        os.path.join(options.work, f"caches-{name}-{frames}"), lambda part: measure.quiet(
            [program(options, "leat"), "ingest", "can", logs, "-o", part, *settings]))
    measure.read_through(caches)
    return caches, logs


def torch_python():
    path = os.path.join(measure.HOME, ".deps", "venv-torch", "bin", "python3")
    return path if os.access(path, os.X_OK) else None


# ---- ingest -----------------------------------------------------------------------------------

class Ingest:
    """How each side is started; outputs are removed after every sample."""

    def __init__(self, options, frames):
        self.options, self.frames, self.logs = options, frames, make_logs(options, frames)
        self.out = os.path.join(options.work, "can-out")
        self.written = None

    def fresh(self, logs):
        measure.remove(self.out)
        os.makedirs(self.out)
        measure.read_through(logs)
        return self.out

    def done(self, sample, frames):
        measure.remove(self.out)
        if sample["frames"] != frames:
            raise RuntimeError(f"{sample['frames']} frames instead of {frames}")
        return sample

    def leat(self, store):
        options = self.options
        return self.done(run(
            [program(options, "leat"), "ingest", "can", self.logs, "-o", self.fresh(self.logs),
             "--store", store, "--threads", str(options.threads), "--memory", options.memory,
             "--json"]), self.frames)

    def features(self, _):
        sample = self.leat("features")
        self.written = sample["bytes_written"]
        return sample

    def frames_stored(self, _):
        return self.leat("frames")

    def polars(self, _):
        count = self.options.polars_frames
        logs = make_logs(self.options, count)
        out = os.path.join(self.fresh(logs), "graphs.safetensors")
        sample = run(rival("can_polars.py", logs, out, self.options.threads))
        whole = count // sample["window"] * sample["window"]
        return self.done(sample, whole)

    def disk(self, _):
        path = os.path.join(self.fresh(self.logs), "bytes")
        sample = run([sys.executable, os.path.join(measure.RIVALS, "disk.py"), path,
                      str(self.written)])
        measure.remove(self.out)
        return sample


def report_store(report, what, samples, options, frames):
    """The rows without a rival. Returns the rate and the total seconds."""
    rate = spread(samples, lambda s: frames / s["seconds_written"] / 1e6)
    report.row(f"{what}: frames/s until the last byte is written", rate.text(" M/s"),
               goal=f">= {GOAL_RATE / 1e6:.0f} M/s", met=rate.median * 1e6 >= GOAL_RATE)
    total = spread(samples, "seconds")
    report.row(f"{what}: frames/s until all of it is on the disk (fsync)",
               spread(samples, lambda s: frames / s["seconds"] / 1e6).text(" M/s"))
    peak = spread(samples, lambda s: max(s["memory_peak_bytes"], s["rss"]) / MIB)
    report.row(f"{what}: peak memory of the process", peak.text(" MiB", 0),
               goal=f"<= {options.memory}", met=peak.high <= measure.mib_of(options.memory))
    report.row(f"{what}: whole process: wall; user + system",
               spread(samples, "wall").text(" s") + "; "
               + spread(samples, lambda s: s["user"] + s["sys"]).text(" s"))
    return rate, total


def report_disk(report, samples, total):
    disk = spread(samples["disk"], "seconds")
    times = ratio(total, disk)
    report.row("features stored: all of it with fsync, "
               "compared with the disk's time for the same number of bytes",
               total.text(" s"), disk.text(" s"), times.text("x the time"),
               f"<= {GOAL_DISK}x the time", times.median <= GOAL_DISK)
    after = spread(samples["features"], lambda s: s["seconds"] - s["seconds_scan"])
    report.row("features stored: from the end of the scan to the last fsync, "
               "compared with the same",
               after.text(" s"), disk.text(" s"), ratio(after, disk).text("x the time"))
    rate = spread(samples["disk"], lambda s: s["bytes"] / s["seconds"] / 1e9)
    report.row("the disk, 4 MiB writes and fsync", "", rate.text(" GB/s"))


def report_polars(report, samples, rate, options):
    theirs = spread(samples["polars"], lambda s: s["frames"] / s["seconds"] / 1e6)
    times = ratio(rate, theirs)
    report.row("features stored: frames/s, "
               f"compared with Polars with {options.polars_frames:,} frames",
               rate.text(" M/s"), theirs.text(" M/s", 3), times.text("x the speed", 1),
               f">= {GOAL_POLARS}x the speed", times.median >= GOAL_POLARS)
    report.row("peak memory, compared with Polars with that many frames",
               spread(samples["features"], "memory_peak_bytes", 1 / MIB).text(" MiB", 0),
               spread(samples["polars"], "peak_bytes", 1 / MIB).text(" MiB", 0))


def compare_features(options, report):
    """leat with the rival's settings and the rival on small logs: the tensors of both."""
    logs, out = make_logs(options, SIZES["frames"][1]), os.path.join(options.work, "can-same")
    measure.remove(out)
    found = run([program(options, "leat"), "ingest", "can", logs, "-o", out, "--captures",
                 "merged", "--train", "train_*,test_*", "--val-fraction", "0", "--json"])
    theirs = os.path.join(out, "polars.safetensors")
    run(rival("can_polars.py", logs, theirs, options.threads))
    ours = os.path.join(found["cache"], "train.safetensors")
    same = run(rival("can_same.py", ours, theirs))
    measure.remove(out)
    report.note(f"the features of Polars and of leat, {same['graphs']:,} graphs: largest "
                f"difference {same['difference']:.1e}, relative to the largest value of the "
                "column; all numbers of nodes, edges and identifiers are equal")


def measure_ingest(options, report):
    sides = Ingest(options, options.frames)
    takes = {"features": sides.features, "frames": sides.frames_stored, "polars": sides.polars,
             "disk": sides.disk}
    if not measure.has_package("polars"):
        del takes["polars"]
        report.note("no Polars in .deps/venv: its side is left out")
    elif "polars" not in options.skip:
        compare_features(options, report)
    names = [name for name in takes if name not in options.skip]
    samples = rounds([(name, takes[name]) for name in names], options.runs, options.warmup)
    report.samples["ingest"] = samples
    stores = {name: f"written {samples[name][-1]['bytes_written'] / 1e6:,.0f} MB with {name} "
              f"stored, spilled {samples[name][-1]['bytes_spilled'] / 1e6:,.0f} MB"
              for name in ("features", "frames") if name in samples}
    report.note(f"ingest: {options.frames:,} frames, logs of {logs_bytes(sides.logs) / 1e6:,.0f} "
                f"MB; {'; '.join(stores.values())}; {options.threads} threads, {options.memory}")
    rate, total = report_store(report, "features stored", samples["features"], options,
                               options.frames)
    if "frames" in samples:
        report_store(report, "frames stored", samples["frames"], options, options.frames)
    if "disk" in samples:
        report_disk(report, samples, total)
    if "polars" in samples:
        report_polars(report, samples, rate, options)


def compare_sizes(options):
    need, free = BYTES_A_FRAME * options.large_frames, shutil.disk_usage(options.work).free
    if free < need:
        raise Missing(f"{options.work} has {free >> 30} GiB free, about {need >> 30} are needed")
    report = Report("can-large", options)
    pairs = {"small": options.small_frames, "usual": options.frames,
             "large": options.large_frames}
    sides = {name: Ingest(options, frames) for name, frames in pairs.items()}
    samples = rounds([(name, side.features) for name, side in sides.items()], options.runs,
                     options.warmup)
    report.samples = samples
    rates = {}
    for name, frames in pairs.items():
        rates[name], _ = report_store(report, f"{frames:,} frames", samples[name], options, frames)
    report.row("frames/s of the largest, compared with the smallest", rates["large"].text(" M/s"),
               rates["small"].text(" M/s"),
               ratio(rates["large"], rates["small"]).text("x the speed"))
    return report


# ---- batches ----------------------------------------------------------------------------------

def pyg(options, *arguments):
    script = os.path.join(measure.RIVALS, "pyg_batches.py")
    command = [torch_python(), script, *map(str, arguments), str(options.pyg_seconds)]
    return lambda _: run(command)


def only_folder(caches):
    [name] = [name for name in os.listdir(caches) if not name.startswith(".")]
    return os.path.join(caches, name)


def forget(folder):
    """Evicts the files of a folder from the page cache."""
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def cold(options, caches):
    folder = only_folder(caches)
    forget(folder)
    sample = run([program(options, "bench_can"), "batches", caches, str(options.max_nodes)])
    forget(folder)  # its pages are large ones now, which would make the other sides faster
    measure.read_through(folder)
    return sample


def batch_sides(options, report):
    def leat(caches):
        return lambda _: run([program(options, "bench_can"), "batches", caches,
                              str(options.max_nodes)])

    features, _ = make_cache(options, "features", options.frames)
    sides = {"features": leat(features), "cold": lambda _: cold(options, features)}
    if "frames" not in options.skip:
        sides["frames"] = leat(make_cache(options, "frames", options.frames, "--store",
                                          "frames")[0])
    if "small" not in options.skip:
        small = make_cache(options, "small", options.frames, "--window", str(SMALL_WINDOW),
                           "--stride", str(SMALL_WINDOW))[0]
        sides["small"] = leat(small)
    if torch_python() is None:
        report.note("no .deps/venv-torch (scripts/python-env.sh torch): PyTorch Geometric is left "
                    "out")
    else:
        file = os.path.join(only_folder(features), "train.safetensors")
        sides["pyg"] = pyg(options, file, options.pyg_graphs, options.max_nodes)
        sides["pyg_small"] = pyg(options, "32,64,8", options.pyg_graphs, options.max_nodes)
    return [(name, take) for name, take in sides.items() if name not in options.skip]


def giga(samples, key):
    return spread(samples, key, 1e-9)


def report_bytes(report, what, samples, bounds, goal):
    """bounds: the samples of features, which measured memcpy in the same rounds."""
    mine, copy = giga(samples, "bytes_per_s"), giga(bounds, "copy_bytes_per_s")
    share = ratio(mine, copy)
    judged = {"goal": f">= {GOAL_COPY}x the speed", "met": share.median >= GOAL_COPY}
    report.row(f"{what}: bytes/s, pages checked before, "
               "compared with memcpy of the same number of bytes",
               mine.text(" GB/s"), copy.text(" GB/s"), share.text("x the speed"),
               **(judged if goal else {}))
    gather = giga(bounds, "gather_bytes_per_s")
    report.row(f"{what}: the same, compared with memcpy graph by graph from their positions",
               mine.text(" GB/s"), gather.text(" GB/s"), ratio(mine, gather).text("x the speed"))
    raw = giga(samples, "raw_bytes_per_s")
    report.row(f"{what}: --scale none, "
               "compared with memcpy of the same number of bytes", raw.text(" GB/s"),
               copy.text(" GB/s"), ratio(raw, copy).text("x the speed"))
    fresh = giga(samples, "fresh_bytes_per_s")
    report.row(f"{what}: first access to its pages, compared with the same", fresh.text(" GB/s"),
               copy.text(" GB/s"), ratio(fresh, copy).text("x the speed"))
    report.row(f"{what}: graphs/s, pages checked before",
               spread(samples, "graphs_per_s", 1e-3).text(" k/s", 0))


def report_pyg(report, what, ours, theirs, goal):
    mine = spread(ours, "graphs_per_s", 1e-3)
    other = spread(theirs, "graphs_per_s", 1e-3)
    times = ratio(mine, other)
    report.row(what, mine.text(" k/s", 0), other.text(" k/s", 1), times.text("x the speed", 1),
               f">= {goal}x the speed", times.median >= goal)


def measure_batches(options, report):
    samples = rounds(batch_sides(options, report), options.runs, options.warmup)
    report.samples["batches"] = samples
    for name in ("features", "frames", "small"):
        if name in samples:
            one = samples[name][-1]
            report.note(f"batches, {name}: {one['graphs']:,} graphs of {one['nodes']:.1f} nodes "
                        f"and {one['edges']:.0f} edges on average, {one['batches']:,} batches of "
                        f"at most {options.max_nodes:,} nodes, {one['bytes'] / 1e6:,.0f} MB an "
                        f"epoch; {one['memory_bytes'] / MIB:,.0f} MiB of memory")
    if "pyg" in samples or "pyg_small" in samples:
        one = samples.get("pyg", samples.get("pyg_small"))[-1]
        report.note(f"torch {one['torch']}, torch_geometric {one['torch_geometric']}, one thread")
    report_bytes(report, "features stored", samples["features"], samples["features"], goal=True)
    if "frames" in samples:
        report_bytes(report, "frames stored", samples["frames"], samples["features"], goal=False)
    if "cold" in samples:
        report.row("features stored: an epoch with nothing in the page cache",
                   giga(samples["cold"], "fresh_bytes_per_s").text(" GB/s"))
        report.row("features stored: the next one, in large pages where the system has them, "
                   "compared with memcpy of the same number of bytes, in these too",
                   giga(samples["cold"], "bytes_per_s").text(" GB/s"),
                   giga(samples["cold"], "copy_bytes_per_s").text(" GB/s"),
                   ratio(giga(samples["cold"], "bytes_per_s"),
                         giga(samples["cold"], "copy_bytes_per_s")).text("x the speed"))
    if "pyg" in samples:
        report_pyg(report, "graphs/s, compared with Batch.from_data_list of the same graphs",
                   samples["features"], samples["pyg"], GOAL_PYG)
    if "pyg_small" in samples and "small" in samples:
        nodes = samples["small"][-1]["nodes"]
        report_pyg(report, f"graphs/s, leat's of {nodes:.0f} nodes, 64 edges and 35 + 11 features, "
                   "compared with Batch.from_data_list of 32 nodes, 64 edges, 8 features",
                   samples["small"], samples["pyg_small"], GOAL_PYG_SMALL)


# ---- open -------------------------------------------------------------------------------------

def measure_open(options, report):
    settings = ("--stride", "5", "--store", "frames", "--train", "train_*,test_*",
                "--val-fraction", "0")
    caches, logs = make_cache(options, "open", options.open_frames, *settings)
    usual, usual_logs = make_cache(options, "features", options.frames)

    def found(where, source, *more):
        return lambda _: run([program(options, "leat"), "ingest", "can", source, "-o", where, *more,
                              "--json"])

    sides = [("open", lambda _: run([program(options, "bench_can"), "open", caches])),
             ("found", found(usual, usual_logs)), ("found_large", found(caches, logs, *settings))]
    samples = rounds(sides, options.runs, options.warmup)
    report.samples["open"] = samples
    one = samples["open"][-1]
    report.note(f"open: {one['graphs']:,} training graphs of {one['nodes']:.1f} nodes on average "
                f"in {one['file_bytes'] / 1e6:,.0f} MB, frames stored")
    opened = spread(samples["open"], "open_ms")
    report.row(f"open a cache of {one['graphs']:,} graphs", opened.text(" ms"),
               goal=f"< {GOAL_OPEN_MS} ms", met=opened.median < GOAL_OPEN_MS)
    report.row("of it open, with the split of its training graphs",
               spread(samples["open"], "split_ms").text(" ms"))
    report.row("memory that opening takes",
               spread(samples["open"], "open_bytes", 1 / MIB).text(" MiB", 1))
    report_plans(report, samples["open"])
    for name, words in (("found", f"{options.frames:,} frames"),
                        ("found_large", f"{options.open_frames:,} frames")):
        took = spread(samples[name], "wall", 1e3)
        if not all(sample["found"] for sample in samples[name]):
            raise RuntimeError(f"{name}: the cache was not found")
        report.row(f"leat ingest can of {words} that have their cache: the whole process",
                   took.text(" ms"), goal=f"< {GOAL_FOUND_MS} ms",
                   met=took.median < GOAL_FOUND_MS)


def report_plans(report, samples):
    for way, words in WAYS.items():
        for fit in (2, 64):
            key = f"{way}_{fit}"
            plan = spread(samples, lambda s, k=key: s[k]["plan_s"])
            one = samples[-1][key]
            mean = one["graphs"] / max(one["batches"], 1)
            report.row(f"plan an epoch, {words}, {mean:.1f} graphs a batch", plan.text(" s", 3),
                       goal=f"< {GOAL_PLAN_S:.0f} s", met=plan.median < GOAL_PLAN_S)
            create = spread(samples, lambda s, k=key: s[k]["create_s"])
            report.row("the loader of it, from nothing to its first epoch planned",
                       create.text(" s", 3))


# ---- all --------------------------------------------------------------------------------------

MEASURES = {"ingest": measure_ingest, "batches": measure_batches, "open": measure_open}


def body():
    options = options_of_command_line()
    if options.large:
        report = compare_sizes(options)
    else:
        report = Report("can", options)
        for part in PARTS:
            if not options.part or part in options.part:
                MEASURES[part](options, report)
        if options.skip:
            report.note("left out: " + ", ".join(sorted(options.skip)))
    report.print()
    report.save()


if __name__ == "__main__":
    measure.main(body)
