"""Lines that leat ingest probes prints as remedies: each is run by a shell, with duckdb and jq, on
the file that it is printed for, and its result can be ingested.

Runs the command named by LEAT (default: build/leat).
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import duckdb  # noqa: F401  pylint: disable=unused-import
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
