"""Exact duplicates: downloads that overlap. Counted by ingest and inspect, kept or dropped.

Runs the command named by LEAT (default: build/leat).
"""
import collections
import glob
import hashlib
import json
import os
import random
import unittest

import folder
import command
from held import Held

HEADER = "event_time,src_addr,dst_addr,rtt\n"


def leat(*words, status=0):
    done = command.leat(*words, status=status)
    return done.stdout if status == 0 else done.stderr


def files_of(out):
    """The hash of every file that is a function of the measurements and the options."""
    hashes = {}
    for path in glob.glob(os.path.join(out, "**"), recursive=True):
        if os.path.isfile(path) and os.path.basename(path) != "run.json":
            with open(path, "rb") as file:
                hashes[os.path.relpath(path, out)] = hashlib.sha256(file.read()).hexdigest()
    return hashes


def measurements(seed, count):
    """Lines in which times, targets and results often coincide, but never all of them."""
    draw, lines = random.Random(seed), set()
    while len(lines) < count:
        probe = int(200 ** draw.random()) - 1
        lines.add(f"{1556136000 + draw.randrange(count)},192.0.2.{probe},"
                  f"198.51.100.{draw.randrange(3)},{draw.choice(['-1', '5', '7.5'])}\n")
    return sorted(lines)


class Duplicates(folder.Folder):
    def ingest(self, name, inputs, *options):
        out = self.at(name)
        told = json.loads(leat("ingest", "probes", *inputs, "-o", out, "--json", *options))
        leat("inspect", out, "--verify")
        counted = json.loads(leat("inspect", out, "--json", "--read", "none"))
        return out, told, counted["values"]

    def test_overlap(self):
        """Two downloads share 4,000 of 12,000 lines; another repeats a line 50 times."""
        lines = measurements(3, 12000)
        extra = lines[5000]
        inputs = [self.write("a.csv", HEADER + "".join(lines[:8000])),
                  self.write("b.csv", HEADER + "".join(lines[4000:])),
                  self.write("c.csv", HEADER + extra * 50)]
        once = [self.write("once.csv", HEADER + "".join(lines))]
        expected = 4000 + 50
        wanted, told, counted = self.ingest("once", once, "--shards", "3")
        self.assertEqual((told["duplicates"], counted["duplicates"]), (0, 0))
        with open(os.path.join(wanted, "manifest.json"), encoding="utf-8") as file:
            self.assertNotIn("duplicates", file.read())
        kept = set()
        for options in (["--threads", "1"], ["--threads", "4"], ["--split", "hash"]):
            out, told, counted = self.ingest(f"keep{options[1]}", inputs, "--shards", "3", *options)
            self.assertEqual(told["measurements"], 12000 + expected)
            self.assertEqual((told["duplicates"], told["duplicates_dropped"]), (expected, 0))
            self.assertEqual(counted["duplicates"], expected)
            kept.add(json.dumps(files_of(out), sort_keys=True))
        self.assertEqual(len(kept), 1)
        files = files_of(wanted)
        files.pop("manifest.json")
        for i, options in enumerate((["--threads", "1"], ["--threads", "4"])):
            out, told, counted = self.ingest(f"drop{i}", inputs[::-1], "--shards", "3",
                                             "--duplicates", "drop", *options)
            self.assertEqual((told["measurements"], told["records"]), (12000, 12000 + expected))
            self.assertEqual((told["duplicates"], told["duplicates_dropped"]), (expected, expected))
            self.assertEqual(counted["duplicates"], 0)
            found = files_of(out)
            found.pop("manifest.json")
            self.assertEqual(found, files)

    def test_small_rows(self):
        """Equal measurements are found where a row ends between them."""
        lines = [f"{1556136000 + i // 3},192.0.2.1,198.51.100.7,5\n" for i in range(3000)]
        inputs = [self.write("a.csv", HEADER + "".join(lines))]
        wanted, _, _ = self.ingest("once", [self.write("b.csv", HEADER + "".join(lines[::3]))],
                                   "--max-row-size", "1100")
        for options in ((), ("--compression", "zstd")):
            _, told, counted = self.ingest(f"keep{len(options)}", inputs, "--max-row-size", "1100",
                                           *options)
            self.assertEqual((told["duplicates"], told["measurements"]), (2000, 3000))
            self.assertEqual((counted["duplicates"], told["rows"]["train"]), (2000, 375))
        out, told, _ = self.ingest("drop", inputs, "--max-row-size", "1100", "--duplicates", "drop")
        self.assertEqual((told["duplicates_dropped"], told["measurements"]), (2000, 1000))
        name = "train/train_shard_00000.arrayrecord"
        self.assertEqual(files_of(out)[name], files_of(wanted)[name])
        words = leat("ingest", "probes", *inputs, "-o", out, "--max-row-size", "1100",
                     "--duplicates", "drop", "--resume")
        self.assertIn("3,000 records of 1 file = 1,000 written + 0 rejected + 2,000 dropped", words)
        self.assertIn("nothing to do", words)
        self.assertIn("holds a complete data set", leat("ingest", "probes", *inputs, "-o", out,
                                                        "--max-row-size", "1100", "--resume",
                                                        status=1))

    def test_packets(self):
        """Equal answers of one result are different measurements; the result given twice is not."""
        def ping(time, *rtts):
            result = [{"x": "*"} if rtt is None else {"rtt": rtt} for rtt in rtts]
            return json.dumps({"type": "ping", "timestamp": time, "af": 4, "from": "192.0.2.1",
                               "dst_addr": "198.51.100.7", "avg": 1, "result": result}) + "\n"
        first, second = ping(1556136000, 5, 5, 7), ping(1556136060, None, None, None, 2)
        other = ping(1556136000, 7, 5)  # the same time and target: both answers are known
        inputs = [self.write("a.ndjson", first + second),
                  self.write("b.ndjson", second + first + second + other)]
        _, told, counted = self.ingest("keep", inputs, "--per-packet")
        self.assertEqual((told["measurements"], told["duplicates"]), (20, 13))
        self.assertEqual(counted["duplicates"], 16)  # inspect cannot tell answers
        out, told, counted = self.ingest("drop", inputs, "--per-packet", "--duplicates", "drop")
        self.assertEqual((told["measurements"], told["duplicates_dropped"]), (7, 13))
        found = collections.Counter(
            (line["event_time"], line["rtt"]) for line in
            map(json.loads, leat("cat", out, "--format", "ndjson").splitlines()))
        self.assertEqual(sorted(found.values()), [1, 1, 2, 3])

    def test_packets_of_rejected_results(self):
        """A result is one record, rejected once and as a whole, whatever its packets."""
        def ping(time, *rtts, target="198.51.100.7"):
            return json.dumps({"type": "ping", "timestamp": time, "af": 4, "from": "192.0.2.1",
                               "dst_addr": target, "avg": 1,
                               "result": [{"rtt": rtt} for rtt in rtts]}) + "\n"
        lines = [ping(1556136000 + 60 * k, 5, 6, 7) for k in range(1500)]
        lines[700] = ping(1556178000, *range(1, 60), target="nohost")
        lines[701] = ping(1556178060, 5, 1e40, 7)
        path = self.write("a.ndjson", "".join(lines))
        for threads in ("1", "2"):
            out = self.at(f"rejected{threads}")
            said = leat("ingest", "probes", path, "--per-packet", "-o", out, "--threads", threads)
            self.assertIn("1,500 records of 1 file = 1,498 accepted + 2 rejected\n"
                          "        accepted: 4,494 measurements = 4,494 written\n", said)
            with open(os.path.join(out, "rejected.csv"), encoding="ascii") as file:
                rejected = file.read().splitlines()[1:]
            self.assertEqual([line.split(",")[1:3] for line in rejected],
                             [["701", "dst_addr_unparsable"], ["702", "rtt_infinite"]])
            self.assertIn("2 of 1,500 rows read by the ingest", leat("inspect", out))

    def test_large(self):
        """A probe that does not fit the memory limit: pieces sorted on disk."""
        draw = random.Random(9)
        picks = [draw.randrange(700000) for _ in range(900000)]
        text = "".join(f"{1556136000 + k},192.0.2.1,198.51.100.200,5\n" for k in picks)
        inputs = [self.write("a.csv", HEADER + text)]
        expected = len(picks) - len(set(picks))
        results = []
        small = "96M" if os.environ.get("LEAT_SANITIZE") else "48M"  # its runtime takes some, too
        for options in (["--memory", small, "--threads", "1"], ["--memory", "1G"]):
            for mode in ("keep", "drop"):
                out, told, _ = self.ingest(f"{options[1]}{mode}", inputs, "--duplicates", mode,
                                           *options)
                self.assertEqual(told["duplicates"], expected)
                self.assertEqual(told["measurements"], len(picks) - expected * (mode == "drop"))
                results.append(files_of(out))
        self.assertEqual(results[0], results[2])
        self.assertEqual(results[1], results[3])

    def test_resume(self):
        """An interrupted run is resumed with the same choice only, and counts all duplicates."""
        lines = measurements(4, 9000)
        inputs = [self.write("a.csv", HEADER + "".join(lines + lines[:3000]))]
        out = self.at("out")
        words = ["ingest", "probes", *inputs, "-o", out, "--duplicates", "drop", "--spill",
                 "always"]
        with Held([*words, "--shards", "200"], os.path.join(out, ".leat", "state.json")) as process:
            process.kill()
        refused = leat("ingest", "probes", *inputs, "-o", out, "--shards", "200", "--resume",
                       status=2)
        self.assertIn('duplicates was "drop" and is now "keep"', refused)
        told = json.loads(leat(*words, "--shards", "200", "--resume", "--json"))
        self.assertEqual((told["duplicates_dropped"], told["measurements"]), (3000, 9000))


if __name__ == "__main__":
    unittest.main()
