#!/usr/bin/env python3
"""Two builds of leat in turn: has a change made ingest or batches slower?

  python3 bench/builds.py --before ../leat-before/build

Sides, each a fresh process: --before, and --build (default: build). Each ingests the same Parquet
and the same vehicle logs, and makes batches of what it wrote itself; both data sets must be equal
byte for byte, or the comparison is refused. For caches, documents that name settings may differ.
"""
import filecmp
import os

import measure
from measure import Missing, Report, parse, parser, program, ratio, rounds, run, spread

SIZES = {
    "measurements": (10_000_000, 200_000, "rows of the Parquet input"),
    "frames": (10_000_000, 200_000, "frames of the vehicle logs"),
    "steps": (4_000, 50, "batches of tokens"),
    "epochs": (4, 1, "passes over the graphs"),
    "threads": (2, 2, "of every side; batches have one"),
    "runs": (7, 2, "counted rounds"),
    "warmup": (1, 1, "rounds before them"),
}
DOCUMENTS = (".json", ".complete", ".csv")


def options_of_command_line():
    made = parser(__doc__, SIZES)
    made.add_argument("--before", required=True, help="build folder of the other leat")
    options = parse(made, SIZES)
    options.before = os.path.abspath(options.before)
    if not os.access(os.path.join(options.before, "leat"), os.X_OK):
        raise Missing(f"{options.before}/leat is not there")
    return options


def inputs(options):
    leat = program(options, "leat")
    probes = os.path.join(options.work, f"probes-{options.measurements}.parquet")
    logs = os.path.join(options.work, f"logs-{options.frames}")
    measure.made_once(probes, lambda part: measure.quiet(
        [leat, "synth", "probes", "-n", str(options.measurements), "-o", part]))
    measure.made_once(logs, lambda part: measure.quiet(
        [leat, "synth", "can", "-n", str(options.frames), "-o", part]))
    return probes, logs


def only_cache(folder):
    names = os.listdir(folder)
    if len(names) != 1:
        raise RuntimeError(f"{folder} has {len(names)} caches instead of one")
    return os.path.join(folder, names[0])


def files_of(folder):
    """Paths in the folder of all files that hold data."""
    return sorted(os.path.relpath(os.path.join(where, name), folder)
                  for where, _, names in os.walk(folder) for name in names
                  if not name.endswith(DOCUMENTS))


def check_equal(left, right):
    """Refuses data that differs: then the sides did different work."""
    names = files_of(left)
    _, differ, errors = filecmp.cmpfiles(left, right, names, shallow=False)
    if not names or names != files_of(right) or differ or errors:
        raise RuntimeError(f"{left} and {right} differ: {', '.join(differ + errors) or 'names'}")


class Side:
    """One build, and the folders that it writes."""

    def __init__(self, name, build, options, probes, logs):
        self.leat, self.options = os.path.join(build, "leat"), options
        self.probes, self.logs = probes, logs
        self.data = os.path.join(options.work, f"builds-{name}-data")
        self.parent = os.path.join(options.work, f"builds-{name}-caches")

    def ingest(self, kind, source, out):
        measure.remove(out)
        measure.read_through(source)
        return run([self.leat, "ingest", kind, source, "-o", out, "--threads",
                    str(self.options.threads), "--json"])

    def ingest_probes(self, _):
        return self.ingest("probes", self.probes, self.data)

    def ingest_can(self, _):
        return self.ingest("can", self.logs, self.parent)

    def batches(self, path, *limit):
        measure.read_through(path)
        return run([self.leat, "batches", path, "--threads", "1", "--json", *limit])

    def tokens(self, _):
        return self.batches(self.data, "--steps", f"0:{self.options.steps}")

    def graphs(self, _):
        return self.batches(only_cache(self.parent), "--epochs", str(self.options.epochs))

    def remove(self):
        measure.remove(self.data)
        measure.remove(self.parent)


def compare(options):
    probes, logs = inputs(options)
    report = Report("builds", options)
    before = Side("before", options.before, options, probes, logs)
    after = Side("after", options.build, options, probes, logs)
    works = (("ingest_probes", f"ingest of {options.measurements:,} measurements"),
             ("ingest_can", f"ingest of {options.frames:,} frames"),
             ("tokens", f"{options.steps:,} batches of tokens"),
             ("graphs", f"graph batches, {options.epochs} epochs"))
    for work, words in works:
        taken = rounds([("before", getattr(before, work)), ("after", getattr(after, work))],
                       options.runs, options.warmup)
        report.samples[work] = taken
        for what, key in (("wall", "wall"), ("user + system", lambda s: s["user"] + s["sys"])):
            then, now = (spread(taken[side], key) for side in ("before", "after"))
            report.row(f"{words}: {what}", now.text(" s"), then.text(" s"),
                       ratio(now, then).text("x the time"))
        if work == "ingest_can":
            check_equal(before.data, after.data)
            check_equal(only_cache(before.parent), only_cache(after.parent))
    report.note(f"rival: the build before; data equal byte for byte; {options.threads} threads")
    before.remove()
    after.remove()
    return report


def body():
    report = compare(options_of_command_line())
    report.print()
    report.save()


if __name__ == "__main__":
    measure.main(body)
