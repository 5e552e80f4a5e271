#!/usr/bin/env python3
"""Batches of data that memory cannot hold: the windowed order beside the global one.

For each kind of data, an epoch of `leat batches`, page cache empty at first, sides in turn:
  small windowed  in a memory cgroup that is smaller than the data, page cache included
  small global    the same with --order global, and no more than --global-steps steps
  small buckets   for CAN caches: the same with --pack bucket, whose batches are neighbours
  all windowed    with all of the machine's memory
Needs a memory cgroup that may be created: root, and cgroup v1, or v2 with the controller `memory`
enabled below the root.
"""
import os
import shlex

import measure
from measure import MIB, Missing, Report, drop, files_of, parse, parser, program, ratio, rounds
from measure import run, spread

SIZES = {
    "measurements": (40_000_000, 200_000, "of the probe data set"),
    "frames": (20_000_000, 200_000, "of the CAN cache"),
    "images": (40_000, 300, "of the image data set"),
    "global_steps": (40, 3, "made in the global order, which may be slow"),
    "runs": (3, 1, "counted rounds"),
    "warmup": (0, 0, "rounds before them"),
}
# A cgroup of this share of the data, and --memory of this share of the cgroup; windows as below.
SHARE_OF_DATA, SHARE_OF_GROUP = 0.5, 0.5
LEAST_GROUP = 96 * MIB
GOAL = 0.8


class Kind:
    """One kind of data: how it is made, and what is counted in its batches."""

    def __init__(self, name, counted, number, count, *, windows, batch=(), others=()):
        self.name, self.counted, self.number, self.count = name, counted, number, count
        self.windows, self.batch, self.others = windows, batch, others
        self.trained = "images." if name == "images" else "train"  # in the names of files read


def kinds_of(options):
    return [
        Kind("probes", "tokens", "--measurements", options.measurements, windows="64M",
             batch=("--batch", "64")),
        Kind("can", "graphs", "--frames", options.frames, windows="64M",
             others=(("small buckets", ("--pack", "bucket")),)),
        Kind("images", "images", "-n", options.images, windows="32M", batch=("--prefetch", "4")),
    ]


def make_data(options, kind):
    """The folder that batches are made of: for CAN, the only cache in it."""
    leat = program(options, "leat")
    raw = os.path.join(options.work, f"small-{kind.name}-input")
    raw += ".zip" if kind.name == "images" else ""

    def make(part):
        measure.remove(raw)
        measure.quiet([leat, "synth", kind.name, kind.number, str(kind.count), "-o", raw])
        measure.quiet([leat, "ingest", kind.name, raw, "-o", part, "--memory", "2G"])
        measure.remove(raw)
    home = measure.made_once(os.path.join(options.work, f"small-{kind.name}-{kind.count}"), make)
    if kind.name != "can":
        return home
    return next(each.path for each in os.scandir(home) if each.is_dir())


# ---- memory ---------------------------------------------------------------------------------

class Group:
    """A memory cgroup, in which commands run."""

    def __init__(self):
        base, limit = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
        if not os.path.isdir(base):
            base, limit = "/sys/fs/cgroup", "memory.max"
        self.path = os.path.join(base, f"leat-bench-{os.getpid()}")
        self.limit = os.path.join(self.path, limit)
        try:
            os.mkdir(self.path)
        except OSError as error:
            raise Missing(f"a memory cgroup cannot be created: {error}") from error
        if not os.access(self.limit, os.W_OK):
            self.close()
            raise Missing(f"{base} has no controller `memory` for new groups")

    def set(self, size):
        with open(self.limit, "w", encoding="ascii") as file:
            file.write(str(size))

    def command(self, words):
        join = f"echo $$ > {shlex.quote(self.path)}/cgroup.procs && exec \"$@\""
        return ["sh", "-c", join, "sh", *words]

    def close(self):
        os.rmdir(self.path)


# ---- sides ----------------------------------------------------------------------------------

def side(options, kind, data, words, group=None, size=0):
    def take(_):
        drop(data)
        command = [program(options, "leat"), "batches", data, *kind.batch, "--time", "--json",
                   "--memory", f"{int(size * SHARE_OF_GROUP) // MIB}M", *words]
        if group:
            group.set(size)
            command = group.command(command)
        sample = run(command)
        seconds = sample["time"]["seconds"]
        return {"rate": sample["counters"][kind.counted] / seconds, "seconds": seconds,
                "read_bytes": sample["read_bytes"], "batches": sample["counters"]["batches"],
                "rss": sample["rss"]}
    return take


def sides_of(options, kind, data, group, size):
    windowed = ("--order", f"windowed:{kind.windows}", "--epochs", "1")
    steps = ("--steps", f"0:{options.global_steps}")
    sides = [("small windowed", side(options, kind, data, windowed, group, size)),
             ("small global", side(options, kind, data, ("--order", "global", *steps), group,
                                   size))]
    sides += [(name, side(options, kind, data, (*words, "--epochs", "1"), group, size))
              for name, words in kind.others]
    sides.append(("all windowed", side(options, kind, data, windowed, None, size)))
    return [(f"{kind.name} {name}", take) for name, take in sides]


def report_kind(report, samples, kind, size, data_bytes):
    def rate(name):
        return spread(samples[f"{kind.name} {name}"], "rate", 1e-3)

    def row(what, name, goal="", least=None):
        mine, theirs = rate("small windowed"), rate(name)
        times = ratio(mine, theirs)
        report.row(f"{kind.name}: {what}", mine.text(f" k {kind.counted}/s", 1),
                   theirs.text(f" k {kind.counted}/s", 1), times.text("x the speed"), goal=goal,
                   met=None if least is None else times.median >= least)
    report.note(f"{kind.name}: {data_bytes / 1e6:,.0f} MB in a cgroup of {size // MIB} MiB, "
                f"--memory {int(size * SHARE_OF_GROUP) // MIB}M, --order windowed:{kind.windows}")
    row("compared with the global order in the same memory", "small global")
    for name, words in kind.others:
        row(f"compared with {' '.join(words)} in the same memory", name)
    row("compared with all of the machine's memory", "all windowed", f">= {GOAL}x", GOAL)
    again = spread(samples[f"{kind.name} small windowed"],
                   lambda sample: sample["read_bytes"] / data_bytes)
    report.row(f"{kind.name}: bytes read from the disk in an epoch, compared with the data",
               again.text("x"), goal="<= 1.1x", met=again.median <= 1.1)


def main():
    options = parse(parser(__doc__, SIZES), SIZES)
    report = Report("small_memory", options)
    group = Group()
    try:
        for kind in kinds_of(options):
            data = make_data(options, kind)
            data_bytes = sum(os.path.getsize(path) for path in files_of(data)
                             if kind.trained in os.path.relpath(path, data))
            size = max(LEAST_GROUP, int(data_bytes * SHARE_OF_DATA)) // MIB * MIB
            samples = rounds(sides_of(options, kind, data, group, size), options.runs,
                             options.warmup)
            report.samples.update(samples)
            report_kind(report, samples, kind, size, data_bytes)
    finally:
        group.close()
    report.print()
    report.save()


if __name__ == "__main__":
    measure.main(main)
