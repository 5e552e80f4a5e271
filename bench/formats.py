#!/usr/bin/env python3
"""What the formats cost in one thread: hashes, writing, planning, decoding, parsing.

Sides, each a fresh process, in turn:
  leat     bench/formats.c: leat's figures, and their bounds: memcpy, write, inet_pton
  python   array_record writes the same records to the same place; PyArrow opens the same rows
Files go to --dir, a memory file system. PyArrow's part is opening both streams, validating
them in full, and taking the columns as arrays without a copy: unlike leat's decoding, it does not
parse addresses or check values against each other.
"""
import os

import measure
from measure import Report, parse, parser, program, ratio, rival, rounds, run, spread

SIZES = {
    "milliseconds": (200, 20, "shortest measurement of a figure"),
    "file_mib": (256, 16, "size of the files written"),
    "runs": (7, 2, "counted rounds"),
    "warmup": (1, 1, "rounds before them"),
}


def options_of_command_line():
    made = parser(__doc__, SIZES)
    made.add_argument("--dir", default="/dev/shm", help="for files (default: /dev/shm)")
    made.add_argument("--skip", action="append", default=[], choices=("python",),
                      help="a side to leave out")
    return parse(made, SIZES)


def rates(report, leat):
    """leat's figures and their bounds: (what, name, name of the bound, its label)."""
    for what, name, bound, words in (
            ("HighwayHash-64 of 8 MiB, AVX2 where there is one", "highway_bytes",
             "memcpy_row_bytes", "memcpy"),
            ("HighwayHash-64 of 8 MiB, portable", "highway_portable_bytes", "memcpy_row_bytes",
             "memcpy"),
            ("SHA-256 of 8 MiB", "sha256_bytes", "memcpy_row_bytes", "memcpy"),
            ("XXH3-64 of 4 KiB pages", "page_hash_bytes", "memcpy_row_bytes", "memcpy"),
            ("write ArrayRecord, small rows", "write_small_bytes", "write_plain_bytes", "write"),
            ("write ArrayRecord, large rows", "write_large_bytes", "write_plain_bytes", "write")):
        mine, limit = spread(leat, name, 1e-9), spread(leat, bound, 1e-9)
        report.row(what, mine.text(" GB/s"), f"{words} {limit.text(' GB/s')}",
                   ratio(mine, limit).text("x the speed"))
    report.row("memcpy of 64 MiB", "", spread(leat, "memcpy_bytes", 1e-9).text(" GB/s"))
    plan = spread(leat, lambda s: 1e9 / s["plan_rows"])
    report.row("plan of a small row", plan.text(" ns", 0))
    for version in ("4", "6"):
        mine = spread(leat, lambda s, v=version: 1e9 / s[f"parse_v{v}_addresses"])
        theirs = spread(leat, lambda s, v=version: 1e9 / s[f"inet_pton_v{v}_addresses"])
        report.row(f"IPv{version} address from text", mine.text(" ns", 1),
                   f"inet_pton {theirs.text(' ns', 1)}",
                   ratio(theirs, mine).text("x the speed"))


def against_python(report, leat, python):
    for size in ("small", "large"):
        mine, theirs = (spread(side, f"write_{size}_bytes", 1e-9) for side in (leat, python))
        report.row(f"write ArrayRecord, {size} rows, "
                   "compared with array_record", mine.text(" GB/s"),
                   theirs.text(" GB/s"), ratio(mine, theirs).text("x the speed"))
    for size in ("small", "large"):
        mine, theirs = (spread(side, f"decode_{size}_measurements", 1e-6)
                        for side in (leat, python))
        report.row(f"decode a {size} row, addresses parsed, "
                   "compared with PyArrow", mine.text(" M/s"),
                   theirs.text(" M/s"), ratio(mine, theirs).text("x the speed"))


def body():
    options = options_of_command_line()
    report = Report("formats", options)
    folder = os.path.join(options.dir, f"leat-bench-{os.getpid()}")
    arguments = [folder, str(options.milliseconds), str(options.file_mib << 20)]
    sides = [("leat", lambda _: run([program(options, "bench_formats"), *arguments]))]
    if measure.rival_python() and "python" not in options.skip:
        sides.append(("python", lambda _: run(rival("write_and_open.py", *arguments))))
    os.makedirs(folder)
    try:
        samples = rounds(sides, options.runs, options.warmup)
    finally:
        measure.remove(folder)
    report.samples = samples
    one = samples["leat"][0]
    report.note(f"small rows: {one['small_row_measurements']:,} measurements, "
                f"{one['small_row_bytes']:,} bytes; large rows: "
                f"{one['large_row_measurements']:,} measurements, {one['large_row_bytes']:,} bytes")
    report.note(f"files of {options.file_mib} MiB in {measure.disk(options.dir)}, uncompressed, "
                "one record a chunk; the plain write is in pieces of 256 KiB")
    rates(report, samples["leat"])
    if "python" in samples:
        against_python(report, samples["leat"], samples["python"])
    report.print()
    report.save()


if __name__ == "__main__":
    measure.main(body)
