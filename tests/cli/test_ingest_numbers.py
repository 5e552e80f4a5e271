"""Numbers that leat ingest probes reads: 1.7e+09 and 4.0 mean the same in every format, and times
that a spreadsheet has rounded are refused.

Runs the command named by LEAT (default: build/leat).
"""
import json
import os
import unittest

import folder
import parquet_file as parquet
from command import leat

HEADER = "event_time,src_addr,dst_addr,ip_version,rtt\n"
T0 = 1600000000


class Numbers(folder.Folder):
    def ingest(self, path, *options, status=0):
        done = leat("ingest", "probes", path, "-o", self.at("data"), "--replace", "--json",
                    *options, status=status)
        if status != 0:
            return done.stderr
        with open(self.at("data", "manifest.json"), encoding="utf-8") as file:
            return json.loads(done.stdout), file.read()

    def csv(self, times, version="4"):
        return HEADER + "".join(f"{time},192.0.2.{i % 7 + 1},198.51.100.1,{version},{i + 0.5}\n"
                                for i, time in enumerate(times))

    def objects(self, times, **more):
        return "".join(json.dumps({"event_time": "TIME", "src_addr": f"192.0.2.{i % 7 + 1}",
                                   "dst_addr": "198.51.100.1", "rtt": i + 0.5, **more}).replace(
                                       '"TIME"', str(time)) + "\n"
                       for i, time in enumerate(times))

    def test_exponents(self):
        times = [T0 + 37 * i for i in range(24)]
        result, want = self.ingest(self.write("a.csv", self.csv(times)))
        self.assertEqual(result["measurements"], 24)
        for scale in (1, 1000):
            for digits in ("e", "E"):
                forms = [format(time * scale, ".15e" if digits != "E" else ".15E")
                         for time in times]
                self.assertEqual(self.ingest(self.write("a.csv", self.csv(forms)))[1], want)
                self.assertEqual(self.ingest(self.write("a.ndjson", self.objects(forms)))[1], want)
        mixed = ["1.6e+09"] + times[1:]  # as R writes them
        result, same = self.ingest(self.write("a.csv", self.csv(mixed)))
        self.assertEqual((same, result["rejected"]), (want, 0))

    def test_whole_numbers_with_a_point(self):
        times = [T0 + i for i in range(9)]
        want = self.ingest(self.write("a.csv", self.csv(times)))[1]
        for version in ("4.0", "4e0", "0.4E+01", "", '"4.00"'):
            self.assertEqual(self.ingest(self.write("a.csv", self.csv(times, version)))[1], want)
        for version in (4, 4.0, "4.0", "4e+0", {"$numberDouble": "4.0"}):
            path = self.write("a.ndjson", self.objects(times, ip_version=version))
            self.assertEqual(self.ingest(path)[1], want, version)
        for name, text in (("a.csv", self.csv(times[:1], "4.5")),
                           ("a.ndjson", self.objects(times[:1], ip_version=4.5))):
            good = self.write("good.csv", self.csv(times))
            result = json.loads(leat("ingest", "probes", good, self.write(name, text), "-o",
                                     self.at("data"), "--replace", "--json", status=0).stdout)
            self.assertEqual(result["rejected_reasons"], {"malformed_line": 1})

    def test_versions_that_are_missing(self):
        """The words for it, as in a column of floats with gaps; others reject the row."""
        line = '{"event_time":%d,"src_addr":"192.0.2.1","dst_addr":"198.51.100.1",%s"rtt":5}\n'
        head = "event_time,src_addr,dst_addr,ip_version,rtt\n"
        row = "%d,192.0.2.1,198.51.100.1,%s,5\n"
        for word, rejected in (("NaN", 0), ("null", 0), ('""', 0), ('"NA"', 0), ('"-"', 1)):
            texts = (("a.json", line % (T0, f'"ip_version":{word},') + line % (T0 + 1, "")),
                     ("a.csv", head + row % (T0, word) + row % (T0 + 1, "")))
            for name, text in texts:
                result = self.ingest(self.write(name, text))[0]
                self.assertEqual(result["rejected"], rejected, (name, word))

    def test_numbers_of_atlas(self):
        """A probe and a measurement whose numbers were columns with missing values."""
        def results(number, **more):
            return "".join(json.dumps({"type": "ping", "timestamp": T0 + i, "af": 4, "avg": 5,
                                       "from": f"192.0.2.{i}", "dst_addr": "198.51.100.1",
                                       "prb_id": number, **more}) + "\n" for i in range(5))
        said = {json.dumps(self.ingest(self.write("a.json", results(number)))[0]["warnings"])
                for number in (7, 7.0, "7", "7.0", "7e0")}
        self.assertEqual(len(said), 1)
        self.assertIn("of 1 probe (prb_id) with 5 addresses", said.pop())
        for number in (7.5, "x", None, [7]):
            self.assertEqual(self.ingest(self.write("a.json", results(number)))[0]["warnings"], [])
        dns = {"type": "dns", "timestamp": T0, "af": 4, "from": "192.0.2.1", "msm_id": 2.0,
               "result": {"rt": 12}}
        path = self.write("a.json", results(7) + json.dumps(dns) + "\n")
        result = self.ingest(path, "--column", "event_time=timestamp,rtt=avg")[0]
        self.assertEqual(result["rejected_reasons"], {"not_a_ping_result": 1})

    def test_numbers_of_atlas_in_parquet(self):
        """As texts and decimals, too; a text that is not one costs nothing, whatever its bytes."""
        def told(column):
            count, path = 5, self.at("a.parquet")
            parquet.write(path, [
                parquet.numbers("event_time", [T0 + i for i in range(count)]),
                parquet.texts("src_addr", [f"192.0.2.{i}".encode() for i in range(count)]),
                parquet.texts("dst_addr", [b"198.51.100.1"] * count),
                parquet.floats("rtt", [5.5] * count), column], count)
            result = self.ingest(path)[0]
            self.assertEqual((result["measurements"], result["rejected"]), (count, 0))
            return " ".join(result["warnings"])

        decimal = parquet.numbers("prb_id", [700] * 5)
        decimal.annotations = [(6, 5, 5), (7, 5, 2), (8, 5, 9)]
        said = {told(parquet.numbers("prb_id", [7] * 5)), told(decimal)}
        for text in (b"7", b"7.0"):
            said.add(told(parquet.texts("prb_id", [text] * 5)))
        self.assertEqual(len(said), 1)
        self.assertIn("of 1 probe (prb_id) with 5 addresses", said.pop())
        self.assertIn("of 1 probe (prb_id) with 4 addresses",
                      told(parquet.texts("prb_id", [b"7"] * 4 + [b"\xff\xfe"])))
        for text in (b"", b"7.5", b"nan", b"x", b"99999999999"):
            self.assertEqual(told(parquet.texts("prb_id", [text] * 5)), "")

    def test_names_of_probes(self):
        def manifest(name):
            lines = self.csv([T0] * 9).replace("\n", ",id\n", 1).splitlines()
            text = "\n".join(lines[:1] + [f"{line},{name}" for line in lines[1:]]) + "\n"
            return self.ingest(self.write("a.csv", text), "--probe", "id")[1]

        self.assertEqual(len({manifest(each) for each in
                              ("100000", "1e+05", "1E+05", "1.00e+05", "100000.0")}), 1)
        hexadecimal = [manifest(each) for each in ("1e05", "1e5", "12e05", "1e+5", "e+05")]
        self.assertEqual(len(set(hexadecimal)), 5)
        self.assertNotIn(manifest("100000"), hexadecimal)

    def test_times_that_lost_their_digits(self):
        def refused(times, threads=1):
            return self.ingest(self.write("my 'pings'.csv", self.csv(times)), "--threads", threads,
                               status=1)

        for times in (["1.7E+09"] * 20, ["1.70E+09"] * 3, ["1.7E+12"] * 20,
                      [f"1.7000{i // 5}E+09" for i in range(20)],
                      ["1.7E+09"] * 19 + ["1700000037"]):
            said = [refused(times, threads) for threads in (1, 3)]
            self.assertEqual(said[0], said[1])
            self.assertIn("times have lost their digits, as 1.7E+09 has: the spreadsheet", said[0])
        self.assertIn("19 of 20 times have lost", said[0])
        self.assertFalse(os.path.exists(self.at("data")))
        for times in (["1.7e+09", "1.7e+09"], ["1.7e+09"] * 17 + ["1700000037"] * 3,
                      [f"1.70000{i:02}00E+09" for i in range(20)],
                      [f"{1.7e9 + 86400 * i:.7e}" for i in range(20)], ["1.7e+09"] + [T0] * 9):
            self.assertEqual(self.ingest(self.write("a.csv", self.csv(times)))[0]["rejected"], 0)


if __name__ == "__main__":
    unittest.main()
