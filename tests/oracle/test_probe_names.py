"""leat ingest probes --probe on Parquet files of PyArrow: every type that a name may have gives the
bytes of the same names in CSV.

Runs the command named by LEAT (default: build/leat).
"""
import os
import sys
import tempfile
import unittest

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:
    print(f"skipped: {error} (scripts/python-env.sh makes the environment)")
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "tests", "cli"))
from command import leat  # noqa: E402

COUNT = 5000


class ProbeNames(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = os.path.join(self.folder.name, "data")
        self.columns = {
            "event_time": pa.array([1600000000 + i for i in range(COUNT)], pa.int64()),
            "src_addr": pa.array([f"10.0.{i % 7}.{i % 11}" for i in range(COUNT)]),
            "dst_addr": pa.array([f"192.0.2.{i % 13}" for i in range(COUNT)]),
            "rtt": pa.array([i % 17 + 0.5 for i in range(COUNT)], pa.float64()),
        }

    def ingest(self, path, status=0):
        done = leat("ingest", "probes", path, "-o", self.out, "--replace", "--probe", "who",
                    status=status)
        if status != 0:
            return done.stderr
        leat("inspect", self.out, "--verify", status=0)
        with open(os.path.join(self.out, "manifest.json"), encoding="utf-8") as file:
            return file.read()

    def parquet(self, names, **more):
        path = os.path.join(self.folder.name, "a.parquet")
        pq.write_table(pa.table({**self.columns, **more, "who": names}), path,
                       row_group_size=1000)
        return path

    def csv(self, names):
        path = os.path.join(self.folder.name, "a.csv")
        lines = zip(*(column.to_pylist() for column in self.columns.values()), names)
        with open(path, "w", encoding="utf-8") as file:
            file.write("event_time,src_addr,dst_addr,rtt,who\n")
            file.writelines(",".join(map(str, line)) + "\n" for line in lines)
        return path

    def test_types(self):
        numbers = [i * i % 23 for i in range(COUNT)]
        want = self.ingest(self.csv(numbers))
        for kind in (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(),
                     pa.int64(), pa.uint64(), pa.float32(), pa.float64()):
            self.assertEqual(self.ingest(self.parquet(pa.array(numbers, kind))), want)
        texts = pa.array([str(number) for number in numbers])
        for names in (texts, texts.dictionary_encode(), texts.cast(pa.large_string()),
                      texts.cast(pa.binary())):
            self.assertEqual(self.ingest(self.parquet(names)), want)
        version = pa.array([4] * COUNT, pa.int8())
        self.assertEqual(self.ingest(self.parquet(texts, ip_version=version)), want)

    def test_numbers_of_atlas(self):
        """Beside the address, they are compared with it, whatever their type."""
        numbers = [i % 3 for i in range(COUNT)]
        said = set()
        for kind in (pa.int16(), pa.uint64(), pa.float32(), pa.float64()):
            path = self.parquet(pa.array(numbers), prb_id=pa.array(numbers, kind))
            done = leat("ingest", "probes", path, "-o", self.out, "--replace", "--threads",
                        len(said) + 1, status=0)
            said.add(done.stderr)
        path = self.csv(numbers)
        with open(path, encoding="utf-8") as file:
            text = file.read().replace("rtt,who", "rtt,prb_id", 1)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        said.add(leat("ingest", "probes", path, "-o", self.out, "--replace", status=0).stderr)
        self.assertEqual(len(said), 1)
        self.assertIn("of 2 probes (prb_id) with 77 addresses", said.pop())
        for odd, says in ((["7"] * COUNT, "of 1 probe (prb_id) with 77 addresses"),
                          ([0.5, None, float("nan"), -7, 1e300] * (COUNT // 5), "")):
            path = self.parquet(pa.array(numbers), prb_id=pa.array(odd))
            done = leat("ingest", "probes", path, "-o", self.out, "--replace", status=0)
            self.assertIn(says, done.stderr)
            self.assertEqual(done.stderr == "", says == "")

    def test_real_numbers(self):
        """Numbers with a fraction are names by their text, as in CSV; NaN is no name."""
        numbers = [(7, 7.5, 100000.0, 3e16)[i % 4] for i in range(COUNT)]
        want = self.ingest(self.csv(numbers))
        self.assertEqual(self.ingest(self.parquet(pa.array(numbers, pa.float64()))), want)
        large = ["7", "7.5", "1e+05", "3e+16"]  # as R writes them
        self.assertEqual(self.ingest(self.csv([large[i % 4] for i in range(COUNT)])), want)
        self.assertEqual(self.probes(), 4)
        none = pa.array([float("nan") if i % 5 == 0 else i % 3 for i in range(COUNT)])
        said = leat("ingest", "probes", self.parquet(none), "-o", self.out, "--replace", "--probe",
                    "who", status=0).stdout
        self.assertIn("rejected: 1,000 probe_missing", said)

    def test_names_that_duckdb_cannot_represent(self):
        names = [b"\xff\xfe", "\u00e9".encode(), b"plain", b"x" * 100]
        names = pa.array([names[i % 4] for i in range(COUNT)], pa.binary())
        plain = pa.array([b"abcd"[i % 4:i % 4 + 1].decode() for i in range(COUNT)])
        self.ingest(self.parquet(plain))
        self.assertEqual(self.probes(), 4)
        # a file with a text that is not UTF-8 is read in its plain form, names included
        self.ingest(self.parquet(names))
        self.assertEqual(self.probes(), 4)

    def test_long_names(self):
        names = ["x" * 1024, "x" * 1025, "\u00e9" * 512, "\u00e9" * 513, "x" * 5000]
        names = pa.array([names[i % 5] for i in range(COUNT)])
        said = leat("ingest", "probes", self.parquet(names), "-o", self.out, "--replace",
                    "--probe", "who", status=0).stdout
        self.assertIn("rejected: 3,000 malformed_line", said)
        self.assertEqual(self.probes(), 2)

    def probes(self):
        text = leat("cat", self.out, "--format", "words", status=0).stdout
        return len({line.split()[3] for line in text.splitlines() if line.startswith("row ")})

    def test_refused_and_missing(self):
        for names, word in ((pa.array([[1]] * COUNT), "INTEGER[]"),
                            (pa.array([True] * COUNT), "BOOLEAN")):
            said = self.ingest(self.parquet(names), status=1)
            self.assertIn('column "who" is ', said)
            self.assertIn("must be text, a number or a UUID", said)
        none = pa.array([None if i % 5 == 0 else i % 3 for i in range(COUNT)], pa.int32())
        said = leat("ingest", "probes", self.parquet(none), "-o", self.out, "--replace", "--probe",
                    "who", status=0).stdout
        self.assertIn("rejected: 1,000 probe_missing", said)


if __name__ == "__main__":
    unittest.main()
