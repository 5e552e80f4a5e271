"""A cell in error costs its row, not the run: Parquet with times out of range and addresses that
are not UTF-8.

Runs the command named by LEAT (default: build/leat).
"""
import json
import os
import shutil
import socket
import tempfile
import time
import unittest

import parquet_file as parquet
from command import leat
from held import Held

FIRST, GROUP, GROUPS = 1_600_000_000, 3000, 3
ROWS = GROUP * GROUPS
FAR = 1 << 62
HEAD = b"file,row,reason,event_time,src_addr,dst_addr,ip_version,rtt,line\n"
TICKS = {1: 1000, 2: 1_000_000, 3: 1_000_000_000}
INT96 = 4  # as a unit
DAY_0 = 2440588  # 1970 as a Julian day


def times_of(rows, cells, unit, statistics):
    if unit != INT96:
        return parquet.times("event_time", [cells.get(row, (FIRST + row) * TICKS[unit])
                                            for row in rows], unit, statistics)
    return parquet.int96("event_time", [
        cells.get(row, ((FIRST + row) % 86400 * TICKS[3], DAY_0 + (FIRST + row) // 86400))
        for row in rows])


def make(path, times=None, sources=None, targets=None, unit=1, statistics=False, drop=()):
    """Rows by number from 1; the given cells replace those of their rows; `drop` omits rows."""
    groups = []
    for group in range(GROUPS):
        rows = [row for row in range(group * GROUP + 1, (group + 1) * GROUP + 1)
                if row not in drop]
        groups.append(([
            times_of(rows, times or {}, unit, statistics),
            parquet.texts("src_addr", [(sources or {}).get(row, b"10.0.%d.1" % (row % 50))
                                       for row in rows]),
            parquet.texts("dst_addr", [(targets or {}).get(row, b"192.0.2.%d" % (row % 250))
                                       for row in rows]),
            parquet.floats("rtt", [row % 90 + 0.5 for row in rows])], len(rows)))
    parquet.write_groups(path, groups)


class Cells(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="leat-cells-")
        self.addCleanup(shutil.rmtree, self.folder)

    def at(self, *names):
        return os.path.join(self.folder, *names)

    def ingest(self, name, *flags, status=0, inputs=("a.parquet",)):
        done = leat("ingest", "probes", *inputs, "-o", name, "--json", *flags, cwd=self.folder,
                    status=status)
        return json.loads(done.stdout) if status == 0 else done.stderr

    def read(self, *names):
        with open(self.at(*names), "rb") as file:
            return file.read()

    def tree(self, name):
        """Everything that does not depend on the inputs' files."""
        found = {}
        for top, _, files in os.walk(self.at(name)):
            for each in files:
                if each not in ("run.json", "rejected.csv"):
                    path = os.path.join(top, each)
                    found[os.path.relpath(path, self.at(name))] = self.read(path)
        return found

    def shown(self, row, reason, when=None, src=None, dst=None):
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(FIRST + row)).encode()
        return b"a.parquet,%d,%s,%s,%s,%s,,%s,\n" % (
            row, reason, when or seconds, src or b"10.0.%d.1" % (row % 50),
            dst or b"192.0.2.%d" % (row % 250), b"%.1f" % (row % 90 + 0.5))

    def check(self, rejected, **cells):
        """The rest is ingested as if the rows were not there, whatever the threads."""
        bad = {row for each in ("times", "sources", "targets") for row in cells.get(each, {})}
        unit = cells.get("unit", 1)
        make(self.at("a.parquet"), **cells)
        make(self.at("good.parquet"), unit=unit, drop=bad)
        self.ingest("good", "--replace", inputs=("good.parquet",))
        self.assertEqual(len(rejected), len(bad))
        for threads in ("1", "2", "8"):
            result = self.ingest("out", "--replace", "--threads", threads)
            self.assertEqual((result["records"], result["measurements"]),
                             (ROWS, ROWS - len(bad)))
            self.assertEqual(self.read("out", "rejected.csv"), HEAD + b"".join(rejected))
            self.assertEqual(self.tree("out"), self.tree("good"))
        said = self.ingest("strict", "--strict", status=1)
        self.assertIn("a.parquet", said)
        self.assertFalse(os.path.exists(self.at("strict")))
        return said

    def test_a_time_out_of_range(self):
        row = GROUP + GROUP // 2
        for statistics in (False, True):
            said = self.check([self.shown(row, b"event_time_out_of_range", when=b"infinity")],
                              times={row: FAR}, statistics=statistics)
            self.assertIn(f"{row}", said)
            self.assertIn("event_time_out_of_range", said)

    def test_times_of_other_units(self):
        for unit, when in ((2, b"148108-07-06T14:00:27.387904Z"), (3, None)):
            rows = [self.shown(5, b"src_addr_unparsable", src=b"10.0.0.\xe9")]
            times = {}
            if when is not None:
                times = {GROUP: FAR}
                rows.append(self.shown(GROUP, b"event_time_out_of_range", when=when))
            self.check(rows, times=times, sources={5: b"10.0.0.\xe9"}, unit=unit)

    def test_times_of_96_bits(self):
        """INT96: DuckDB reads any of them, also beside addresses that it cannot read."""
        far = DAY_0 + 60_000_000
        self.check([self.shown(5, b"src_addr_unparsable", src=b"10.0.0.\xe9"),
                    self.shown(6, b"event_time_out_of_range", when=b"1969-12-31T00:00:00.000000Z"),
                    self.shown(GROUP, b"event_time_out_of_range",
                               when=b"166244-06-03T00:00:00.000000Z"),
                    self.shown(ROWS, b"event_time_out_of_range",
                               when=b"10000-01-01T00:00:00.000000Z")],
                   times={6: (0, DAY_0 - 1), GROUP: (0, far), ROWS: (0, DAY_0 + 2932897)},
                   sources={5: b"10.0.0.\xe9"}, unit=INT96)

    def test_addresses_that_are_not_utf8(self):
        self.check([self.shown(1, b"src_addr_unparsable", src=b"\xff\xfe"),
                    self.shown(GROUP, b"dst_addr_unparsable", dst=b"\xc3"),
                    self.shown(GROUP + 1, b"dst_addr_unparsable", dst=b"\x80" + b"x" * 1023),
                    self.shown(ROWS, b"dst_addr_unparsable", dst=b"192.0.2.1\xf0\x28")],
                   sources={1: b"\xff\xfe"},
                   targets={GROUP: b"\xc3", GROUP + 1: b"\x80" + b"x" * 3000,
                            ROWS: b"192.0.2.1\xf0\x28"})

    def test_several_kinds(self):
        for statistics in (False, True):
            self.check([self.shown(1, b"event_time_out_of_range", when=b"-infinity"),
                        self.shown(2000, b"src_addr_unparsable", src=b"\xff"),
                        self.shown(2001, b"event_time_out_of_range", when=b"infinity"),
                        self.shown(ROWS, b"dst_addr_unparsable", dst=b"\xff")],
                       times={1: -FAR, 2001: FAR}, sources={2000: b"\xff"},
                       targets={ROWS: b"\xff"}, statistics=statistics)

    def test_one_file_of_several(self):
        """The others are read once, whatever part of them was read before the query failed."""
        for name in ("b", "c", "d"):
            make(self.at(f"{name}.parquet"))
        make(self.at("a.parquet"), targets={4000: b"\xff"})
        make(self.at("e.parquet"), times={4000: FAR}, statistics=True)
        inputs = [f"{name}.parquet" for name in "abcde"]
        trees = []
        for threads in ("1", "2", "8"):
            result = self.ingest("out", "--replace", "--threads", threads, inputs=inputs)
            self.assertEqual((result["records"], result["measurements"]),
                             (5 * ROWS, 5 * ROWS - 2))
            trees.append((self.tree("out"), self.read("out", "rejected.csv")))
        self.assertEqual(trees[0], trees[1])
        self.assertEqual(trees[0], trees[2])

    def test_resume(self):
        """A run that was killed, with a copy that it had no time to remove."""
        make(self.at("a.parquet"), times={4000: FAR}, sources={5000: b"\xff"})
        self.ingest("out")
        with Held(["ingest", "probes", "a.parquet", "-o", "killed", "--probes-per-shard", "1"],
                  self.at("killed", ".leat", "temp"), cwd=self.folder) as process:
            process.kill()
        shutil.copy(self.at("a.parquet"), self.at("killed", ".leat", "temp", "plain_0.parquet"))
        result = self.ingest("killed", "--probes-per-shard", "1", "--resume")
        self.assertEqual((result["records"], result["measurements"]), (ROWS, ROWS - 2))
        self.assertEqual(self.read("killed", "rejected.csv"), self.read("out", "rejected.csv"))
        self.assertFalse(os.path.exists(self.at("killed", ".leat")))


class Packed(unittest.TestCase):
    def test_bytes_of_addresses(self):
        """As databases store them: 4 or 16 bytes, as texts or blobs. What they are is said."""
        folder = tempfile.mkdtemp(prefix="leat-packed-")
        self.addCleanup(shutil.rmtree, folder)
        for sources, targets in ((["192.0.2.1"], ["198.51.100.1"]), (["192.47.2.1"], ["10.0.0.1"]),
                                 (["2001:db8::1"], ["2001:db8::2"]), (["2001:db8::3a"], ["::1"])):
            kind = socket.AF_INET6 if ":" in sources[0] else socket.AF_INET
            pair = [socket.inet_pton(kind, each[0]) for each in (sources, targets)]
            for blob in False, True:
                columns = [parquet.numbers("event_time", range(FIRST, FIRST + 3)),
                           parquet.texts("src_addr", [pair[0]] * 3),
                           parquet.texts("dst_addr", [pair[1]] * 3),
                           parquet.floats("rtt", [5] * 3)]
                if blob:
                    columns[1].annotations = columns[2].annotations = []
                parquet.write(os.path.join(folder, "a.parquet"), columns, 3)
                said = leat("ingest", "probes", "a.parquet", "-o", "data", cwd=folder,
                            status=1).stderr
                self.assertIn("it looks like the bytes of an address; write addresses as text",
                              said)
                self.assertIn('(src_addr_unparsable: 3); the first is row 1 of "a.parquet": "',
                              said)


class Nulls(unittest.TestCase):
    def test_columns_of_the_null_type(self):
        """Of a day on which nothing answered, pyarrow writes a column without a type."""
        folder = tempfile.mkdtemp(prefix="leat-nulls-")
        self.addCleanup(shutil.rmtree, folder)
        columns = {"event_time": parquet.numbers("event_time", range(FIRST, FIRST + 9)),
                   "src_addr": parquet.texts("src_addr", [b"192.0.2.1"] * 9),
                   "dst_addr": parquet.texts("dst_addr", [b"198.51.100.1"] * 9),
                   "rtt": parquet.floats("rtt", [5] * 9)}
        parquet.write(os.path.join(folder, "a.parquet"), list(columns.values()), 9)
        for name, reason in (("rtt", None), ("src_addr", "src_addr_missing"),
                             ("dst_addr", "dst_addr_missing"), ("event_time", "event_time_missing"),
                             ("ip_version", None)):
            parquet.write(os.path.join(folder, "b.parquet"), list(
                {**columns, name: parquet.nulls(name, 9)}.values()), 9)
            done = leat("ingest", "probes", "a.parquet", "b.parquet", "-o", "data", "--json",
                        "--replace", cwd=folder, status=0)
            result = json.loads(done.stdout)
            self.assertEqual(result["rejected_reasons"], {reason: 9} if reason else {}, name)
            rows = [json.loads(line)["rtt"] for line in leat(
                "cat", "data", "--format", "ndjson", cwd=folder, status=0).stdout.splitlines()]
            self.assertEqual(sorted(rows), [-1] * 9 * (name == "rtt") + [5] * 9 * (
                2 if name == "ip_version" else 1), name)


if __name__ == "__main__":
    unittest.main()
