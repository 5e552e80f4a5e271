"""leat ingest probes --probe COLUMN: probes that are told apart by a name, not by an address.

What is expected is computed here from the input: src_id by hashlib, order and rows by sorting. Runs
the command named by LEAT (default: build/leat).
"""
import collections
import csv
import hashlib
import json
import os
import random
import re
import unittest

import folder
from command import leat

T0 = 1600000000
COLUMNS = ("event_time", "src_addr", "dst_addr", "rtt")


def src_id(name):
    return int(hashlib.md5(name.encode()).hexdigest()[:15], 16)


def pings(seed, probes=40, count=3000):
    """Probes that change their address, share a private one, and have both versions."""
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        probe = draw.randrange(1, probes + 1)
        source = draw.choice([f"10.{probe}.0.{draw.randrange(3)}", "192.168.1.2"])
        target = f"198.51.100.{draw.randrange(9)}"
        if probe % 3 == 0 and draw.random() < 0.5:
            source, target = f"2001:db8::{probe:x}", "2001:db8:1::1"
        rows.append({"event_time": T0 + draw.randrange(500), "src_addr": source,
                     "dst_addr": target, "rtt": draw.choice([-1, 0.5, 12.25, 33.5]),
                     "prb_id": probe})
    return rows


class ProbeNames(folder.Folder):
    def setUp(self):
        super().setUp()
        self.out = self.at("data")

    def csv(self, rows, names=COLUMNS + ("prb_id",), file="a.csv"):
        lines = [",".join(names)]
        lines += [",".join("" if row[name] is None else str(row[name]) for name in names)
                  for row in rows]
        return self.write(file, "\n".join(lines) + "\n")

    def ndjson(self, rows, file="a.ndjson"):
        return self.write(file, "".join(json.dumps(row) + "\n" for row in rows))

    def ingest(self, path, *options, probe="prb_id", status=0):
        """The result; or what the command says when it fails. All that is written verifies."""
        done = leat("ingest", "probes", path, "-o", self.out, "--replace", "--json", "--probe",
                    probe, *options, status=status)
        if status != 0:
            return done.stderr
        leat("inspect", self.out, "--verify", status=0)
        return json.loads(done.stdout)

    def manifest(self):
        with open(os.path.join(self.out, "manifest.json"), encoding="utf-8") as file:
            return file.read()

    def rows(self):
        """(split, src_id, measurements) of every row, in order: measurements are (time, target,
        source, rtt), with the version that they must have."""
        found = []
        for split in ("train", "test"):
            folder = os.path.join(self.out, split)
            if not os.path.isdir(folder):
                continue
            text = leat("cat", folder, "--format", "words", status=0).stdout
            values = iter(json.loads(line) for line in
                          leat("cat", folder, "--format", "ndjson", status=0).stdout.splitlines())
            for number, count in re.findall(r"^row \d+: probe (\d+), ([\d,]+) measurement", text,
                                            re.MULTILINE):
                part = [next(values) for _ in range(int(count.replace(",", "")))]
                for one in part:
                    self.assertEqual(one["ip_version"], 6 if ":" in one["src_addr"] else 4)
                found.append((split, int(number),
                              [(one["event_time"], one["dst_addr"], one["src_addr"], one["rtt"])
                               for one in part]))
            self.assertEqual(list(values), [])
        return found

    @staticmethod
    def expected(rows, name="prb_id"):
        """The measurements of each src_id, sorted."""
        probes = collections.defaultdict(list)
        for row in rows:
            second = row["event_time"] - T0
            time = f"2020-09-13T12:{26 + (40 + second) // 60}:{(40 + second) % 60:02}.000000Z"
            probes[src_id(str(row[name]))].append(
                (time, row["dst_addr"], row["src_addr"], row["rtt"]))
        return {number: sorted(values) for number, values in probes.items()}

    def check(self, rows, name="prb_id"):
        """Every probe is in one split, its rows follow one another, and hold what they must."""
        want, splits, got = self.expected(rows, name), {}, collections.defaultdict(list)
        order = []
        for split, number, values in self.rows():
            self.assertEqual(splits.setdefault(number, split), split)
            if not order or order[-1] != number:
                order.append(number)
            got[number] += values
        self.assertEqual(dict(got), want)
        self.assertEqual(len(order), len(want))
        return splits

    # ---- what is written

    def test_same_bytes_of_every_input_and_run(self):
        rows = pings(1)
        atlas = [{"type": "ping", "timestamp": row["event_time"], "from": row["src_addr"],
                  "dst_addr": row["dst_addr"], "avg": row["rtt"], "prb_id": row["prb_id"],
                  "af": 6 if ":" in row["src_addr"] else 4, "msm_id": 1} for row in rows]
        texts = [{**row, "prb_id": str(row["prb_id"])} for row in rows]
        wrapped = [{**row, "prb_id": {"$numberLong": str(row["prb_id"])}} for row in rows]
        mixed = rows[:]
        random.Random(3).shuffle(mixed)
        manifests = set()
        for path in (self.csv(rows), self.ndjson(rows), self.ndjson(atlas, "b.json"),
                     self.ndjson(texts, "c.ndjson"), self.ndjson(wrapped, "d.ndjson"),
                     self.csv(mixed, ("prb_id", "rtt", "dst_addr", "src_addr", "event_time"))):
            for threads in (1, 2, 8):
                result = self.ingest(path, "--threads", threads, "--max-row-size", "2048")
                self.assertEqual(result["warnings"], [])
                manifests.add(self.manifest())
        self.assertEqual(len(manifests), 1)
        self.assertEqual(json.loads(manifests.pop())["options"]["probe"], "prb_id")
        splits = self.check(rows)
        self.assertEqual(len(splits), 40)
        self.assertGreater(len(self.rows()), 40)

    def test_limits_of_memory_and_rows(self):
        rows = pings(2, probes=2, count=4000)
        path = self.csv(rows)
        for size in ("1024", "none"):
            manifests = set()
            # a sanitizer's runtime takes some, too
            for memory in ("128M" if os.environ.get("LEAT_SANITIZE") else "64M", "1G"):
                self.ingest(path, "--memory", memory, "--max-row-size", size)
                manifests.add(self.manifest())
            self.assertEqual(len(manifests), 1)
            self.check(rows)

    def test_ordered_split_by_name(self):
        rows = pings(3)
        self.ingest(self.csv(rows), "--split", "ordered", "--train-ratio", "0.5")
        splits = self.check(rows)
        names = sorted(str(number) for number in range(1, 41))
        self.assertEqual({name: splits[src_id(name)] for name in names},
                         {name: "train" if i < 20 else "test" for i, name in enumerate(names)})

    def test_names_of_any_length(self):
        names = ["a", "host.example", "x" * 45, "x" * 46, "x" * 46 + "y", "x" * 500,
                 "\u00e9t\u00e9", "ein Haus", "7", "07", "7.5", "7.0.0", ".0", "7."]
        rows = [{**row, "name": names[row["prb_id"] % len(names)]} for row in pings(4)]
        manifests = set()
        for path in (self.csv(rows, COLUMNS + ("name",)), self.ndjson(rows)):
            self.ingest(path, probe="name")
            manifests.add(self.manifest())
            self.check(rows, "name")
        self.assertEqual(len(manifests), 1)

    def test_spellings_of_a_name(self):
        """Blanks around a name do not count, nor does a fraction of zeros; in every format."""
        spelled = {7: ["7", " 7", "7\t ", "7.0", " 7.000 "], -3: ["-3", "-3.0"],
                   1000: ["1000", "1000.0"], 0: ["0", "0.0"], 10: ["10", "10.00"]}
        rows = [{**row, "prb_id": (7, -3, 1000, 0, 10)[row["prb_id"] % 5]} for row in pings(12)]
        odd = [{**row, "prb_id": spelled[row["prb_id"]][i % len(spelled[row["prb_id"]])]}
               for i, row in enumerate(rows)]
        real = [{**row, "prb_id": float(row["prb_id"])} if i % 2 else row
                for i, row in enumerate(rows)]
        inputs = [self.csv(rows), self.csv(odd, file="b.csv"), self.csv(real, file="c.csv"),
                  self.ndjson(rows), self.ndjson(odd, "b.ndjson"), self.ndjson(real, "c.ndjson")]
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            pass
        else:
            for name, values in ("a", rows), ("b", odd):
                inputs.append(self.at(f"{name}.parquet"))
                pyarrow.parquet.write_table(pyarrow.Table.from_pylist(values), inputs[-1])
        manifests = set()
        for path in inputs:
            self.assertEqual(self.ingest(path)["rejected"], 0)
            manifests.add(self.manifest())
        self.assertEqual(len(manifests), 1)
        self.check(rows)
        blank = [{**row, "prb_id": (" ", "\t")[i % 2]} if i % 10 == 0 else row
                 for i, row in enumerate(rows)]
        self.assertEqual(self.ingest(self.ndjson(blank))["rejected_reasons"],
                         {"probe_missing": 300})

    def test_rows_without_a_name(self):
        rows = pings(5, count=300)
        odd = [{**row, "prb_id": None} if i % 10 == 0 else row for i, row in enumerate(rows)]
        for path in (self.csv(odd), self.ndjson(odd),
                     self.ndjson([{key: value for key, value in row.items() if value is not None}
                                  for row in odd])):
            result = self.ingest(path)
            self.assertEqual(result["rejected_reasons"], {"probe_missing": 30})
            self.check([row for row in odd if row["prb_id"] is not None])
        bad = [{**row, "prb_id": [1]} if i % 10 == 0 else row for i, row in enumerate(rows)]
        self.assertEqual(self.ingest(self.ndjson(bad))["rejected_reasons"],
                         {"malformed_line": 30})
        # no more than 1024 bytes of a text are kept
        long = [{**row, "prb_id": "x" * (1024 + i % 2)} for i, row in enumerate(rows)]
        for path in (self.csv(long), self.ndjson(long)):
            self.assertEqual(self.ingest(path)["rejected_reasons"], {"malformed_line": 150})
            self.check(long[::2])

    def test_stacked_files(self):
        rows = pings(11, count=20)
        path = self.csv(rows[:10])
        with open(self.csv(rows[10:], ("prb_id",) + COLUMNS, "b.csv"), encoding="utf-8") as file:
            second = file.read()
        with open(path, "a", encoding="utf-8") as file:
            file.write(second)
        self.ingest(path)
        self.check(rows)
        with open(path, "a", encoding="utf-8") as file:
            file.write("event_time,src_addr,dst_addr,rtt,probe\n")
        self.assertIn("does not have all of the columns event_time, src_addr, dst_addr, prb_id "
                      "and rtt", self.ingest(path, status=1))

    def test_duplicates_and_packets(self):
        row = {"event_time": T0, "src_addr": "10.0.0.1", "dst_addr": "192.0.2.1", "rtt": 5,
               "prb_id": 1}
        other = {**row, "src_addr": "10.0.0.2"}
        path = self.csv([row, other, row, other, {**row, "prb_id": 2}])
        result = self.ingest(path, "--duplicates", "drop")
        self.assertEqual((result["duplicates"], result["duplicates_dropped"]), (2, 2))
        self.check([row, other, {**row, "prb_id": 2}])
        packets = {"type": "ping", "timestamp": T0, "from": "10.0.0.1", "dst_addr": "192.0.2.1",
                   "af": 4, "prb_id": 1, "result": [{"rtt": 5}, {"rtt": 5}, {"x": "*"}]}
        result = self.ingest(self.ndjson([packets, packets]), "--per-packet", "--duplicates",
                             "drop")
        self.assertEqual(result["duplicates"], 3)
        self.check([row, row, {**row, "rtt": -1}])

    def test_store_the_source_once(self):
        rows = [{**row, "src_addr": f"10.0.0.{row['prb_id']}", "dst_addr": "192.0.2.1"}
                for row in pings(6)]
        self.ingest(self.csv(rows), "--dictionary-src")
        self.check(rows)
        rows[7]["src_addr"] = "10.9.9.9"
        said = self.ingest(self.csv(rows), "--dictionary-src", status=2)
        self.assertIn(f'probe "{rows[7]["prb_id"]}" has measurements from "10.', said)
        self.assertIn("--dictionary-src", said)

    # ---- what is read

    def test_batches_have_each_measurement_s_source(self):
        options = ("--hash=rows", "--steps", "0:4", "--batch", "8")
        hashes = set()
        for compression in ("none", "zstd"):
            self.ingest(self.csv(pings(7)), "--compression", compression)
            train = os.path.join(self.out, "train")
            shards = sorted(os.path.join(train, name) for name in os.listdir(train))
            # as files of others they are read without what leat knows of a data set
            hashes.add(leat("batches", *shards, *options, status=0).stdout)
            for io in ("mmap", "pread") if compression == "none" else ("pread",):
                hashes.add(leat("batches", self.out, "--split", "train", "--io", io, *options,
                                status=0).stdout)
        self.assertEqual(len(hashes), 1)

    def test_pages_and_lists(self):
        rows = pings(8)
        self.ingest(self.csv(rows))
        told = json.loads(leat("inspect", self.out, "--json", status=0).stdout)
        self.assertEqual(told["probe"], "prb_id")
        self.assertIn('probes       by "prb_id"', leat("inspect", self.out, status=0).stdout)
        found = leat("cat", self.out, "--src", "192.168.1.2", "--format", "csv", status=0).stdout
        self.assertEqual(len(list(csv.DictReader(found.splitlines()))),
                         sum(row["src_addr"] == "192.168.1.2" for row in rows))
        self.assertIn("no row has the source",
                      leat("cat", self.out, "--src", "7", status=1).stderr)

    # ---- what is refused

    def test_refusals(self):
        path = self.csv(pings(9, count=10))
        for name in ("src_addr", "rtt"):
            self.assertIn(f"--probe {name}: that column is read as {name}",
                          self.ingest(path, probe=name, status=2))
        self.assertIn('has no column "nobody"', self.ingest(path, probe="nobody", status=1))
        self.assertIn("probe_missing: 10",
                      self.ingest(self.ndjson(pings(9, count=10)), probe="nobody", status=1))

    def test_address_is_the_default(self):
        path = self.csv(pings(10))
        self.ingest(path, probe="address")
        named = self.manifest()
        leat("ingest", "probes", path, "-o", self.out, "--replace", status=0)
        self.assertEqual(self.manifest(), named)
        self.assertNotIn('"probe"', named)
        said = leat("ingest", "probes", path, "-o", self.out, "--resume", "--probe", "prb_id",
                    status=1).stderr
        self.assertIn("holds a complete data set; use --replace", said)



if __name__ == "__main__":
    unittest.main()
