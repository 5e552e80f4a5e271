"""Values of rtt that mean something else than a round trip: those that stand for a lost ping
(--lost), columns without values, and units that the name of the column states.

Runs the command named by LEAT (default: build/leat).
"""
import json
import os
import re
import shlex
import unittest

import folder
import parquet_file as parquet
from command import leat

T0 = 1600000000
#: as written; None: lost
RTTS = [None if i % 9 == 4 else 20.5 + i * 37 % 101 for i in range(40)]


class Rtts(folder.Folder):
    def setUp(self):
        super().setUp()
        self.out = self.at("data")

    def ingest(self, *paths, options=(), status=0):
        done = leat("ingest", "probes", *paths, "-o", self.out, "--replace", "--json", *options,
                    status=status)
        return done.stderr if status else json.loads(done.stdout)

    def test_whole_milliseconds(self):
        """On a local network 0 is an answer: the warning says what both meanings are."""
        whole = [0 if i % 3 else i % 5 + 1 for i in range(60)]
        for name in "a.csv", "a.parquet", "a.ndjson":
            path = self.write(name, whole)
            for threads in "1", "3":
                warnings = self.ingest(path, options=["--threads", threads])["warnings"]
                self.assertEqual([each for each in warnings if "--lost" in each], [
                    f'"{path}": all rtts are whole numbers of ms, and 0 in 40 of 60 rows: less '
                    "than 1 ms, or a lost ping; if it means that, use --lost 0"])
        for rtts, options in ((whole[:-1] + [1.5], []), (whole[:-2] + [9999, 9999], []),
                              (whole, ["--column", "rtt=rtt:us"])):
            said = " ".join(self.ingest(self.write("b.csv", rtts), options=options)["warnings"])
            self.assertIn("an rtt repeats as no measurement would: 0 in ", said)
            self.assertNotIn("whole numbers", said)

    def rows(self):
        lines = leat("cat", self.out, "--format", "ndjson", status=0).stdout.splitlines()
        found = {each["event_time"]: each["rtt"] for each in map(json.loads, lines)}
        return [found[time] for time in sorted(found)]

    def manifest(self):
        with open(os.path.join(self.out, "manifest.json"), encoding="utf-8") as file:
            return json.load(file)

    def write(self, name, rtts, column="rtt"):
        """A file in the format that its name says."""
        path, form = self.at(name), name.rpartition(".")[2]
        times = range(T0, T0 + len(rtts))
        if form == "parquet":
            parquet.write(path, [
                parquet.numbers("event_time", list(times)),
                parquet.texts("src_addr", [b"192.0.2.1"] * len(rtts)),
                parquet.texts("dst_addr", [b"198.51.100.1"] * len(rtts)),
                parquet.floats(column, [float("nan") if each is None else each
                                        for each in rtts])], len(rtts))
            return path
        lines = []
        for time, rtt in zip(times, rtts):
            atlas = {"type": "ping", "timestamp": time, "from": "192.0.2.1", "prb_id": 1,
                     "dst_addr": "198.51.100.1", "af": 4}
            row = {"event_time": time, "src_addr": "192.0.2.1", "dst_addr": "198.51.100.1"}
            lines.append(
                ",".join(map(str, (*row.values(), "" if rtt is None else rtt)))
                if form == "csv" else json.dumps(
                    {**atlas, "avg": rtt} if form == "atlas" else
                    {**atlas, "result": [{"x": "*"} if rtt is None else {"rtt": rtt}]}
                    if form == "packets" else {**row, column: rtt}))
        with open(path, "w", encoding="ascii") as file:
            if form == "csv":
                file.write(f"event_time,src_addr,dst_addr,{column}\n")
            file.write("".join(f"{line}\n" for line in lines))
        return path

    def test_values_that_repeat(self):
        """The advice, followed, makes them what an empty rtt is."""
        forms = {"csv": (), "ndjson": (), "parquet": (), "atlas": (), "packets": ("--per-packet",)}
        wanted = [-1 if each is None else each for each in RTTS]
        for number, value in enumerate((0, 9999, 65535, 99999, 2147483647, 4294967295, 30000)):
            form = list(forms)[number % len(forms)]
            rtts = [value if each is None else each for each in RTTS]
            path = self.write(f"a.{form}", rtts)
            for threads in ("1", "3") if number < 3 else ("2",):
                options = (*forms[form], "--threads", threads)
                said, = self.ingest(path, options=options)["warnings"]
                self.assertIn(f"would: {value} in 4 of 40 rows; if it means a lost ping, use", said)
                option = shlex.split(re.search("use (--lost .*)", said)[1])
                self.assertEqual(option, ["--lost", str(value)])
                self.assertEqual(self.ingest(path, options=[*options, *option])["warnings"], [])
                self.assertEqual(self.rows(), wanted)
                self.assertEqual(self.manifest()["options"]["lost"], str(value))
            self.assertEqual(self.ingest(self.write(f"a.{form}", RTTS), options=forms[form])
                             ["warnings"], [])
            self.assertNotIn("lost", self.manifest()["options"])
            self.assertEqual(self.rows(), wanted)

    def test_packets_of_an_average(self):
        path = self.at("a.ndjson")
        with open(path, "w", encoding="ascii") as file:
            file.write(json.dumps({
                "type": "ping", "timestamp": T0, "from": "192.0.2.1", "dst_addr": "198.51.100.1",
                "af": 4, "prb_id": 1, "result": [{"rtt": 10}, {"rtt": 999}, {"rtt": 20}]}) + "\n")
        self.ingest(path, options=("--lost", "999"))
        self.assertEqual(self.rows(), [15])

    def test_several_files(self):
        """One option for all of them, with what was given."""
        paths = [self.write(f"{value}.csv", [value if each is None else each for each in RTTS])
                 for value in (9999, 0, 77777)]
        said = self.ingest(*paths)["warnings"]
        self.assertEqual(len(said), 3)
        for each in said:
            self.assertTrue(each.endswith("use --lost 0,9999,77777"), each)
        said, = self.ingest(*paths, options=("--lost", "9999,77777"))["warnings"]
        self.assertTrue(said.endswith("use --lost 0,9999,77777"), said)

    def test_before_units(self):
        rtts = [9999 if each is None else each * 1000 for each in RTTS]
        path = self.write("a.csv", rtts, "rtt_us")
        result = self.ingest(path, options=("--column", "rtt=rtt_us", "--lost", "9999"))
        self.assertEqual(result["warnings"], [])
        self.assertEqual(self.rows(), [-1 if each is None else each for each in RTTS])
        said = self.ingest(path, options=("--column", "rtt=rtt_us", "--lost", "9.999,9999"))
        self.assertEqual(said["warnings"], [
            "--lost 9.999: no row has this rtt; values are compared as they are written in the "
            "input, before units"])

    def test_identity(self):
        path = self.write("a.csv", [9999 if each is None else each for each in RTTS])
        self.ingest(path, options=("--lost", "9999,1"))
        run = ("ingest", "probes", path, "-o", self.out, "--resume", "--json")
        for lost, same in (("1,9999.0", True), ("9999", False), (None, False)):
            done = leat(*run, *(("--lost", lost) if lost else ()), status=0 if same else 1)
            if same:
                self.assertTrue(json.loads(done.stdout)["was_complete"])
        for lost in ("x", "1,", "nan", "1,2,3,4,5,6,7,8,9"):
            self.assertIn(f'--lost "{lost}" is not accepted; give up to 8 numbers',
                          self.ingest(path, options=("--lost", lost), status=2))

    def test_ordinary_values(self):
        """A constant, rounded ones of a small network, a single large one."""
        for rtts in ([5] * 40, [1, 2] * 20, [1, 2, 3, 3] * 10, [*RTTS[:4], 9999], [0.25, 0] + RTTS):
            self.assertEqual(self.ingest(self.write("a.ndjson", rtts))["warnings"], [], rtts)

    def test_empty_columns(self):
        for form in "csv", "ndjson", "parquet":
            for rtts, count in ([None] * 20, 20), ([*[None] * 19, 5.5], 19), (RTTS, 0):
                path = self.write(f"a.{form}", rtts)
                said = self.ingest(path)["warnings"]
                self.assertEqual(said, [
                    f'"{path}": rtt is empty in {count} of 20 rows, which are stored as failed '
                    "measurements; if the rtts are in another column, use --column rtt=NAME"]
                    if count else [], form)

    def test_units_of_names(self):
        for column, unit, scale in (("rtt_us", "us", 1e3), ("rtt_seconds", "s", 1e-3),
                                    ("latencyNs", "ns", 1e6), ("it's (us)", "us", 1e3),
                                    ("ping_ms", "ms", 1), ("delay", None, 1)):
            path = self.write("a.csv", [None if each is None else each * scale for each in RTTS],
                              column)
            result = self.ingest(path, options=("--column", f"rtt={column}"))
            self.assertEqual((result["rtt_unit"], result["rtt_unit_from_name"]),
                             (unit or "ms", unit is not None))
            self.assertEqual(self.rows(), [-1 if each is None else each for each in RTTS])
            said = leat("ingest", "probes", path, "-o", self.out, "--replace", "--column",
                        f"rtt={column}", status=0).stdout
            self.assertEqual("by the name" in said, unit is not None)
            if unit in (None, "ms"):
                continue
            option = shlex.split(re.search(r"\((--column .*) for another unit\)", said)[1])
            self.assertEqual(option, ["--column", f"rtt={column}:ms"])
            self.assertEqual(leat("ingest", "probes", path, "-o", self.out, "--resume", *option)
                             .returncode, 1)
            result = self.ingest(path, options=option)
            self.assertEqual((result["rtt_unit"], result["rtt_unit_from_name"]), ("ms", False))
            self.assertAlmostEqual(self.rows()[0] / RTTS[0] / scale, 1, 5)
        self.ingest(path, options=("--column", f"rtt={column}:ns"))
        self.assertAlmostEqual(self.rows()[0] * 1e6, RTTS[0], 4)


if __name__ == "__main__":
    unittest.main()
