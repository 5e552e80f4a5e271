#!/usr/bin/env python3
"""How the ingest of probes scales with threads, and when compression pays.

Each side is a process of `leat ingest probes --spill always`, in turn, with 1, 2, 4 ... --threads
threads, its output and its spill
  memory   in /dev/shm, where nothing waits for a disk
  disk     in --work
and, in memory with --threads threads, with --compression zstd:1.

Two threads may be less than twice as fast because one waits while the other works, or because both
work slower at once (memory, caches, a processor that is shared). The processor time tells them
apart: if n threads work for the share b of their time, the serial share of the work is
(1 / b - 1) / (n - 1) (Amdahl). What that allows with more threads is arithmetic, printed as such.
"""
import os
import shutil

import measure
from ingest import make_input
from measure import Missing, Report, parse, parser, program, ratio, rounds, run, spread

SIZES = {
    "measurements": (20_000_000, 500_000, "rows of the input"),
    "probes": (85_000, 5_000, "distinct sources among them"),
    "threads": (2, 2, "most threads of a side"),
    "runs": (5, 2, "counted rounds"),
    "warmup": (1, 0, "rounds before them"),
}
PLACES = ("memory", "disk")
IN_MEMORY = "/dev/shm"
BYTES_A_ROW = 120  # of shards and spill together
GOAL = 1.85


class Place:
    """A folder of its own in memory or on the disk."""

    def __init__(self, options, source, parent):
        self.options, self.source = options, source
        self.folder = os.path.join(parent, f"leat-scale-{os.getpid()}")

    def take(self, threads, *more):
        def one(_):
            measure.remove(self.folder)
            os.makedirs(os.path.join(self.folder, "temp"))
            measure.read_through(self.source)
            try:
                return run([program(self.options, "leat"), "ingest", "probes", self.source, "-o",
                            os.path.join(self.folder, "data"), "--temp",
                            os.path.join(self.folder, "temp"), "--threads", str(threads),
                            "--spill", "always", "--json", *more])
            finally:
                measure.remove(self.folder)
        return one


def phase(samples, begin, end):
    return spread(samples, lambda s: s[end] - (s[begin] if begin else 0))


PHASES = (("scan", None, "seconds_scan"), ("write", "seconds_scan", "seconds_written"),
          ("both", None, "seconds_written"))


def report_threads(report, samples, place, threads):
    for name, begin, end in PHASES:
        many = phase(samples[f"{place} {threads}"], begin, end)
        one = phase(samples[f"{place} 1"], begin, end)
        times = ratio(one, many)
        judged = place == "memory" and name != "both" and threads == 2
        report.row(f"{place}, {name}: {threads} threads, compared with one", many.text(" s"),
                   one.text(" s"), times.text("x the speed"), goal=f">= {GOAL}x" if judged else "",
                   met=times.median >= GOAL if judged else None)


def report_end(report, samples, place, threads):
    after = spread(samples[f"{place} {threads}"], lambda s: s["seconds"] - s["seconds_written"])
    report.row(f"{place}: after the last byte, by one thread", after.text(" s", 3))


def work_of(sample):
    return sample["user"] + sample["sys"]


def report_share(report, samples, threads):
    """What the serial share of all in memory allows."""
    many, one = samples[f"memory {threads}"], samples["memory 1"]
    mine, theirs = spread(many, work_of), spread(one, work_of)
    report.row(f"memory: processor time of {threads} threads, compared with one", mine.text(" s"),
               theirs.text(" s"), ratio(mine, theirs).text("x the time"))
    busy = spread(many, lambda s: work_of(s) / threads / s["wall"])
    report.row(f"memory: share of their time that {threads} threads work", spread(
        many, lambda s: 100 * work_of(s) / threads / s["wall"]).text(" %", 1))
    share = max(0.0, (1 / busy.median - 1) / (threads - 1))
    allowed = ", ".join(f"{1 / (share + (1 - share) / n):.1f}x with {n}" for n in (4, 16, 64))
    report.row(f"memory: serial share of the whole by {threads} threads, and what it allows",
               f"{share:.1%}: {allowed}")


def report_compression(report, samples, threads):
    plain, packed = samples[f"memory {threads}"], samples["memory zstd:1"]
    mine, theirs = phase(packed, *PHASES[1][1:]), phase(plain, *PHASES[1][1:])
    report.row(f"memory, write, {threads} threads: --compression zstd:1, compared with none",
               mine.text(" s"), theirs.text(" s"), ratio(mine, theirs).text("x the time"))
    sizes = spread(packed, "bytes_written", 1e-6), spread(plain, "bytes_written", 1e-6)
    report.row("bytes written: zstd:1, compared with none", sizes[0].text(" MB", 0),
               sizes[1].text(" MB", 0), ratio(*sizes).text("x the bytes"))
    report.row("a disk on which both take the same time (bytes of none in the time of zstd:1)",
               f"{sizes[1].median / mine.median:,.0f} MB/s")


def options_of_command_line():
    made = parser(__doc__, SIZES)
    made.add_argument("--skip", action="append", default=[], choices=PLACES[1:],
                      help="a place to leave out")
    options = parse(made, SIZES)
    if options.threads < 2:
        made.error("--threads: at least 2")
    return options


def body():
    options = options_of_command_line()
    need = BYTES_A_ROW * options.measurements
    if not os.access(IN_MEMORY, os.W_OK) or shutil.disk_usage(IN_MEMORY).free < need:
        raise Missing(f"{IN_MEMORY} has no {need >> 20} MiB free")
    source = make_input(options, options.measurements, options.probes)
    report = Report("scale", options)
    folders = {"memory": IN_MEMORY, "disk": options.work}
    places = {name: Place(options, source, folders[name]) for name in PLACES
              if name not in options.skip}
    most = options.threads
    counts = sorted({1, most, *(1 << n for n in range(most.bit_length()))})
    sides = [(f"{name} {threads}", place.take(threads))
             for name, place in places.items() for threads in counts]
    sides.append(("memory zstd:1", places["memory"].take(most, "--compression", "zstd:1")))
    report.samples = samples = rounds(sides, options.runs, options.warmup)
    report.note(f"{options.measurements:,} measurements of {options.probes:,} probes; `rival` is "
                "leat with one thread, unless the row says otherwise; memory is /dev/shm")
    for name in places:
        for threads in counts[1:]:
            report_threads(report, samples, name, threads)
        report_end(report, samples, name, most)
    for threads in counts[1:]:
        report_share(report, samples, threads)
    report_compression(report, samples, most)
    report.print()
    report.save()


if __name__ == "__main__":
    measure.main(body)
