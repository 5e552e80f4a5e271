#!/usr/bin/env python3
"""Opening a data set of many rows and finding one of them, compared with array_record.

Sides, each a fresh process, in turn, files in the page cache:
  leat       leat_dataset_open; leat_dataset_row of random rows; random records, complete and
             checked: the first ones open their shards, which opening the data set does not
  in_memory  array_record opens a reader for every shard of the same data set, with the options that
             its documentation gives for random access, and reads the same number of random records
  offloaded  the same with the index left in the file
bench/open.c is leat's side. array_record has no metadata of rows: anything about a row requires
reading its record, so that is the only counterpart of a lookup.
"""
import os
import subprocess

import measure
from measure import Report, parse, parser, program, ratio, rival, rounds, run, spread

SIZES = {
    "measurements": (3_000_000, 50_000, "of the data set"),
    "probes": (1_000_000, 10_000, "of the data set: the number of rows, if none is cut"),
    "lookups": (1_000_000, 10_000, "random rows looked up"),
    "records": (1_000, 100, "random records read"),
    "runs": (11, 2, "counted rounds"),
    "warmup": (1, 1, "rounds before them"),
}
GOAL_OPEN_MS, GOAL_LOOKUP_NS = 50, 1000
READERS = {"in_memory": "readahead_buffer_size:0,max_parallelism:0",
           "offloaded": "readahead_buffer_size:0,max_parallelism:0,"
                        "index_storage_option:offloaded,footer_prefetch_bytes:0"}


def options_of_command_line():
    made = parser(__doc__, SIZES)
    made.add_argument("--shards", type=int, help="of train (default: as many as leat ingest makes)")
    made.add_argument("--skip", action="append", default=[], choices=tuple(READERS),
                      help="a side to leave out; may be repeated")
    return parse(made, SIZES)


def make_dataset(options):
    """Ingested once and kept."""
    leat, size = program(options, "leat"), f"{options.measurements}-{options.probes}"
    raw = measure.made_once(
        os.path.join(options.work, f"probes-{size}.parquet"), lambda part: measure.quiet(
            [leat, "synth", "probes", "--measurements", str(options.measurements), "--probes",
             str(options.probes), "-o", part]))
    more = ["--shards", str(options.shards)] if options.shards else []
    name = f"open-{size}" + (f"-shards{options.shards}" if options.shards else "")
    return measure.made_once(os.path.join(options.work, name), lambda part: measure.quiet(
        [leat, "ingest", "probes", raw, "-o", part, *more]))


def report_leat(report, leat):
    opened = spread(leat, "open_ms")
    report.row("open", opened.text(" ms"), goal=f"< {GOAL_OPEN_MS} ms",
               met=opened.median < GOAL_OPEN_MS)
    again, first = spread(leat, "lookup_ns"), spread(leat, "lookup_first_ns")
    report.row("facts and place of a random row, index checked as it is touched",
               first.text(" ns", 0), goal=f"< {GOAL_LOOKUP_NS} ns",
               met=first.median < GOAL_LOOKUP_NS)
    report.row("the same rows once more", again.text(" ns", 0), goal=f"< {GOAL_LOOKUP_NS} ns",
               met=again.median < GOAL_LOOKUP_NS)


def report_rival(report, leat, name, samples):
    words = f"compared with array_record, its index {name.replace('_', ' ')}"
    opened, theirs = spread(leat, "open_ms"), spread(samples, "open_ms")
    report.row(f"open, {words}", opened.text(" ms"), theirs.text(" ms"),
               ratio(theirs, opened).text("x the speed", 0))
    record = spread(samples, "record_us")
    for key, what in (("record_first_us", "first, shards not open yet"),
                      ("record_us", "then, shards open")):
        mine = spread(leat, key)
        report.row(f"a random record ({what}), {words}: read([i])", mine.text(" us", 1),
                   record.text(" us", 1), ratio(record, mine).text("x the speed", 1))
    report.row(f"memory that opening takes, {words}",
               spread(leat, "open_bytes", 1 / measure.MIB).text(" MiB", 1),
               spread(samples, "open_bytes", 1 / measure.MIB).text(" MiB", 1))


def body():
    options = options_of_command_line()
    data = make_dataset(options)
    report = Report("open" + (f"-shards{options.shards}" if options.shards else ""), options)
    measure.read_through(data)

    def leat(index):
        return run([program(options, "bench_open"), data, str(options.lookups),
                    str(options.records), str(index + options.warmup)])

    def array_record(reader):
        return lambda index: run(rival("open_shards.py", data, reader, options.records,
                                       index + options.warmup))

    sides = [("leat", leat)]
    if measure.rival_python():
        sides += [(name, array_record(reader)) for name, reader in READERS.items()
                  if name not in options.skip]
    samples = rounds(sides, options.runs, options.warmup)
    report.samples = samples
    facts = samples["leat"][0]
    report.note(f"{facts['rows']:,} rows in {facts['shards']:,} shards of together "
                f"{facts['file_bytes'] / 1e6:,.0f} MB, records of {facts['record_bytes']:,.0f} "
                f"bytes; {options.lookups:,} lookups, {options.records:,} records a round")
    limit = subprocess.run(["sh", "-c", "ulimit -n"], capture_output=True, text=True, check=False)
    report.note(f"open files allowed: {limit.stdout.strip()}")
    report_leat(report, samples["leat"])
    for name in READERS:
        if name in samples:
            report_rival(report, samples["leat"], name, samples[name])
    report.print()
    report.save()


if __name__ == "__main__":
    measure.main(body)
