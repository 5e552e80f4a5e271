#!/usr/bin/env python3
"""A context of random measurements of one large row, compared with array_record and PyArrow.

Sides, each a fresh process, in turn, the file in the page cache, places drawn anew each round:
  leat     leat_dataset_row_open, then leat_row_gather of all places: the first access to the
           row by its process, every page checked, addresses parsed; then again, with all pages of
           the row already checked, but the processor's inner caches emptied
  walk     the bytes of the same number of values read from a fresh mapping, unchecked: the cost of
           page faults, a lower bound; at other places of the row, so that they are not in the
           processor's cache because leat has just read them
  pyarrow  array_record's read([i]), both Arrow streams opened, take() at the places of leat
Opening the data set or the reader is not included. The sums of the values that leat and PyArrow
read are compared. A separate program then reads contexts of random rows of a data set of many
probes, all pages checked: the best that a loader can expect. bench/row_access.c is leat's side.
"""
import os
import random
import subprocess

import measure
from measure import Report, parse, parser, program, ratio, rival, rounds, run, spread

SIZES = {
    "measurements": (600_000, 400_000, "of the one probe: its rows must reach --max-row-size"),
    "many": (20_000_000, 100_000, "measurements of the data set of random rows"),
    "probes": (85_000, 500, "its probes"),
    "contexts": (200_000, 2_000, "contexts of random rows, a round"),
    "places": (60, 60, "measurements of a context"),
    "runs": (60, 3, "contexts of each side"),
    "warmup": (2, 1, "rounds before them"),
}
GOAL_US = 200
GOAL_AGAIN_US = 40
WALK = 1 << 32  # its places are those of a round that leat never has


def options_of_command_line():
    made = parser(__doc__, SIZES)
    made.add_argument("--max-row-size", default="8M", help="of leat ingest (default: 8M)")
    made.add_argument("--skip", action="append", default=[], choices=("walk", "rows", "pyarrow"),
                      help="a side to leave out; may be repeated")
    return parse(made, SIZES)


def make_dataset(options, measurements, probes, name, ingest_options):
    leat = program(options, "leat")
    raw = measure.made_once(
        os.path.join(options.work, f"probes-{measurements}-{probes}.parquet"),
        lambda part: measure.quiet([leat, "synth", "probes", "--measurements", str(measurements),
                                    "--probes", str(probes), "-o", part]))
    return measure.made_once(
        os.path.join(options.work, f"{name}-{measurements}-{probes}"),
        lambda part: measure.quiet([leat, "ingest", "probes", raw, "-o", part, *ingest_options]))


class Sides:
    def __init__(self, options, data, many):
        self.options, self.data, self.many = options, data, many
        self.bench = program(options, "bench_row_access")
        self.facts = run([self.bench, "facts", data])
        self.row = str(self.facts["row"])
        self.plans, self.sums = {}, {}

    def places(self, index):
        picks = random.Random(index).sample(range(self.facts["n_measurements"]),
                                            self.options.places)
        return "".join(f"{place}\n" for place in sorted(picks))

    def plan(self, index):
        """The positions of the values; computed before anything is timed."""
        done = subprocess.run([self.bench, "plan", self.data, self.row], check=True, text=True,
                              input=self.places(index + WALK), stdout=subprocess.PIPE)
        self.plans[index] = done.stdout

    def pages(self, index):
        ranges = [map(int, line.split()) for line in self.plans[index].splitlines()[1:]]
        return len({page for at, size in ranges
                    for page in range(at // 4096, (at + size - 1) // 4096 + 1)})

    def same(self, index, sample):
        told = (sample["time_sum"], round(sample["rtt_sum"], 2))
        if self.sums.setdefault(index, told) != told:
            raise RuntimeError(f"round {index}: {told} read, by another side {self.sums[index]}")
        return sample

    def leat(self, index):
        sample = run([self.bench, "context", self.data, self.row], self.places(index))
        return self.same(index, sample)

    def rows(self, _index):
        return run([self.bench, "rows", self.many, str(self.options.contexts)])

    def walk(self, index):
        return run([self.bench, "walk"], self.plans[index])

    def pyarrow(self, index):
        path = os.path.join(self.data, self.facts["shard"])
        return self.same(index, run(rival("read_context.py", path, self.facts["record_index"]),
                                    self.places(index)))


def report_all(report, samples):
    context = spread(samples["leat"], "context_us")
    report.row("a context, first access, pages checked", context.text(" us", 0),
               goal=f"< {GOAL_US} us", met=context.median < GOAL_US)
    report.row("of it opening the row", spread(samples["leat"], "row_open_us").text(" us", 0))
    again = spread(samples["leat"], "again_us")
    report.row("a context, pages checked before", again.text(" us", 0),
               goal=f"< {GOAL_AGAIN_US} us", met=again.median < GOAL_AGAIN_US)
    if "rows" in samples:
        count = samples["rows"][0]["measurements"]
        what = f"a context of a random row, {count:.1f} measurements, pages checked before"
        report.row(what, spread(samples["rows"], "plain_us").text(" us"))
    if "walk" in samples:
        walk = spread(samples["walk"], "walk_us")
        report.row("a context, compared with the same number of values from a mapping, unchecked",
                   context.text(" us", 0), walk.text(" us", 0),
                   ratio(context, walk).text("x the time"))
    if "pyarrow" in samples:
        theirs = spread(samples["pyarrow"], "context_us")
        report.row("a context, "
                   "compared with array_record + PyArrow, first read", context.text(" us", 0),
                   theirs.text(" us", 0), ratio(theirs, context).text("x the speed", 0))
        theirs = spread(samples["pyarrow"], "again_us")
        report.row("a context, compared with array_record + PyArrow, fastest of 5 more reads",
                   context.text(" us", 0), theirs.text(" us", 0),
                   ratio(theirs, context).text("x the speed", 0))


def body():
    options = options_of_command_line()
    data = make_dataset(options, options.measurements, 1, f"rows-{options.max_row_size}",
                        ["--shards", "1", "--max-row-size", options.max_row_size])
    measure.read_through(data)
    many = None
    if "rows" not in options.skip:
        many = make_dataset(options, options.many, options.probes, "many", [])
        measure.read_through(many)
    report = Report("row_access", options)
    sides = Sides(options, data, many)
    for index in range(-options.warmup, options.runs):
        sides.plan(index)
    names = ["leat", "walk", "rows"] + (["pyarrow"] if measure.rival_python() else [])
    samples = rounds([(name, getattr(sides, name)) for name in names if name not in options.skip],
                     options.runs, options.warmup)
    report.samples = samples
    pages = measure.Spread(sides.pages(index) for index in range(options.runs))
    report.note(f"a row of {sides.facts['n_measurements']:,} measurements, "
                f"{sides.facts['record_bytes']:,} bytes; {options.places} places, values on "
                f"{pages.text('', 0)} pages")
    report_all(report, samples)
    report.print()
    report.save()


if __name__ == "__main__":
    measure.main(body)
