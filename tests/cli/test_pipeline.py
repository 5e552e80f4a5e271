"""Measurements through the whole command: synth, ingest, cat, and back in.

Runs the command named by LEAT (default: build/leat). What cat writes must be what went in, and must
give the same data set when it is ingested again.
"""
# TSan: synthetic data and an ingest by all threads of the command.
import csv
import gzip
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

from command import LEAT, LIMIT, leat


def float32(value):
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return float("inf")


def digits_needed(value):
    """Significant digits of the shortest text that reads back as the same float32."""
    for digits in range(1, 10):
        text = f"{value:.{digits - 1}e}"
        if float32(float(text)) == value:
            return digits
    raise AssertionError(value)


class Pipeline(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="leat-pipeline-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def good(self, *words):
        done = leat(*words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def synth(self, name, *words):
        self.good("synth", "probes", "-n", "20000", "-p", "400", "--seed", "3", "-o",
                  self.path(name), *words)
        return self.path(name)

    def ingest(self, source, name, *words):
        text = self.good("ingest", "probes", source, "-o", self.path(name), "--json", *words)
        with open(self.path(name, "manifest.json"), encoding="ascii") as file:
            return json.loads(text), file.read()

    def test_cat_gives_back_what_went_in(self):
        source = self.synth("x.csv")
        summary, _ = self.ingest(source, "data")
        self.assertEqual(summary["records"], 20000)
        self.assertEqual(summary["measurements"] + summary["rejected"], summary["records"])
        self.assertEqual(sum(summary["probes"].values()), 400)
        with open(source, encoding="ascii", newline="") as file:
            wanted = [(*row[:4], float32(float(row[4]))) for row in list(csv.reader(file))[1:]]
        rows = list(csv.reader(self.good("cat", self.path("data"), "-f", "csv").splitlines()))
        self.assertEqual(rows[0], ["event_time", "src_addr", "dst_addr", "ip_version", "rtt"])
        found = [(*row[:4], float32(float(row[4]))) for row in rows[1:]]
        self.assertEqual(sorted(found), sorted(wanted))
        objects = [json.loads(line) for line in self.good("cat", self.path("data")).splitlines()]
        self.assertEqual([(o["event_time"], o["src_addr"], o["dst_addr"], str(o["ip_version"]),
                           float32(o["rtt"])) for o in objects], found)
        words = self.good("cat", self.path("data"), "-f", "words").splitlines()
        self.assertEqual(sum(line.startswith("row ") for line in words), 400)
        self.assertEqual(sum(line.endswith(" failed") for line in words),
                         sum(row[4] == -1 for row in found))

    def test_cat_can_be_ingested_again(self):
        _, manifest = self.ingest(self.synth("x.csv"), "data")
        for form, name in (("csv", "again.csv"), ("ndjson", "again.ndjson"),
                           ("ndjson", "again.ndjson.gz")):
            opener = gzip.open if name.endswith(".gz") else open
            with opener(self.path(name), "wt", encoding="ascii") as file:
                file.write(self.good("cat", self.path("data"), "-f", form))
            self.assertEqual(self.ingest(self.path(name), f"data-{name}")[1], manifest, name)

    def test_parquet_is_the_same(self):
        if "DuckDB" in leat("synth", "probes", "-n", "1", "-o", self.path("try.parquet")).stderr:
            self.skipTest("no DuckDB here")
        _, manifest = self.ingest(self.synth("x.csv"), "data")
        self.assertEqual(self.ingest(self.synth("x.parquet"), "data-file")[1], manifest)
        folder = self.synth("many", "--rows-per-file", "7000", "--threads", "2")
        self.assertEqual(len(os.listdir(folder)), 3)
        self.assertEqual(self.ingest(folder, "data-folder", "--threads", "1")[1], manifest)

    def test_cat_some_of_it(self):
        source = self.synth("x.csv")
        self.ingest(source, "data")
        data = self.path("data")
        whole = self.good("cat", data, "-f", "words")
        blocks = whole.split("row ")[1:]
        for rows, wanted in (("0:1", blocks[:1]), ("5:8", blocks[5:8]), ("398:", blocks[398:]),
                             ("5", blocks[5:6]), (":2", blocks[:2]), ("7:7", []), ("400:", []),
                             ("399:9999", blocks[399:])):
            self.assertEqual(self.good("cat", data, "-f", "words", "--rows", rows),
                             "".join("row " + block for block in wanted), rows)
        for rows in ("", "400", "a:b", "-1:3", "401:", "1:2:3", "5:2"):
            done = leat("cat", data, f"--rows={rows}")
            self.assertEqual((done.returncode, done.stdout), (2, ""), rows)
        lines = self.good("cat", data).splitlines()
        for source in (json.loads(lines[0])["src_addr"], json.loads(lines[-1])["src_addr"]):
            self.assertEqual(self.good("cat", data, "--src", source).splitlines(),
                             [line for line in lines if json.loads(line)["src_addr"] == source])
        done = leat("cat", data, "--src", "192.0.2.1")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("192.0.2.1", done.stderr)

    def test_reader_that_has_gone(self):
        self.ingest(self.synth("x.csv"), "data")
        with subprocess.Popen([LEAT, "cat", self.path("data")], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
            self.assertEqual(process.wait(timeout=LIMIT), 0)
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([LEAT, "cat", self.path("data")], stdout=full,
                                  stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Aleat: writing to stdout: No space left")

    def test_damage_is_told(self):
        self.ingest(self.synth("x.csv"), "data")
        shard = self.path("data", "train", "train_shard_00000.arrayrecord")
        whole = self.good("cat", shard).splitlines()
        with open(shard, "r+b") as file:
            at = file.seek(0, os.SEEK_END) // 2
            file.seek(at)
            byte = file.read(1)
            file.seek(at)
            file.write(bytes([byte[0] ^ 1]))
        for path in (self.path("data"), shard):
            done = leat("cat", path)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"\Aleat: .*train_shard_00000")
            lines = done.stdout.splitlines()
            self.assertEqual(lines, whole[:len(lines)]) # nothing wrong was handed out
            self.assertLess(len(lines), len(whole))

    def test_a_missing_shard_is_named(self):
        self.ingest(self.synth("x.csv"), "data")
        os.remove(self.path("data", "train", "train_shard_00000.arrayrecord"))
        for words in (("cat",), ("inspect",), ("batches",)):
            said = leat(*words, self.path("data"), status=1).stderr
            self.assertRegex(said, r'"train/train_shard_00000.arrayrecord", record \d+: the file '
                                   r'is missing from ".*data"; copy it there again')

    def test_floats_have_the_fewest_digits(self):
        rng = random.Random(5)
        values = [0.0, 1e-45, 1.17549435e-38, 3.4028235e38, 16777216.0, 302281.125, 0.1, 1 / 3]
        values += [rng.randrange(1, 10**9) / 1000 for _ in range(3000)]
        values += [struct.unpack("<f", struct.pack("<I", rng.randrange(1, 0x7f800000)))[0]
                   for _ in range(3000)]
        values = [float32(value) for value in values]
        with open(self.path("x.csv"), "w", encoding="ascii") as file:
            file.write("event_time,src_addr,dst_addr,rtt\n")
            for i, value in enumerate(values):
                file.write(f"{1700000000 + i},192.0.2.1,192.0.2.2,{value!r}\n")
        done = leat("ingest", "probes", self.path("x.csv"), "-o", self.path("data"))
        self.assertEqual(done.returncode, 0)
        self.assertIn("warning: ", done.stderr)  # of a median of minutes
        rows = list(csv.reader(self.good("cat", self.path("data"), "-f", "csv").splitlines()))[1:]
        self.assertEqual(len(rows), len(values))
        for row, value in zip(rows, values):
            self.assertEqual(float32(float(row[4])), value)
            mantissa = row[4].split("e")[0].replace(".", "").lstrip("0").rstrip("0")
            self.assertLessEqual(len(mantissa), digits_needed(value), (row[4], value))

    def test_rejected_rows(self):
        with open(self.path("x.csv"), "w", encoding="ascii") as file:
            file.write("event_time,src_addr,dst_addr,rtt\n"
                       "1700000000,192.0.2.1,192.0.2.2,5\n"
                       "1700000001,,192.0.2.2,5\n"
                       "1700000002,192.0.2.1,nowhere,5\n"
                       "1700000003,192.0.2.1,192.0.2.2,5\n")  # half of them: not yet a warning
        text = self.good("ingest", "probes", self.path("x.csv"), "-o", self.path("data"))
        self.assertRegex(text, r"read +4 records of 1 file = 2 written \+ 2 rejected")
        self.assertIn("rejected.csv", text)
        self.assertIn("1 probe in 1 row, 1 shard", text)
        text = self.good("ingest", "probes", self.path("x.csv"), "-o", self.path("data"),
                         "--resume")
        self.assertRegex(text, r"\nnothing to do: \S+data already holds the result")
        self.assertNotIn("memory", text)
        done = leat("ingest", "probes", self.path("x.csv"), "-o", self.path("strict"), "--strict")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"\Aleat: .*x\.csv")
        self.assertFalse(os.path.exists(self.path("strict", "manifest.json")))
        text = self.good("ingest", "probes", self.path("x.csv"), "-o", self.path("zero"),
                         "--zero-address")
        self.assertRegex(text, r"= 3 written \+ 1 rejected")

    def test_columns_with_other_names(self):
        with open(self.path("x.csv"), "w", encoding="ascii") as file:
            file.write("ts,src_addr,dst_addr,ms\n1700000000,192.0.2.1,192.0.2.2,5\n")
        self.good("ingest", "probes", self.path("x.csv"), "-o", self.path("data"), "--column",
                  "event_time=ts,rtt=ms")
        self.assertEqual(json.loads(self.good("cat", self.path("data")))["rtt"], 5)
        for names, says in (("event_time=ts,rtt=ms,ip_version=ms", "ip_version and rtt"),
                            ("event_time=rtt", "event_time and rtt would both be read from")):
            done = leat("ingest", "probes", self.path("x.csv"), "-o", self.path("twice"),
                        "--column", names)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(says, done.stderr)
            self.assertFalse(os.path.exists(self.path("twice")))

    def test_other_files_in_a_folder(self):
        for folder in ("raw", "raw/_temporary", "raw/.hidden"):
            os.mkdir(self.path(folder))
            for name in ("B.CSV", "b.zst"):
                with open(self.path(folder, name), "w", encoding="ascii") as file:
                    file.write("event_time,src_addr,dst_addr,rtt\n"
                               "1700000000,192.0.2.1,192.0.2.2,5\n")
        text = self.good("ingest", "probes", self.path("raw"), "-o", self.path("data"))
        self.assertIn("read    1 record of 1 file", text)
        others = [self.path("raw", "_temporary"), self.path("raw", "b.zst")]
        self.assertIn("not read: " + ", ".join(others) + "\n", text)
        result = json.loads(self.good("ingest", "probes", self.path("raw"), "-o", self.path("data"),
                                      "--resume", "--json"))
        self.assertEqual(result["not_read"], {"count": 2, "first": others})


if __name__ == "__main__":
    if not os.access(LEAT, os.X_OK):
        print(f"skipped: {LEAT} is not built")
        sys.exit(77)
    unittest.main()
