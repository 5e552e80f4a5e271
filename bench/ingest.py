#!/usr/bin/env python3
"""Ingest of probe measurements from Parquet, compared with DuckDB, Python scripts, and the disk.

Sides, each a fresh process, in turn:
  leat     leat ingest probes, with --threads and --memory
  duckdb   DuckDB sorts the same file by source and time and writes Parquet, in the same memory
  decode   DuckDB decodes all five columns with the same number of threads and keeps nothing
  plain    a first Python script: DuckDB's lists, pa.table per probe, array_record; any memory
  tuned    the same written for speed, in slices of Arrow columns; any memory
  disk     the number of bytes that leat wrote in this round, to one new file, with fsync
--large measures leat alone: the same rate at --large-measurements, and the peak of memory.
"""
import os
import shutil
import sys

import measure
from measure import Missing, Report, parse, parser, program, ratio, rival, rounds, run, spread

SIZES = {
    "measurements": (20_000_000, 500_000, "rows of the input"),
    "probes": (85_000, 5_000, "distinct sources among them"),
    "large_measurements": (100_000_000, 1_000_000, "rows of the input of --large"),
    "large_probes": (425_000, 10_000, "distinct sources among them"),
    "threads": (2, 2, "of every side"),
    "runs": (5, 2, "counted rounds"),
    "warmup": (1, 1, "rounds before them"),
}
SIDES = ("leat", "duckdb", "decode", "plain", "tuned", "disk")
SCRIPTS = {"plain": "python_plain.py", "tuned": "python_rows.py"}
BYTES_A_ROW = 200  # of disk while an ingest runs: input, spilled data and rows together
GOAL_RATE, GOAL_DUCKDB, GOAL_PYTHON, GOAL_DISK = 5e6, 0.45, 15, 1.25


def options_of_command_line():
    made = parser(__doc__, SIZES)
    made.add_argument("--memory", default="512M", help="of leat and DuckDB, such as 512M or 2G "
                      "(default: 512M)")
    made.add_argument("--compression", default="none", choices=("none", "zstd:3"),
                      help="of the records of leat and of the Python scripts (default: none)")
    made.add_argument("--skip", action="append", default=[], choices=SIDES[1:],
                      help="a side to leave out; may be repeated")
    made.add_argument("--large", action="store_true", help="leat alone, at two sizes")
    return parse(made, SIZES)


def make_input(options, measurements, probes):
    path = os.path.join(options.work, f"probes-{measurements}-{probes}.parquet")
    measure.made_once(path, lambda part: measure.quiet(
        [program(options, "leat"), "synth", "probes", "--measurements", str(measurements),
         "--probes", str(probes), "-o", part]))
    return path


class Sides:
    """How each side is started; outputs are removed after every sample."""

    def __init__(self, options, source, measurements):
        self.options, self.source, self.measurements = options, source, measurements
        self.out = os.path.join(options.work, "ingest-out")
        self.written = None

    def fresh(self):
        measure.remove(self.out)
        os.makedirs(self.out)
        measure.read_through(self.source)
        return self.out

    def checked(self, sample, rows):
        measure.remove(self.out)
        if rows != self.measurements:
            raise RuntimeError(f"{rows} measurements instead of {self.measurements}")
        return sample

    def leat(self, _):
        options = self.options
        sample = run([program(options, "leat"), "ingest", "probes", self.source, "-o",
                      os.path.join(self.fresh(), "data"), "--threads", str(options.threads),
                      "--memory", options.memory, "--compression", options.compression, "--json"])
        self.written = sample["bytes_written"]
        return self.checked(sample, sample["measurements"] + sample["rejected"])

    def duckdb(self, _):
        out = self.fresh()
        memory = f"{measure.mib_of(self.options.memory)}MiB"
        sample = run(rival("duckdb_sort.py", self.source, os.path.join(out, "sorted.parquet"),
                           memory, self.options.threads, os.path.join(out, "temp")))
        return self.checked(sample, sample["measurements"])

    def decode(self, _):
        self.fresh()
        sample = run(rival("duckdb_decode.py", self.source, self.options.threads))
        return self.checked(sample, sample["measurements"])

    def script(self, name):
        compression = "uncompressed" if self.options.compression == "none" else "zstd:3"
        sample = run(rival(SCRIPTS[name], self.source, self.fresh(), self.options.threads,
                           self.options.threads, f"group_size:1,{compression}"))
        return self.checked(sample, sample["measurements"])

    def plain(self, _):
        return self.script("plain")

    def tuned(self, _):
        return self.script("tuned")

    def disk(self, _):
        path = os.path.join(self.fresh(), "bytes")
        return self.checked(run([sys.executable, os.path.join(measure.RIVALS, "disk.py"), path,
                                 str(self.written)]), self.measurements)


def report_leat(report, samples, options, rows):
    """The rows without a rival. Returns the seconds until the last byte is written."""
    written, total = spread(samples, "seconds_written"), spread(samples, "seconds")
    rate = spread(samples, lambda s: rows / s["seconds_written"] / 1e6)
    report.row("measurements/s until the last byte is written", rate.text(" M/s"),
               goal=f">= {GOAL_RATE / 1e6:.0f} M/s", met=rate.median * 1e6 >= GOAL_RATE)
    rate = spread(samples, lambda s: rows / s["seconds"] / 1e6)
    report.row("measurements/s until all of it is on the disk (fsync)", rate.text(" M/s"))
    peak = spread(samples, lambda s: max(s["memory_peak_bytes"], s["rss"]) / measure.MIB)
    report.row("peak memory of the process", peak.text(" MiB", 0),
               goal=f"<= {options.memory}", met=peak.high <= measure.mib_of(options.memory))
    report.row("whole process: wall; user + system", spread(samples, "wall").text(" s") + "; "
               + spread(samples, lambda s: s["user"] + s["sys"]).text(" s"))
    return written, total


def report_script(report, name, samples):
    leat = samples["leat"]
    written, script = spread(leat, "seconds_written"), spread(samples[name], "seconds")
    times = ratio(script, written)
    goal = {"goal": f">= {GOAL_PYTHON}x the speed", "met": times.median >= GOAL_PYTHON}
    report.row(f"time to the last byte, compared with the {name} Python script", written.text(" s"),
               script.text(" s"), times.text("x the speed", 1),
               **(goal if name == "plain" else {}))
    report.row("peak memory, compared with the script's, all its processes",
               spread(leat, "memory_peak_bytes", 1 / measure.MIB).text(" MiB", 0),
               spread(samples[name], "memory_peak_bytes", 1 / measure.MIB).text(" MiB", 0))


def report_rivals(report, samples, options):
    leat = samples["leat"]
    written, total = report_leat(report, leat, options, options.measurements)
    if "duckdb" in samples:
        sort = spread(samples["duckdb"], "seconds")
        share = ratio(written, sort)
        report.row("time to the last byte, "
                   "compared with DuckDB: sort, write Parquet", written.text(" s"),
                   sort.text(" s"), share.text("x the time"), f"<= {GOAL_DUCKDB}x the time",
                   share.median <= GOAL_DUCKDB)
        report.row("the same, leat with fsync", total.text(" s"), sort.text(" s"),
                   ratio(total, sort).text("x the time"))
        report.row("peak memory, compared with DuckDB's",
                   spread(leat, "memory_peak_bytes", 1 / measure.MIB).text(" MiB", 0),
                   spread(samples["duckdb"], "memory_peak_bytes", 1 / measure.MIB)
                   .text(" MiB", 0))
    for name in SCRIPTS:
        if name in samples:
            report_script(report, name, samples)
    if "disk" in samples:
        after = spread(leat, lambda s: s["seconds"] - s["seconds_scan"])
        disk = spread(samples["disk"], "seconds")
        times = ratio(after, disk)
        report.row("from the end of the scan to the last fsync, compared with the disk's time for "
                   "the same number of bytes", after.text(" s"), disk.text(" s"),
                   times.text("x the time"),
                   f"<= {GOAL_DISK}x the time", times.median <= GOAL_DISK)
        rate = spread(samples["disk"], lambda s: s["bytes"] / s["seconds"] / 1e9)
        report.row("the disk, 4 MiB writes and fsync", "", rate.text(" GB/s"))
    if "decode" in samples:
        scan, decode = spread(leat, "seconds_scan"), spread(samples["decode"], "seconds")
        report.row("scan, compared with decoding the columns alone with DuckDB", scan.text(" s"),
                   decode.text(" s"), ratio(scan, decode).text("x the time"))


def compare(options):
    source = make_input(options, options.measurements, options.probes)
    sides = Sides(options, source, options.measurements)
    skip = set(options.skip)
    if not measure.rival_python():
        skip |= {"duckdb", "decode", *SCRIPTS}
    report = Report("ingest", options)
    names = [name for name in SIDES if name not in skip]
    samples = rounds([(name, getattr(sides, name)) for name in names], options.runs,
                     options.warmup)
    report.samples = samples
    one = samples["leat"][-1]
    report.note(f"{options.measurements:,} measurements of {options.probes:,} probes, Parquet of "
                f"{os.path.getsize(source) / 1e6:,.0f} MB; written "
                f"{one['bytes_written'] / 1e6:,.0f} MB, spilled "
                f"{one['bytes_spilled'] / 1e6:,.0f} MB; {options.threads} threads, "
                f"{options.memory}, compression {options.compression}")
    report_rivals(report, samples, options)
    if skip:
        report.note("left out: " + ", ".join(sorted(skip)))
    return report


def compare_sizes(options):
    pairs = {"usual": (options.measurements, options.probes),
             "large": (options.large_measurements, options.large_probes)}
    free, need = shutil.disk_usage(options.work).free, BYTES_A_ROW * options.large_measurements
    if free < need:
        raise Missing(f"{options.work} has {free >> 30} GiB free, about {need >> 30} are needed")
    report = Report("ingest-large", options)
    sides = []
    for name, (measurements, probes) in pairs.items():
        source = make_input(options, measurements, probes)
        sides.append((name, Sides(options, source, measurements).leat))
        report.note(f"{name}: {measurements:,} measurements of {probes:,} probes, Parquet of "
                    f"{os.path.getsize(source) / 1e6:,.0f} MB")
    samples = rounds(sides, options.runs, options.warmup)
    report.samples = samples
    report_leat(report, samples["large"], options, options.large_measurements)
    rate = {name: spread(samples[name], lambda s, n=pairs[name][0]: n / s["seconds_written"] / 1e6)
            for name in pairs}
    report.row("measurements/s, compared with those of the usual size", rate["large"].text(" M/s"),
               rate["usual"].text(" M/s"), ratio(rate["large"], rate["usual"]).text("x the speed"))
    return report


def body():
    options = options_of_command_line()
    report = compare_sizes(options) if options.large else compare(options)
    report.print()
    report.save()


if __name__ == "__main__":
    measure.main(body)
