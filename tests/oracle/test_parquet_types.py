"""Columns of Parquet files in types that leat refuses, or that DuckDB takes for other numbers: the
line that leat prints makes a file with the values that PyArrow reads in the first one.

Needs scripts/python-env.sh; skipped, with a line that says so, where it could not be made.
"""
import datetime
import decimal
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

try:
    import duckdb  # noqa: F401
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:
    print(f"skipped: {error} (scripts/python-env.sh makes the environment)")
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "tests", "cli"))
import parquet_file as parquet  # noqa: E402
from command import leat  # noqa: E402

T0 = 1700000000
RTTS = (1.75, None, 250.5)
UTC = datetime.timezone.utc
NAMES = ("a.parquet", "it's [1] of \"$HOME\" `x` & 50% a=b.parquet", "-a.pq")


def decimals(values, digits, scale):
    """Texts or numbers as Arrow's decimals."""
    places = decimal.Decimal(1).scaleb(-scale)
    with decimal.localcontext() as context:
        context.prec = 76
        found = [None if each is None else decimal.Decimal(str(each)).quantize(places)
                 for each in values]
        return pa.array(found, (pa.decimal256 if digits > 38 else pa.decimal128)(digits, scale))


def texts_of(values, kind):
    return pa.array([None if each is None else str(each) for each in values]).cast(kind)


DAYS = [datetime.date(2023, 11, day) for day in (14, 15, 16)]
#: column, its values in the file, what DuckDB makes of them; None: it is read as it is
TYPES = (
    ("rtt", decimals(RTTS, 39, 3), "DECIMAL(39,3), which DuckDB misreads as DOUBLE"),
    ("rtt", decimals(RTTS, 76, 12), "DECIMAL(76,12), which DuckDB misreads as DOUBLE"),
    ("rtt", decimals(RTTS, 38, 3), "DECIMAL(38,3), must be"),
    ("rtt", pa.array(RTTS, pa.float16()), None),
    ("rtt", pa.array([2**64 - 1, None, 7], pa.uint64()), "UBIGINT, must be"),
    ("rtt", pa.array([2**32 - 1, None, 7], pa.duration("us")), "BIGINT, must be"),
    ("rtt", texts_of(RTTS, pa.string()), "VARCHAR, must be"),
    ("rtt", texts_of(RTTS, pa.binary()), "VARCHAR, must be"),
    ("event_time", decimals([T0 + each / 8 for each in range(3)], 50, 6),
     "DECIMAL(50,6), which DuckDB misreads as DOUBLE"),
    ("event_time", decimals([T0 + each / 8 for each in range(3)], 20, 6), "DECIMAL(20,6), must"),
    ("event_time", pa.array(DAYS, pa.date32()), "DATE, must be"),
    ("event_time", texts_of([f"2023-11-14T22:13:2{each}.5{zone}" for each, zone in
                             enumerate(("Z", "+02:00", "-0730"))], pa.string()), "VARCHAR, must"),
    ("event_time", texts_of([f"2023-11-14 22:13:2{each}" for each in range(3)], pa.binary()),
     "VARCHAR, must be"),
    ("event_time", pa.array([T0 * 10**9 + each for each in (0, 999, 1001)],
                            pa.timestamp("ns", "UTC")), None),
    ("ip_version", decimals([4] * 3, 60, 0), "DECIMAL(60,0), which DuckDB misreads as DOUBLE"),
)


def microseconds(value):
    """What a time in a file means, by PyArrow's value of it."""
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, str):
        value = datetime.datetime.fromisoformat(value)
    if isinstance(value, decimal.Decimal):
        return int(value * 10**6)
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    value = value if value.tzinfo else value.replace(tzinfo=UTC)
    return (value - datetime.datetime.fromtimestamp(0, UTC)) // datetime.timedelta(microseconds=1)


def single(value):
    """The nearest number of 32 bits."""
    return struct.unpack("<f", struct.pack("<f", float(value)))[0]


class Types(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="leat-types-"))
        self.bin = os.path.join(self.folder, "bin")
        os.mkdir(self.bin)
        run = "import sys,duckdb; sys.argv[1]!='-c' or duckdb.connect().execute(sys.argv[2])"
        for name, words in (("duckdb", f'-c "{run}" "$@"'), ("python3", '"$@"')):
            path = os.path.join(self.bin, name)
            with open(path, "w", encoding="ascii") as file:
                file.write(f"#!/bin/sh\nexec '{sys.executable}' {words}\n")
            os.chmod(path, 0o755)

    def ingest(self, name, *options, status=0):
        done = leat("ingest", "probes", f"./{name}", "-o", "data", "--replace", *options,
                    status=status, cwd=self.folder)
        return done.stderr if status else self.rows()

    def rows(self):
        """(microseconds, rtt) of every measurement, by its source, which has its number."""
        done = leat("cat", "data", "--format", "ndjson", status=0, cwd=self.folder)
        found = {}
        for line in done.stdout.splitlines():
            each = json.loads(line)
            found[int(each["src_addr"].rpartition(".")[2])] = (
                microseconds(each["event_time"]), single(each["rtt"]))
        return [found[number] for number in sorted(found)]

    def table(self, column, values):
        columns = {"event_time": pa.array([T0, T0 + 1, T0 + 2]),
                   "src_addr": pa.array([f"192.0.2.{each}" for each in range(3)]),
                   "dst_addr": pa.array(["198.51.100.1"] * 3), "rtt": pa.array([1.0, None, 2.5])}
        return pa.table({**columns, column: values})

    def wanted(self, table):
        times, rtts = table["event_time"], table["rtt"]
        times = ([int(each) * 10**6 for each in times.to_pylist()] if times.type == pa.int64() else
                 [each // 1000 for each in times.cast("int64").to_pylist()]
                 if times.type == pa.timestamp("ns", "UTC") else
                 [microseconds(each) for each in times.to_pylist()])
        if pa.types.is_duration(rtts.type):
            rtts = rtts.cast("int64")
        rtts = [-1.0 if each is None else single(each) for each in rtts.to_pylist()]
        return list(zip(times, rtts))

    def convert(self, said):
        """Runs the line that a refusal ends with."""
        line = said.rstrip("\n").partition("; convert it")[2].partition(": ")[2]
        self.assertTrue(line.startswith(("duckdb -c ", "python3 -c ")), said)
        subprocess.run(["bash", "-c", line], check=True, cwd=self.folder, timeout=600,
                       env={**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "TZ": "CET"})
        return "converted.parquet"

    def test_types(self):
        for number, (column, values, words) in enumerate(TYPES):
            name = NAMES[number % len(NAMES)]
            table = self.table(column, values)
            pq.write_table(table, os.path.join(self.folder, name))
            with self.subTest(column=column, type=values.type):
                if words is not None:
                    said = self.ingest(name, status=1)
                    self.assertIn(f'{name}": column "{column}" is {words}', said)
                    name = self.convert(said)
                self.assertEqual(self.ingest(name), self.wanted(table))

    def test_logical_types_alone(self):
        """Without a converted type, DuckDB reads what the values are stored as."""
        def column(name, kind, values, logical):
            found = parquet.numbers(name, values)
            if kind == parquet.INT32:
                found = parquet.Column(name, kind, [parquet.PLAIN, parquet.RLE], [
                    parquet.data_page(3, parquet.PLAIN, struct.pack("<3i", *values))])
            found.annotations = [(10, 12, logical)]
            return found
        thrift = parquet.struct_of
        long = thrift((5, 12, thrift((1, 5, 3), (2, 5, 18))))
        date = thrift((6, 12, b"\0"))
        unsigned = thrift((10, 12, thrift((1, 3, b"\x20"), (2, 2, b""))))
        for name, kind, values, logical, words in (
                ("rtt", parquet.INT64, (1750, 5, 250500), long, "DECIMAL(18,3), which DuckDB "
                 "misreads as BIGINT"),
                ("rtt", parquet.INT32, (-2, 5, 6), unsigned, "UNSIGNED INTEGER, which DuckDB "
                 "misreads as INTEGER"),
                ("event_time", parquet.INT64, (T0 * 1000 + 250,) * 3, long, "DECIMAL(18,3)"),
                ("event_time", parquet.INT32, (19675, 19676, 19677), date, "DATE, which DuckDB "
                 "misreads as INTEGER")):
            columns = {"event_time": parquet.numbers("event_time", [T0] * 3),
                       "src_addr": parquet.texts("src_addr", [b"192.0.2.%d" % each
                                                              for each in range(3)]),
                       "dst_addr": parquet.texts("dst_addr", [b"198.51.100.1"] * 3),
                       "rtt": parquet.floats("rtt", [1, 2, 3]),
                       name: column(name, kind, values, logical)}
            path = os.path.join(self.folder, "a.parquet")
            parquet.write(path, list(columns.values()), 3)
            with self.subTest(name=name, words=words):
                said = self.ingest("a.parquet", status=1)
                self.assertIn(f'column "{name}" is {words}', said)
                self.assertEqual(self.ingest(self.convert(said)), self.wanted(pq.read_table(path)))

    def test_numbers_in_other_types(self):
        """Texts that are numbers or empty, and decimals of any unit."""
        plain = self.table("rtt", pa.array([1.5, None, 2.5]))
        pq.write_table(plain, os.path.join(self.folder, "plain.parquet"))
        wanted = self.ingest("plain.parquet")
        times = [(T0 + each) * 1000 for each in range(3)]
        for column, values in (
                ("event_time", decimals(times, 20, 0)), ("event_time", decimals(times, 50, 0)),
                ("event_time", texts_of(times, pa.string())),
                ("rtt", pa.array(["1.5", "", "2.5"])), ("ip_version", pa.array(["4"] * 3)),
                ("ip_version", decimals([4] * 3, 9, 0))):
            columns = dict(zip(plain.column_names, plain.columns))
            pq.write_table(pa.table({**columns, column: values}),
                           os.path.join(self.folder, "a.parquet"))
            with self.subTest(column=column, type=values.type):
                said = self.ingest("a.parquet", status=1)
                if column == "event_time" and values.type == pa.string():
                    old, new = "::TIMESTAMPTZ", "::BIGINT"
                    self.assertIn(f"(if the texts are numbers, with {new} for {old})", said)
                    said = said.replace(f"event_time{old}", f"event_time{new}")
                self.assertEqual(self.ingest(self.convert(said)), wanted)

    def test_names(self):
        """Any name of a column; a path that leaves no room, or that a terminal does not show."""
        values = texts_of([f"2023-11-14T22:13:20+0{each}" for each in range(3)], pa.string())
        for name in ("when", "it's \"$a\""):
            table = self.table("event_time", values).rename_columns(
                [name, "src_addr", "dst_addr", "rtt"])
            pq.write_table(table, os.path.join(self.folder, "a.parquet"))
            options = ("--column", f"event_time={name}")
            made = self.convert(self.ingest("a.parquet", *options, status=1))
            self.assertEqual(self.ingest(made, *options),
                             self.wanted(self.table("event_time", values)))
        for name in ("a" * 240, "a\nb"):
            for values in (decimals(RTTS, 50, 3), texts_of(RTTS, pa.string())):
                table = self.table("rtt", values)
                pq.write_table(table, os.path.join(self.folder, name))
                said = self.ingest(name, status=1)
                self.assertRegex(said, r"\(replace FILE by its path\): .*FILE")
                os.rename(os.path.join(self.folder, name), os.path.join(self.folder, "FILE"))
                self.assertEqual(self.ingest(self.convert(said)), self.wanted(table))

    def test_another_column_that_is_misread(self):
        """DuckDB would write its wrong values."""
        table = self.table("event_time", texts_of(DAYS, pa.string()))
        path = os.path.join(self.folder, "a.parquet")
        pq.write_table(table.append_column("more", decimals(RTTS, 50, 3)), path)
        said = self.ingest("a.parquet", status=1)
        self.assertIn('"event_time" is VARCHAR', said)
        self.assertNotIn("convert it", said)


if __name__ == "__main__":
    unittest.main()
