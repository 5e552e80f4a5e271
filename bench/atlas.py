#!/usr/bin/env python3
"""Reading RIPE Atlas results as text, compared with Python's json.loads, a core each.

Sides, each a fresh process, in turn:
  lines   leat ingest probes --threads 1: one object per line
  array   the same objects as one JSON array
  python  json.loads of every line, nothing else
leat is charged with the processor time of the whole process: reading, checking, grouping and
writing the data set. Python is charged with the loop alone.
"""
import json
import os
import random
import sys

import measure
from measure import Report, main, parse, parser, program, ratio, rounds, run, spread

SIZES = {
    "results": (400_000, 20_000, "objects of the input"),
    "runs": (5, 2, "counted rounds"),
    "warmup": (1, 1, "rounds before them"),
}
GOAL = 3  # times the rate of json.loads
PROBES, TARGETS = 800, 20


def result(draw, i):
    """An object with the members that RIPE Atlas' interface returns."""
    probe, target = draw.randrange(PROBES), draw.randrange(TARGETS)
    rtts = [round(draw.lognormvariate(3.5, 0.8), 6) for _ in range(3)]
    failed = draw.random() < 0.03
    address = f"192.0.{2 + probe // 250}.{probe % 250}"
    return {"fw": 5020, "mver": "2.2.1", "lts": draw.randrange(60),
            "dst_name": f"198.51.100.{target}", "af": 4, "dst_addr": f"198.51.100.{target}",
            "src_addr": address, "proto": "ICMP", "ttl": 56, "size": 48,
            "result": [{"x": "*"}] * 3 if failed else [{"rtt": rtt} for rtt in rtts],
            "dup": 0, "rcvd": 0 if failed else 3, "sent": 3,
            "min": -1 if failed else min(rtts), "max": -1 if failed else max(rtts),
            "avg": -1 if failed else round(sum(rtts) / 3, 10), "msm_id": 1768116 + target,
            "prb_id": 6000 + probe, "timestamp": 1602039732 + i, "msm_name": "Ping",
            "from": address, "type": "ping", "group_id": 1768116, "step": 240,
            "stored_timestamp": 1602039926 + i}


def write_inputs(options, array):
    def write(path):
        draw = random.Random(26)
        with open(path, "w", encoding="utf-8") as file:
            for i in range(options.results):
                text = json.dumps(result(draw, i), separators=(",", ":"))
                file.write(("," if array and i else "[" if array else "") + text
                           + ("" if array else "\n"))
            file.write("]" if array else "")

    kind = "array.json" if array else "lines.ndjson"
    path = os.path.join(options.work, f"atlas-{options.results}-{kind}")
    return measure.made_once(path, write)


def compare():
    options = parse(parser(__doc__, SIZES), SIZES)
    lines, array = write_inputs(options, False), write_inputs(options, True)
    size = os.path.getsize(lines)
    out = os.path.join(options.work, "atlas-out")

    def leat(path):
        measure.remove(out)
        measure.read_through(path)
        sample = run([program(options, "leat"), "ingest", "probes", path, "-o", out,
                      "--threads", "1", "--json"])
        measure.remove(out)
        if sample["measurements"] != options.results:
            raise RuntimeError(f"{sample['measurements']} measurements, not {options.results}")
        return {**sample, "cpu": sample["user"] + sample["sys"]}

    def python():
        measure.read_through(lines)
        return run([sys.executable, os.path.join(measure.RIVALS, "json_lines.py"), lines])

    sides = [("lines", lambda _: leat(lines)), ("array", lambda _: leat(array)),
             ("python", lambda _: python())]
    report = Report("atlas", options)
    samples = rounds(sides, options.runs, options.warmup)
    report.samples = samples
    report.note(f"{options.results:,} results, {size / 1e6:,.0f} MB of text; one thread")
    for name in ("lines", "array"):
        rate = spread(samples[name], lambda s: size / s["cpu"] / 1e6)
        scan = spread(samples[name], lambda s: size / s["seconds_scan"] / 1e6)
        report.row(f"{name}: text per second of the scan alone", scan.text(" MB/s", 0))
        loads = spread(samples["python"], lambda s: size / s["cpu"] / 1e6)
        times = ratio(rate, loads)
        report.row(f"{name}: text per processor second, compared with json.loads",
                   rate.text(" MB/s", 0), loads.text(" MB/s", 0), times.text("x the rate", 1),
                   f">= {GOAL}x the rate", times.median >= GOAL)
    report.print()
    report.save()


if __name__ == "__main__":
    main(compare)
