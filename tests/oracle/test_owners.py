"""Files of leat in the hands of those who own the formats, and theirs in leat's.

array_record is Google's reader and writer, PyArrow that of Arrow, DuckDB answers what is in the raw
file. Needs scripts/python-env.sh; skipped, with a line that says so, where it could not be made.
"""
import csv
import datetime
import glob
import hashlib
import io
import json
import os
import sys
import tempfile
import unittest

try:
    import duckdb
    import pyarrow as pa
    from array_record.python.array_record_module import ArrayRecordReader, ArrayRecordWriter
except ImportError as error:
    print(f"skipped: {error} (scripts/python-env.sh makes the environment)")
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "tests", "cli"))
import command  # noqa: E402

MEASUREMENTS = 30000
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def leat(*words):
    return command.leat(*words, status=0).stdout


def read_records(path):
    reader = ArrayRecordReader(path)
    if not reader.ok():
        raise AssertionError(f"array_record cannot open {path}")
    return reader.read(0, reader.num_records()) if reader.num_records() else []


def open_stream(data):
    return pa.ipc.open_stream(data).read_all()


def as_rows(table):
    """(us, src, dst, version, rtt) of each row; a failed measurement's rtt is None."""
    names = ("event_time", "src_addr", "dst_addr", "ip_version", "rtt")
    table = table.set_column(0, "event_time", table["event_time"].cast(pa.timestamp("us")))
    columns = [table["event_time"].cast(pa.int64()).to_pylist()]
    columns += [table[name].to_pylist() for name in names[1:]]
    return [(us, src, dst, version, None if rtt is None or rtt < 0 else rtt)
            for us, src, dst, version, rtt in zip(*columns)]


def src_id(text):
    return int(hashlib.md5(text.encode()).hexdigest()[:15], 16)


def sort_key(row):
    return tuple((value is not None, value) for value in row)


class LeatToOwners(unittest.TestCase):
    CASES = [
        [],
        ["--dictionary-src"],
        ["--compression", "zstd:7"],
        ["--compression", "brotli"],
        ["--compression", "snappy", "--dictionary-src"],
        ["--max-row-size", "4K", "--probes-per-shard", "7", "--split", "ordered"],
    ]

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.raw = os.path.join(cls.folder, "raw.parquet")
        leat("synth", "probes", "--measurements", str(MEASUREMENTS), "-o", cls.raw)
        duckdb.sql("SET TimeZone = 'UTC'")
        rows = duckdb.sql(
            "SELECT epoch_us(event_time), src_addr, dst_addr, ip_version, "
            f"CASE WHEN rtt >= 0 THEN rtt::FLOAT END FROM '{cls.raw}'").fetchall()
        cls.expected = sorted(rows, key=sort_key)

    def test_every_record(self):
        self.assertEqual(len(self.expected), MEASUREMENTS)
        for number, options in enumerate(self.CASES):
            with self.subTest(options=options):
                out = os.path.join(self.folder, f"probes{number}")
                leat("ingest", "probes", self.raw, "-o", out, *options)
                found, sources = [], {"train": set(), "test": set()}
                for split, seen in sources.items():
                    for path in sorted(glob.glob(f"{out}/{split}/*.arrayrecord")):
                        for record in read_records(path):
                            rows = self.check_record(record)
                            seen.add(rows[0][1])
                            found += rows
                self.assertEqual(sorted(found, key=sort_key), self.expected)
                self.assertTrue(sources["train"] and sources["test"])
                self.assertFalse(sources["train"] & sources["test"], "a probe in both splits")

    def check_record(self, record):
        outer = open_stream(record)
        self.assertEqual(outer.num_rows, 1)
        row = outer.to_pylist()[0]
        table = open_stream(row["measurements"])
        table.validate(full=True)
        rows = as_rows(table)
        times = [us for us, *_ in rows]
        self.assertEqual(times, sorted(times))
        self.assertEqual({src for _, src, *_ in rows}, {rows[0][1]})
        self.assertEqual(row["src_id"], src_id(rows[0][1]))
        self.assertEqual(row["n_measurements"], len(rows))
        self.assertEqual(row["time_span_seconds"], (times[-1] - times[0]) / 1e6)
        ends = [outer[name].cast(pa.int64())[0].as_py()
                for name in ("first_timestamp", "last_timestamp")]
        self.assertEqual(ends, [times[0], times[-1]])
        return rows


class OwnersToLeat(unittest.TestCase):
    # (options of array_record's writer, of Arrow's inner stream, its columns' types, batch size)
    PLAIN = (pa.timestamp("us"), pa.string(), pa.string(), pa.int8(), pa.float32())
    WIDE = (pa.timestamp("ns"), pa.large_string(), pa.large_string(), pa.int64(), pa.float64())
    CASES = [
        ("group_size:1,uncompressed", None, PLAIN, 100000),
        ("group_size:1", None, PLAIN, 100000),
        ("group_size:5,zstd:3", "zstd", PLAIN, 100),
        ("group_size:3,brotli:4", "lz4", WIDE, 7),
        ("group_size:64,snappy", None,
         (pa.timestamp("ms", "UTC"), pa.dictionary(pa.int32(), pa.string()), pa.binary(),
          pa.uint16(), pa.float32()), 33),
        ("group_size:2,uncompressed", "zstd",
         (pa.timestamp("us"), pa.string_view(), pa.large_binary(), pa.int32(), pa.float64()), 50),
    ]

    @staticmethod
    def probe(index):
        """Measurements of one probe, every value one that all the types above can hold."""
        src = f"192.0.2.{index}" if index % 3 else f"2001:db8::{index:x}"
        dst = "198.51.100.%d" if index % 3 else "2001:db8:1::%x"
        return [((1556136000000 + 60000 * i + index) * 1000, src, dst % (i * 37 % 251 + 1),
                 4 if index % 3 else 6, None if i % 11 == 7 else (i * 13 % 4001) / 8)
                for i in range(1 + index * 9)]

    @staticmethod
    def record(rows, compression, types, batch_rows):
        names = ("event_time", "src_addr", "dst_addr", "ip_version", "rtt")
        columns = list(zip(*rows))
        columns[4] = [-1.0 if rtt is None else rtt for rtt in columns[4]]
        arrays = [pa.array(columns[0], pa.timestamp("us")).cast(types[0])]
        for values, kind in zip(columns[1:], types[1:]):
            if pa.types.is_dictionary(kind):
                arrays.append(pa.array(values).dictionary_encode().cast(kind))
            elif pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
                arrays.append(pa.array([text.encode() for text in values], kind))
            else:
                arrays.append(pa.array(values, kind))
        table = pa.Table.from_arrays(arrays, names)

        def stream(of, **options):
            out = io.BytesIO()
            settings = pa.ipc.IpcWriteOptions(compression=options.get("compression"))
            with pa.ipc.new_stream(out, of.schema, options=settings) as writer:
                writer.write_table(of, max_chunksize=options.get("rows"))
            return out.getvalue()
        first, last = rows[0][0], rows[-1][0]
        outer = pa.table({
            "src_id": pa.array([src_id(rows[0][1])], pa.int64()),
            "measurements": pa.array([stream(table, compression=compression, rows=batch_rows)],
                                     pa.binary()),
            "n_measurements": pa.array([len(rows)], pa.int32()),
            "time_span_seconds": pa.array([(last - first) / 1e6], pa.float64()),
            "first_timestamp": pa.array([first], pa.timestamp("us")),
            "last_timestamp": pa.array([last], pa.timestamp("us"))})
        return stream(outer)

    def test_every_measurement(self):
        probes = [self.probe(index) for index in range(1, 40)]
        expected = sorted((row for rows in probes for row in rows), key=sort_key)
        for number, (options, compression, types, batch_rows) in enumerate(self.CASES):
            with self.subTest(options=options, types=types), tempfile.TemporaryDirectory() as at:
                path = os.path.join(at, f"theirs{number}.arrayrecord")
                writer = ArrayRecordWriter(path, options)
                for rows in probes:
                    writer.write(self.record(rows, compression, types, batch_rows))
                writer.close()
                found = []
                for row in csv.DictReader(io.StringIO(leat("cat", path, "--format", "csv"))):
                    time = datetime.datetime.fromisoformat(row["event_time"]) - EPOCH
                    rtt = float(row["rtt"])
                    found.append((time // datetime.timedelta(microseconds=1), row["src_addr"],
                                  row["dst_addr"], int(row["ip_version"]),
                                  None if rtt < 0 else rtt))
                self.assertEqual(sorted(found, key=sort_key), expected)
                told = json.loads(leat("inspect", "--verify", "--json", path))
                self.assertIn("verification", told)


if __name__ == "__main__":
    unittest.main()
