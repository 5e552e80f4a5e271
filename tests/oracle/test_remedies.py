"""Lines that leat ingest probes prints as remedies: each is run by a shell, with duckdb and jq, on
the file that it is printed for, and its result can be ingested.

Runs the command named by LEAT (default: build/leat).
"""
import base64
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import duckdb
    import pyarrow
    import pyarrow.parquet
    from pyarrow.parquet import encryption
except ImportError as error:
    print(f"skipped: {error} (scripts/python-env.sh makes the environment)")
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "tests", "cli"))
from command import leat  # noqa: E402

T0 = 1600000000
NAMES = ("a", "my 'own' pings", 'a "b" $HOME `id` \\n', "-a")
DUCKDB = f"""#!{sys.executable}
import duckdb, sys
assert sys.argv[1] == "-c"
duckdb.execute(sys.argv[2])
"""


class Keys(encryption.KmsClient):
    """Keys that are not secret."""
    def __init__(self, _):
        super().__init__()

    def wrap_key(self, key_bytes, _):
        return base64.b64encode(key_bytes)

    def unwrap_key(self, wrapped_key, _):
        return base64.b64decode(wrapped_key)


def write_encrypted(path, columns, **options):
    factory = encryption.CryptoFactory(Keys)
    keys = factory.file_encryption_properties(
        encryption.KmsConnectionConfig(),
        encryption.EncryptionConfiguration(footer_key="f", **options))
    with pyarrow.parquet.ParquetWriter(path, columns.schema, encryption_properties=keys) as file:
        file.write_table(columns)


@unittest.skipUnless(shutil.which("jq"), "jq is not installed")
class Remedies(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="leat-remedies-")
        self.addCleanup(shutil.rmtree, self.folder)
        os.mkdir(self.at("bin"))
        with open(self.at("bin", "duckdb"), "w", encoding="utf-8") as file:
            file.write(DUCKDB)
        os.chmod(self.at("bin", "duckdb"), 0o755)

    def at(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        with open(self.at(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def ingest(self, name, *options, status=0):
        done = leat("ingest", "probes", "./" + name if name[0] == "-" else name, "-o", "data",
                    "--replace", "--json", *options, cwd=self.folder, status=status)
        return json.loads(done.stdout) if status == 0 else done.stderr.strip()

    def run_line(self, line):
        path = self.at("bin") + os.pathsep + os.environ["PATH"]
        subprocess.run(["sh", "-c", line], cwd=self.folder, check=True,
                       env={**os.environ, "PATH": path})

    def test_a_file_without_a_source(self):
        mapped = ["--column", "event_time=Start_Time,dst_addr=Ip,rtt=Avg"]
        for name in NAMES:
            self.write(name + ".csv", "Start_Time,Status,Host,Ip, ,Avg\n" + "".join(
                f"{T0 + i},OK,host,198.51.100.{i},0,{i + 0.5}\n" for i in range(9)))
            self.assertIn("event_time=NAME,src_addr=NAME,dst_addr=NAME,rtt=NAME",
                          self.ingest(name + ".csv", status=1))
            said = self.ingest(name + ".csv", *mapped, status=1)
            line = re.search(r"add its address: (duckdb .*)\)$", said)[1]
            self.run_line(line)
            result = self.ingest("with_source.csv", *mapped, "--train-ratio", "1")
            self.assertEqual((result["measurements"], result["probes"]["train"]), (9, 1))

    def test_layouts_of_json(self):
        """What jq, pandas and databases write instead of an object a line."""
        names = ["event_time", "src_addr", "dst_addr", "rtt"]
        rows = [[T0 + i, f"192.0.2.{i}", "198.51.100.1", i + 0.5] for i in range(5)]
        objects = [dict(zip(names, row)) for row in rows]
        by_number = {str(i): each for i, each in enumerate(objects)}
        layouts = ("".join(json.dumps(each, indent=2) + "\n" for each in objects), [objects],
                   {"columns": names, "index": [1, 2], "data": rows},
                   {"data": rows, "columns": names}, by_number,
                   {name: {k: each[name] for k, each in by_number.items()} for name in names},
                   {"meta": [{"name": name} for name in names], "data": rows, "rows": 5},
                   {"7": objects[:2], "8": objects[2:]})
        self.write("plain.ndjson", "".join(json.dumps(each) + "\n" for each in objects))
        self.ingest("plain.ndjson")
        with open(self.at("data", "manifest.json"), encoding="utf-8") as file:
            want = file.read()
        for number, layout in enumerate(layouts):
            name = NAMES[number % len(NAMES)] + ".json"
            for indent in (None, 1):
                text = layout if isinstance(layout, str) else json.dumps(layout, indent=indent)
                said = self.ingest(self.write(name, text), status=1)
                self.assertIn("write one a line: jq -c ", said)
                self.run_line(re.search(r"write one a line: (.*)$", said)[1])
                self.ingest("rows.ndjson")
                with open(self.at("data", "manifest.json"), encoding="utf-8") as file:
                    self.assertEqual(file.read(), want)

    def filled(self, line, path):
        """A line with the path in the places that it leaves to the reader."""
        return line.replace("FILE", shlex.quote("./" + path)).replace("NEW", "new")

    def test_lines_that_end_in_cr(self):
        table = "event_time,src_addr,dst_addr,rtt\r" + "".join(
            f"{T0 + i},192.0.2.1,198.51.100.1,{i}.5\r" for i in range(9))
        objects = "".join(json.dumps({"event_time": T0 + i, "src_addr": "192.0.2.1", "rtt": 5.5,
                                      "dst_addr": "198.51.100.1"}) + "\r" for i in range(9))
        for name, text, ways in ((NAMES[1] + ".csv", table, 1), (NAMES[3] + ".json", objects, 2),
                                 (NAMES[2] + ".json", objects.replace("\r", ""), 1)):
            said = self.ingest(self.write(name, text), status=1)
            lines = re.findall(r"(?:tr|jq) .*? NEW", said)
            self.assertGreaterEqual(len(lines), ways)
            for line in lines[:ways]:
                self.run_line(self.filled(line, name))
                self.assertEqual(self.ingest("new")["measurements"], 9)

    def test_pings_of_scamper(self):
        pings = [{"type": "ping", "src": "192.0.2.1", "dst": "198.51.100.1", "responses": [],
                  "start": {"sec": T0 + i, "usec": 250000},
                  "statistics": {"replies": 1, "avg": 5.5} if i else {"replies": 0, "loss": 1}}
                 for i in range(3)]
        plain = {"event_time": T0, "src_addr": "192.0.2.1", "dst_addr": "198.51.100.1", "rtt": 5}
        lines = "".join(json.dumps(each) + "\n" for each in pings)
        with_others = self.write(NAMES[0] + ".json", lines + json.dumps(plain) + "\n")
        warned = " ".join(self.ingest(with_others)["warnings"])
        name = self.write(NAMES[1] + ".json", lines)
        said = self.ingest(name, status=1)
        for text in (said, warned):
            line = re.search(r"(jq -c '[^']*')", text)[1]
            self.run_line(f"{line} {shlex.quote(name)} > new")
            self.ingest("new")
            done = leat("cat", "--format", "ndjson", "data", cwd=self.folder, status=0)
            self.assertEqual([json.loads(row)["rtt"] for row in done.stdout.splitlines()],
                             [-1, 5.5, 5.5])

    def test_columns_in_paths(self):
        """Values of tables in partitions are written into the files."""
        row = f"{T0},198.51.100.1,5.5\n"
        for name, kind in zip((NAMES[1], NAMES[2].replace("\\", ""), "*"),
                              ("csv", "parquet", "ndjson")):
            for host in ("192.0.2.1", "192.0.2.2"):
                folder = self.at(name, "year=2020", "src_addr=" + host)
                os.makedirs(folder)
                path = os.path.join(folder, "a." + kind)
                if kind == "parquet":
                    pyarrow.parquet.write_table(pyarrow.table(
                        {"event_time": [T0], "dst_addr": ["198.51.100.1"], "rtt": [5.5]}), path)
                    continue
                with open(path, "w", encoding="utf-8") as file:
                    file.write("event_time,dst_addr,rtt\n" + row if kind == "csv" else json.dumps(
                        {"event_time": T0, "dst_addr": "198.51.100.1", "rtt": 5.5}) + "\n")
            said = self.ingest(name, status=1)
            line = re.search(r"files: (duckdb .*\")", said)[1]
            self.assertEqual("'FOLDER/**'" in line, name == "*")
            self.run_line(line.replace("FOLDER", "?"))
            result = self.ingest("all.parquet")
            self.assertEqual((result["measurements"], sum(result["probes"].values())), (2, 2))

    def test_lakes(self):
        """Extensions of DuckDB are not at hand: the statements name the folder."""
        with open(self.at("bin", "duckdb"), "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nprintf %s "$2" > sql\n')
        for lake in NAMES[1:3]:
            os.makedirs(self.at(lake, "_delta_log"))
            self.run_line(re.search(r"(duckdb .*\"), or", self.ingest(lake, status=1))[1])
            with open(self.at("sql"), encoding="utf-8") as file:
                literal = duckdb.extract_statements(file.read())[2].query
            self.assertIn("'" + lake.replace("'", "''") + "'", literal)

    def test_rtts_that_are_no_numbers(self):
        """Lists and objects, in lines and in arrays; rows without an answer stay."""
        unit = {"value": 5, "unit": "ms"}
        given = [
            ([[5, 6.5], [7, None], [], None, 8], "a list", [5, 6.5, 7, 8, -1, -1, -1]),
            ([unit, {"value": 1.5, "unit": "s"}, {"value": None, "unit": "us"}, None],
             "an object; write its number of ms", [5, 1500, -1, -1]),
            ([{"avg": 5.5}, {"avg": None}], "an object; write its number in its place",
             [5.5, -1]),
            ([{"min": 1, "avg": 5.5, "of": "5"}, {"min": 2, "avg": 6.5, "of": "5"}],
             "an object; write one of its numbers in its place, NAME of min, avg, of",
             [5.5, 6.5])]
        for number, (rtts, words, want) in enumerate(given):
            column = ("rtt", "round trip")[number % 2]
            rows = [{"event_time": T0 + i, "src_addr": "192.0.2.1", "dst_addr": "198.51.100.1",
                     column: rtt} for i, rtt in enumerate(rtts)]
            texts = ("".join(json.dumps(row) + "\n" for row in rows), json.dumps({"data": rows}))
            for kind, text in enumerate(texts):
                name = self.write(NAMES[(number + kind) % 4] + ".json", text)
                mapped = ("--column", "rtt=" + column, "--train-ratio", "1")
                if None in rtts:
                    said = " ".join(self.ingest(name, *mapped)["warnings"])
                    self.assertIn(" rows have a list or an object as rtt and were rejected", said)
                else:
                    said = self.ingest(name, *mapped, status=1)
                self.assertIn(f" is {words}", said)
                line = re.search(r": (jq -c .* > rows.ndjson)", said)[1].replace("NAME", "avg")
                self.run_line(line)
                self.ingest("rows.ndjson", *mapped)
                done = leat("cat", "--format", "ndjson", "data", cwd=self.folder, status=0)
                found = [json.loads(row)["rtt"] for row in done.stdout.splitlines()]
                self.assertEqual(sorted(found), sorted(want))
        bad = self.write("bad.ndjson", json.dumps(
            {"event_time": T0, "src_addr": "192.0.2.1", "dst_addr": "198.51.100.1",
             "rtt": {"value": 5, "unit": "ms"}}) + "\n" + json.dumps(
                 {"event_time": T0, "src_addr": "192.0.2.1", "dst_addr": "198.51.100.1",
                  "rtt": {"value": 5, "unit": "furlongs"}}) + "\n")
        with self.assertRaises(subprocess.CalledProcessError):  # units are not guessed
            self.run_line(re.search(r": (jq .*)$", self.ingest(bad, status=1))[1])

    def test_lists_of_rtts_in_parquet(self):
        for number, (kind, column) in enumerate((("double", "rtt"), ("float", "round trip"),
                                                 ("int32", "rtt"))):
            name = NAMES[number] + ".parquet"
            kind = pyarrow.list_(pyarrow.type_for_alias(kind))
            rtts = pyarrow.array([[5, 6], [], [7, None], None], kind)
            pyarrow.parquet.write_table(pyarrow.table({
                "event_time": range(T0, T0 + 4), "src_addr": ["192.0.2.1"] * 4,
                "dst_addr": ["198.51.100.1"] * 4, column: rtts}), self.at(name))
            mapped = ("--column", "rtt=" + column, "--train-ratio", "1")
            said = self.ingest(name, *mapped, status=1)
            self.run_line(re.search(r"a row for each of its numbers, .*?: (duckdb .*\")", said)[1])
            self.ingest("converted.parquet", *mapped)
            done = leat("cat", "--format", "ndjson", "data", cwd=self.folder, status=0)
            found = [json.loads(row)["rtt"] for row in done.stdout.splitlines()]
            self.assertEqual(sorted(found), [-1, -1, -1, 5, 6, 7])

    def test_lists_of_structs_in_parquet(self):
        """Which have no line, whatever their fields are."""
        kind = pyarrow.list_(pyarrow.struct([("rtt", pyarrow.float64()), ("n", pyarrow.int32())]))
        pyarrow.parquet.write_table(pyarrow.table({
            "event_time": [T0], "src_addr": ["192.0.2.1"], "dst_addr": ["198.51.100.1"],
            "rtt": pyarrow.array([[{"rtt": 5, "n": 1}]], kind)}), self.at("list.parquet"))
        self.assertRegex(self.ingest("list.parquet", status=1),
                         r'column "rtt" is STRUCT\(.*, must be float or double$')

    def test_structs_of_rtts_in_parquet(self):
        number, text, avg = pyarrow.float64(), pyarrow.string(), {"avg": 5.5, "of": "x"}
        given = [
            ([("value", number), ("unit", text)],
             [{"value": 5, "unit": "ms"}, {"value": 1.5, "unit": "s"}, None,
              {"value": None, "unit": "us"}, {"value": 250, "unit": "us"}],
             "to its number of milliseconds", [5, 1500, -1, -1, 0.25]),
            ([("the unit", pyarrow.binary()), ("unit", pyarrow.binary()),
              ("round-trip", pyarrow.int32())], None, None, None),
            ([("unit", pyarrow.binary()), ("r-t", pyarrow.int32())],
             [{"r-t": 7, "unit": b"\xc2\xb5s"}], "to its number of milliseconds", [0.007]),
            ([("end", pyarrow.decimal128(9, 2)), ("n", pyarrow.list_(number))],
             [{"end": 7, "n": []}], "to its number, if that is milliseconds", [7]),
            ([("ping", pyarrow.struct([("min", number), ("avg", pyarrow.float32())])),
              ("avg", pyarrow.int64())], [{"ping": {"min": 4, "avg": 5}, "avg": 6}, {"avg": None}],
             "to one of its fields, if that is milliseconds (replace NAME by one of ping.min, "
             "ping.avg, avg)", [6, -1]),
            ([("avg", number), ("of", text)], [avg, None],
             "to one of its fields, if that is milliseconds (replace NAME by one of avg, of)",
             [5.5, -1]),
            ([("id", pyarrow.list_(number))], [{"id": [1]}], None, None)]
        for number, (fields, rtts, words, want) in enumerate(given):
            column = ("rtt", "round trip")[number % 2]
            name, mapped = NAMES[number % 4] + ".parquet", ("--column", "rtt=" + column)
            count = len(rtts or [None])
            pyarrow.parquet.write_table(pyarrow.table({
                "event_time": range(T0, T0 + count), "src_addr": ["192.0.2.1"] * count,
                "dst_addr": ["198.51.100.1"] * count,
                column: pyarrow.array(rtts or [None], pyarrow.struct(fields))}), self.at(name))
            said = self.ingest(name, *mapped, "--train-ratio", "1", status=1)
            self.assertIn("is STRUCT(", said)
            if rtts is None:
                continue
            self.assertEqual("convert" in said, words is not None, said)
            if words is None:
                continue
            self.assertIn(f"; convert it {words}: ", said)
            self.run_line(re.search(r": (duckdb .*\")", said)[1].replace("NAME", "avg"))
            self.ingest("converted.parquet", *mapped, "--train-ratio", "1")
            done = leat("cat", "--format", "ndjson", "data", cwd=self.folder, status=0)
            found = [round(json.loads(row)["rtt"], 6) for row in done.stdout.splitlines()]
            self.assertEqual(sorted(found), sorted(want))
        pyarrow.parquet.write_table(pyarrow.table({
            "event_time": [T0], "src_addr": ["192.0.2.1"], "dst_addr": ["198.51.100.1"],
            "rtt": [{"value": 5.5, "unit": "furlongs"}]}), self.at("bad.parquet"))
        with self.assertRaises(subprocess.CalledProcessError):  # units are not guessed
            self.run_line(re.search(r": (duckdb .*)$", self.ingest("bad.parquet", status=1))[1])

    def test_encrypted_columns(self):
        """Of columns that leat does not read, by the rows of the others."""
        columns = pyarrow.table({
            "event_time": [T0 + i for i in range(9)], "src_addr": ["192.0.2.1"] * 9,
            "dst_addr": ["198.51.100.1"] * 9, "it's rtt": [i + 0.5 for i in range(9)],
            "note": ["private"] * 9, "list": [[i, i] for i in range(9)]})
        mapped = ("--column", "rtt=it's rtt", "--train-ratio", "1")
        for name in NAMES[1:3]:
            write_encrypted(self.at(name + ".parquet"), columns, plaintext_footer=True,
                            column_keys={"c": ["note", "list.list.element"]})
            said = self.ingest(name + ".parquet", *mapped, status=1)
            self.assertIn('has encrypted columns: "note", "list"; DuckDB then reads no', said)
            self.run_line(re.search(r"PyArrow: (python3 .*)$", said)[1].replace(
                "python3", sys.executable, 1))
            self.assertEqual(self.ingest("decrypted.parquet", *mapped)["measurements"], 9)
        os.mkdir(self.at("many"))
        for i in range(3):  # one file of several
            pyarrow.parquet.write_table(columns, self.at("many", f"{i}.parquet"))
        write_encrypted(self.at("many", "1.parquet"), columns, plaintext_footer=True,
                        column_keys={"c": ["note", "it's rtt"]})
        self.assertRegex(self.ingest("many", *mapped, status=1),
                         'many/1.parquet" has encrypted columns: "it\'s rtt", "note"; '
                         "write it again without encryption, with their keys$")
        write_encrypted(self.at("all.parquet"), columns, column_keys={"c": ["note"]})
        self.assertIn("is an encrypted Parquet file; write it again without encryption",
                      self.ingest("all.parquet", *mapped, status=1))

    def test_an_empty_split(self):
        """--train-ratio 1, which the warning names, makes a data set with batches."""
        text = "event_time,src_addr,dst_addr,rtt\n" + "".join(
            f"{T0 + i},10.0.0.1,198.51.100.{i % 9},{i % 7 + 0.5}\n" for i in range(200))
        result = self.ingest(self.write("one.csv", text))
        self.assertEqual(result["probes"], {"train": 0, "test": 1})
        self.assertEqual(result["warnings"], ["split train is empty: the only probe fell to test; "
                                              "--train-ratio 1 puts all probes into train"])
        leat("batches", "data", cwd=self.folder, status=2)
        result = self.ingest("one.csv", "--train-ratio", "1")
        self.assertEqual((result["probes"], result["warnings"]), ({"train": 1, "test": 0}, []))
        leat("batches", "data", cwd=self.folder, status=0)
        self.assertEqual(self.ingest("one.csv", "--train-ratio", "0")["warnings"], [])
        other = self.write("other.csv", text.replace("10.0.0.1", "192.0.2.1"))
        for options, told in (([], True), (["--train-ratio", "1"], False)):
            said = leat("ingest", "probes", other, "-o", "data", "--replace", *options,
                        cwd=self.folder, status=0)
            words = "test is empty: all probes were assigned to train"
            self.assertEqual(words in said.stdout, told)
            self.assertEqual(said.stderr, "")


if __name__ == "__main__":
    unittest.main()
