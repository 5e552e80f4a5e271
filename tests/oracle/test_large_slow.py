"""The promise of --memory where a file gives the least room to keep it: Parquet with one row group,
and with one page a column; and one source with all measurements. Within each limit that is accepted
the peak of the process stays below it, nothing is lost, measurements are in order, and the bytes
are the same for every limit and number of threads. What is refused names what is needed.

LEAT_LARGE_ROWS in the environment: how many rows, instead of 400,000. Needs scripts/python-env.sh;
skipped, with a line that says so, where it could not be made.
"""
# Alone: the resident set depends on what the system has left for it.
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet
    from array_record.python.array_record_module import ArrayRecordReader
except ImportError as error:
    print(f"skipped: {error} (scripts/python-env.sh makes the environment)")
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LEAT = os.environ.get("LEAT", os.path.join(ROOT, "build", "leat"))
ROWS = int(os.environ.get("LEAT_LARGE_ROWS", "400000"))
MIB = 1 << 20


def digest(times, rtts, targets):
    return hashlib.sha256(times.astype("<i8").tobytes() + rtts.astype("<f4").tobytes() +
                          targets.astype("<i4").tobytes()).hexdigest()


class Large(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="leat-large-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.draw = numpy.random.default_rng(4)

    def table(self, probes):
        """Times in no order, some of them equal; and what must come out of a single probe."""
        times = self.draw.integers(1600000000, 1600000000 + 4 * ROWS, ROWS)
        source = self.draw.integers(0, probes, ROWS, dtype=numpy.int32)
        target = self.draw.integers(0, 900, ROWS, dtype=numpy.int32)
        rtt = numpy.round(self.draw.lognormal(3.9, .8, ROWS), 3)
        rtt[self.draw.random(ROWS) < .05] = -1
        # in the order of their texts, as measurements of one time are
        texts = pa.array([f"198.51.1{i // 90}.1{i % 90:02}" for i in range(900)])
        sources = pa.array([f"192.0.{i // 250}.{i % 250}" for i in range(probes)])
        order = numpy.lexsort((rtt.astype(numpy.float32), target, times))
        self.expected = digest(times[order] * 1000000, rtt[order], target[order])
        return pa.table({
            "event_time": pa.array(times),
            "src_addr": pa.DictionaryArray.from_arrays(source, sources).cast(pa.string()),
            "dst_addr": pa.DictionaryArray.from_arrays(target, texts).cast(pa.string()),
            "rtt": pa.array(rtt)})

    def write_parquet(self, name, probes, **options):
        path = os.path.join(self.folder, name)
        table = self.table(probes)
        times = table["event_time"].cast(pa.timestamp("s")).cast(pa.timestamp("us"))
        pa.parquet.write_table(table.set_column(0, "event_time", times), path,
                               row_group_size=ROWS, **options)
        self.assertEqual(pa.parquet.ParquetFile(path).metadata.num_row_groups, 1)
        return path

    def ingest(self, path, memory, *words):
        """The limit that was enough, and the hash of the data set."""
        out = os.path.join(self.folder, "data")
        for _ in range(4):
            shutil.rmtree(out, ignore_errors=True)
            done = subprocess.run([LEAT, "ingest", "probes", path, "-o", out, "--json", "--memory",
                                   f"{memory}M", "--train-ratio", "0.5", *words],
                                  capture_output=True, text=True, timeout=500, check=False)
            if done.returncode == 0:
                break
            named = re.search(r"at least (\d+) MiB", done.stderr)
            self.assertIsNotNone(named, done.stderr)
            self.assertGreater(int(named.group(1)), memory)
            memory = int(named.group(1))
        self.assertEqual((done.returncode, done.stderr), (0, ""), (path, memory, words))
        found = json.loads(done.stdout)
        self.assertEqual((found["records"], found["measurements"]), (ROWS, ROWS))
        self.assertLessEqual(found["memory_peak_bytes"], memory * MIB, (path, memory, words))
        print(f"  {os.path.basename(path)}, {memory} MiB {' '.join(words)}: peak "
              f"{found['memory_peak_bytes'] / MIB:.1f} MiB, {found['seconds']:.1f} s")
        data = hashlib.sha256()
        for name in ["manifest.json", "index.bin", *sorted(glob.glob("t*/*", root_dir=out))]:
            with open(os.path.join(out, name), "rb") as file:
                data.update(file.read())
        return memory, data.hexdigest()

    def measurements(self):
        """All of the data set, in its order."""
        parts = []
        for path in sorted(glob.glob(os.path.join(self.folder, "data", "t*", "*.arrayrecord"))):
            for record in ArrayRecordReader(path).read_all():
                row = pa.ipc.open_stream(record).read_all()
                inner = pa.ipc.open_stream(row["measurements"][0].as_buffer()).read_all()
                texts = inner["dst_addr"].combine_chunks().dictionary_encode()
                numbers = [int(text.split(".")[2][1:]) * 90 + int(text.split(".")[3][1:])
                           for text in texts.dictionary.to_pylist()]
                parts.append((inner["event_time"].cast(pa.int64()).to_numpy(),
                              inner["rtt"].to_numpy(),
                              numpy.array(numpy.array(numbers)[texts.indices.to_numpy()])))
        return [numpy.concatenate([part[i] for part in parts]) for i in range(3)]

    def test_one_row_group(self):
        path = self.write_parquet("group.parquet", 3000)
        found = [self.ingest(path, memory, *words) for memory, words in (
            (48, ()), (128, ("--threads", "8")), (512, ("--threads", "1")))]
        self.assertLess(found[0][0], 128) # its pages are small
        self.assertEqual(len({data for _, data in found}), 1)

    def test_one_page(self):
        path = self.write_parquet("page.parquet", 3000, use_dictionary=False, compression="zstd",
                                  data_page_size=1 << 30, write_batch_size=ROWS,
                                  max_rows_per_page=ROWS)
        least, data = self.ingest(path, 48)
        self.assertGreater(least, 48) # a page must fit
        self.assertEqual(self.ingest(path, 1024, "--threads", "3")[1], data)

    def test_one_probe(self):
        csv = os.path.join(self.folder, "probe.csv")
        pa.csv.write_csv(self.table(1), csv, pa.csv.WriteOptions(quoting_style="none"))
        for rows in ((), ("--max-row-size", "none")):
            found = set()
            for memory, words in ((48, ()), (64, ("--threads", "8")), (512, ("--threads", "3"))):
                found.add(self.ingest(csv, memory, *rows, *words)[1])
                self.assertEqual(digest(*self.measurements()), self.expected)
            self.assertEqual(len(found), 1)


if __name__ == "__main__":
    if not os.access(LEAT, os.X_OK):
        print(f"skipped: {LEAT} is not built")
        sys.exit(77)
    if os.environ.get("LEAT_SANITIZE"):
        print("skipped: a sanitizer takes memory of its own")
        sys.exit(77)
    unittest.main()
