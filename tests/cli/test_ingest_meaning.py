"""What leat ingest probes understands of files whose columns mean something else than their names
say: read as they are meant, refused, or named in a warning.

Runs the command named by LEAT (default: build/leat).
"""
import decimal
import gzip
import json
import os
import random
import re
import unittest

import folder
from command import leat

HEADER = "event_time,src_addr,dst_addr,rtt\n"
T0 = 1600000000


class Meaning(folder.Folder):
    def setUp(self):
        super().setUp()
        self.out = self.at("data")

    def write(self, name, text):
        path = self.at(name)
        with (gzip.open if name.endswith(".gz") else open)(path, "wb") as file:
            file.write(text.encode())
        return path

    def ingest(self, *paths, options=(), status=0):
        """The result and its warnings; or what the command says when it fails."""
        done = leat("ingest", "probes", *paths, "-o", self.out, "--replace", "--json", *options,
                    status=status)
        if status != 0:
            return done.stderr
        result = json.loads(done.stdout)
        self.assertEqual(done.stderr.count("warning: "), len(result["warnings"]))
        with open(os.path.join(self.out, "run.json"), encoding="utf-8") as file:
            run = json.load(file)
        rejects = [each for each in result["warnings"] if "rows were rejected, " in each]
        self.assertEqual(rejects + run["warnings"], result["warnings"])
        leat("inspect", self.out, "--verify", status=0)
        return result

    def rows(self):
        """(time in seconds, source, target, rtt) of every measurement, in order of time."""
        lines = leat("cat", self.out, "--format", "ndjson", status=0).stdout.splitlines()
        found = [json.loads(line) for line in lines]
        return sorted((each["event_time"], each["src_addr"], each["dst_addr"], each["rtt"])
                      for each in found)

    def csv(self, times, rtt="5", header=HEADER):
        return header + "".join(f"{time},192.0.2.1,198.51.100.1,{rtt}\n" for time in times)

    # ---- rtt

    def test_some_objects_without_rtt(self):
        def objects(*members):
            return "".join(json.dumps({"event_time": T0 + i, "src_addr": "192.0.2.1",
                                       "dst_addr": "198.51.100.1", **each}) + "\n"
                           for i, each in enumerate(members))
        half = self.write("half.ndjson", objects({"rtt": 1}, {"RTT": 2}, {"rtt": None}, {"x": 1}))
        warnings = self.ingest(half)["warnings"]
        self.assertEqual(len(warnings), 1)
        self.assertIn('half.ndjson": 2 of 4 objects do not have the member "rtt" and are stored as '
                      'failed', warnings[0])
        self.assertEqual([each[3] for each in self.rows()], [1, -1, -1, -1])
        none = self.write("none.ndjson", objects({"time_ms": 1}, {"time_ms": 2}))
        self.assertIn('none.ndjson": 2 of 2 objects', self.ingest(half, none)["warnings"][1])
        self.assertRegex(self.ingest(none, status=1),
                         r'none of 2 JSON objects has the member "rtt"; line 1 of ".*none.ndjson" '
                         r"has: event_time, src_addr, dst_addr, time_ms \(use --column rtt=NAME")
        self.assertFalse(os.path.exists(os.path.join(self.out, ".leat")))
        self.assertEqual(self.ingest(none, options=["--column", "rtt=time_ms"])["warnings"], [])
        many = [self.write(f"m{i}.ndjson", objects({"rtt": 1}, {})) for i in range(6)]
        warnings = self.ingest(*many)["warnings"]
        self.assertEqual(len(warnings), 5)
        self.assertEqual(warnings[4], "... and the same of 2 other files")

    def test_words_in_place_of_an_rtt(self):
        lines = "".join(f"{T0 + i},192.0.2.1,198.51.100.1,{rtt}\n" for i, rtt in
                        enumerate(["5", "lost", "6", "lost", "n.a.", "7", "12ms", "12ms", "12ms"]))
        result = self.ingest(self.write("a.csv", HEADER + lines))
        self.assertEqual(result["rejected_reasons"], {"rtt_unparsable": 6})
        self.assertIn('2 rows have the text "lost" as rtt and were rejected',
                      result["warnings"][-2])
        lost = "".join(f"{T0 + i},192.0.2.1,198.51.100.1,{word}\n" for i, word in
                       enumerate(["-", "*", "timeout", "False", "U", "x", "5", "X", "TIMEOUT"]))
        result = self.ingest(self.write("b.csv", HEADER + lost))
        self.assertEqual((result["rejected"], result["warnings"]), (0, []))
        self.assertEqual([each[3] for each in self.rows()], [-1] * 6 + [5, -1, -1])
        objects = "".join(json.dumps({"event_time": T0 + i, "src_addr": "192.0.2.1", "rtt": rtt,
                                      "dst_addr": "198.51.100.1"}) + "\n"
                          for i, rtt in enumerate([False, "*", "Timeout", 5, True, "soon", "5"]))
        result = self.ingest(self.write("c.ndjson", objects))
        self.assertEqual(result["rejected_reasons"], {"rtt_unparsable": 2})
        self.assertEqual([each[3] for each in self.rows()], [-1, -1, -1, 5, 5])
        with open(os.path.join(self.out, "rejected.csv"), encoding="utf-8") as file:
            self.assertIn('c.ndjson,6,rtt_unparsable,,,,,,"{""event_time""', file.read())

    def test_an_rtt_of_true_and_not_a_number_of_microsoft(self):
        """Both may be one value that stands for every lost ping."""
        for name, value in ("true", True), ("1.#QNAN", "1.#QNAN"), ("-1.#IND", "-1.#IND"):
            lines = "".join(json.dumps({"event_time": T0 + i, "src_addr": "192.0.2.1", "rtt": rtt,
                                        "dst_addr": "198.51.100.1"}) + "\n"
                            for i, rtt in enumerate([5, value, 6, value, 7]))
            result = self.ingest(self.write("d.ndjson", lines))
            self.assertEqual(result["rejected_reasons"], {"rtt_unparsable": 2})
            self.assertIn(f'2 rows have the text "{name}" as rtt and were rejected',
                          result["warnings"][-1])
        table = "".join(f"{T0 + i},192.0.2.1,198.51.100.1,{rtt}\n"
                        for i, rtt in enumerate(["5", "1.#QNAN", "6", "1.#QNAN"]))
        self.assertIn('2 rows have the text "1.#QNAN" as rtt',
                      self.ingest(self.write("e.csv", HEADER + table))["warnings"][-1])

    def test_values_that_stand_for_lost_pings(self):
        """With digits in it, longer than most, or no text at all: but no number."""
        odd = ["timeout>1000ms", "ERR408", ">1000", "<1ms", "408 Request Timeout", "t/o 5",
               "Destination Host Unreachable", "x" * 63, "x" * 64, "y" * 300]
        for word in odd:
            table = "".join(f"{T0 + i},192.0.2.1,198.51.100.1,{rtt}\n"
                            for i, rtt in enumerate([5, 6, word] * 3))
            result = self.ingest(self.write("a.csv", HEADER + table))
            text = f'the text "{word}"' if len(word) < 64 else \
                f'a text that begins with "{word[:64]}"'
            self.assertEqual(len(result["warnings"]), 1, word)
            self.assertIn(f"3 rows have {text} as rtt and were rejected", result["warnings"][0])
        for value, text in ((word, word) for word in odd[:3]):
            lines = "".join(json.dumps({"event_time": T0 + i, "src_addr": "192.0.2.1", "rtt": rtt,
                                        "dst_addr": "198.51.100.1"}) + "\n"
                            for i, rtt in enumerate([5, value, 6, value, 7]))
            result = self.ingest(self.write("a.ndjson", lines))
            self.assertEqual(result["rejected_reasons"], {"rtt_unparsable": 2})
            self.assertIn(f'2 rows have the text "{text}" as rtt', result["warnings"][-1])
        for number in "12ms", "12.5 ms", "1,5", "1'000", "+7 msec.", "-3\u00b5s":
            table = "".join(f'{T0 + i},192.0.2.1,198.51.100.1,"{rtt}"\n'
                            for i, rtt in enumerate([5, 6, number] * 3))
            result = self.ingest(self.write("a.csv", HEADER + table))
            self.assertEqual(result["rejected"], 3)
            self.assertEqual(["rows have an rtt with a unit" in each for each in
                              result["warnings"]], [True] * ("s" in number), number)

    def test_rtts_with_units(self):
        def table(*rtts):
            return self.write("a.csv", HEADER + "".join(
                f'{T0 + i},192.0.2.1,198.51.100.1,"{rtt}"\n' for i, rtt in enumerate(rtts)))

        slow = self.ingest(table(5, 6, "1.2s", 7, "1.5s"))
        self.assertEqual(slow["warnings"], [
            "2 rows have an rtt with a unit (s) and were rejected (rtt_unparsable); write all rtts "
            "as numbers of one unit, or these answers are missing"])
        for rtts, said in ((["1.5 ms", "20ms", "7 msec."], "the unit ms in the values; remove it"),
                           (["850us", "1\u00b5s", "3usec"], "and use --column rtt=NAME:us"),
                           (["1.2s", "0.1 s"], "and use --column rtt=NAME:s"),
                           (["12ns"], "write them as numbers of us"),
                           (["1.2s", "850us", "192.5ms"], "differ from row to row; write all")):
            told = self.ingest(table(*rtts), status=1)
            self.assertIn(said, told)
            option = re.search("--column (rtt=NAME:[a-z]+)", told)
            if "remove it" not in told:  # write them as numbers of ...
                rtts = ["0.0012"] if option else ["1200", "0.85", "192.5"]
            elif option:
                rtts = [rtt.rstrip("\u00b5usec ") for rtt in rtts]
            else:
                rtts = [rtt.rstrip("msec. ") for rtt in rtts]
            options = option[0].replace("NAME", "rtt").split() if option else []
            self.assertEqual(self.ingest(table(*rtts), options=options)["rejected"], 0)
        self.assertIn("an rtt must be a number, or empty", self.ingest(table("5 kB"), status=1))

    def test_infinite_rtts(self):
        def said(name, text):
            result = self.ingest(self.write(name, text))
            self.assertEqual(result["measurements"], 5)
            return result["warnings"]

        for word, count in (("inf", 2), ("-Infinity", 3), ("1e300", 2), ("inf", 1)):
            warnings = said("a.csv", self.csv(range(T0, T0 + 5)) +
                            self.csv(range(count), rtt=word, header=""))
            self.assertEqual(warnings, [] if count == 1 else [
                f"{count} rows have an infinite rtt and were rejected; if it means a lost ping, "
                "replace it by NaN, or they are missing from the failures"])
        lines = "".join(json.dumps({"event_time": T0 + i, "src_addr": "192.0.2.1", "rtt": rtt,
                                    "dst_addr": "198.51.100.1"}) + "\n"
                        for i, rtt in enumerate([5, 6, float("inf"), float("inf"), 7, 8, 9]))
        self.assertIn("2 rows have an infinite rtt and", said("a.ndjson", lines)[0])

    def test_more_words_than_are_kept(self):
        lines = [f"{T0 + i},192.0.2.1,198.51.100.1,w{chr(97 + i % 26)}{chr(97 + i // 26 % 20)}\n"
                 for i in range(52000)] + [f"{T0},192.0.2.1,198.51.100.1,5\n"]
        lines = [line for i, line in enumerate(lines) if i % 520 < 260 or i % 7 > 0]
        told = set()
        for rows in (lines, lines[::-1]):
            path = self.write("a.csv", HEADER + "".join(rows))
            for threads in (1, 8):
                warnings = self.ingest(path, options=["--threads", threads])["warnings"]
                told.add(json.dumps(warnings[1:]))
        self.assertEqual(len(told), 1)
        self.assertIn("of many different texts, at least ", told.pop())

    def test_unit_of_rtt(self):
        slow = self.write("us.csv", self.csv(range(T0, T0 + 9), "20000"))
        self.assertRegex(self.ingest(slow)["warnings"][0],
                         r'us.csv": the median rtt is above 2 s; if the column is in '
                         r"microseconds, use --column rtt=rtt:us")
        self.assertEqual(self.ingest(slow, options=["--column", "rtt=rtt:us"])["warnings"], [])
        self.assertEqual({each[3] for each in self.rows()}, {20})
        fast = self.write("s.csv", self.csv(range(T0, T0 + 9), "0.0203", "event_time,src_addr,"
                                            "dst_addr,took\n"))
        self.assertRegex(self.ingest(fast, options=["--column", "rtt=took"])["warnings"][0],
                         r'median rtt is below 0.05 ms; .*--column rtt=took:s$')
        self.assertEqual(self.ingest(fast, options=["--column", "rtt=took:s"])["warnings"], [])
        self.assertEqual({round(each[3], 5) for each in self.rows()}, {20.3})
        # half of them is not more than half; failures do not count
        some = self.csv([T0, T0 + 1], "0.01") + "".join(
            f"{T0 + 10 + i},192.0.2.1,198.51.100.1,{rtt}\n" for i, rtt in enumerate([5, 6, "", -1]))
        self.assertEqual(self.ingest(self.write("some.csv", some))["warnings"], [])

    def test_unit_of_rtt_of_the_internet(self):
        """Medians of some ten milliseconds, in seconds or microseconds, and of a local network."""
        def told(name, factor, rtts):
            path = self.write(name, HEADER + "".join(
                f"{T0 + i},192.0.2.1,198.51.100.1,{rtt * factor:.9f}\n"
                for i, rtt in enumerate(rtts)))
            return self.ingest(path)["warnings"]

        far = [20 + i * i / 20 for i in range(100)] + [1500, 2, 3]  # milliseconds, median 145
        self.assertRegex(told("s.csv", 0.001, far)[0],
                         r"median rtt is below 0.3 ms, and hardly any is above 1 ms; if the column "
                         r"is in seconds, use --column rtt=rtt:s$")
        self.assertRegex(told("us.csv", 1000, [rtt / 30 for rtt in far])[0],
                         r"median rtt is above 2 s; .*--column rtt=rtt:us$")
        self.assertEqual(told("ms.csv", 1, far), [])
        near = [0.1 + i / 1000 for i in range(95)] + [1.2, 2, 3, 4, 5]
        self.assertEqual(told("lan.csv", 1, near), [])

    # ---- times

    def test_whole_numbers_by_their_size(self):
        wanted = None
        for name, scale in (("s", 1), ("ms", 10 ** 3), ("us", 10 ** 6), ("ns", 10 ** 9)):
            path = self.write(f"{name}.csv", self.csv([(T0 + i) * scale for i in range(5)]))
            result = self.ingest(path)
            self.assertEqual((result["rejected"], result["warnings"]), (0, []))
            wanted = wanted or self.rows()
            self.assertEqual(self.rows(), wanted)
            objects = "".join(json.dumps({"event_time": (T0 + i) * scale, "src_addr": "192.0.2.1",
                                          "dst_addr": "198.51.100.1", "rtt": 5}) + "\n"
                              for i in range(5))
            self.ingest(self.write(f"{name}.ndjson", objects))
            self.assertEqual(self.rows(), wanted)
        mixed = self.write("mixed.csv", self.csv([T0, T0 * 1000 + 1]))
        self.assertRegex(self.ingest(mixed)["warnings"][0],
                         r'mixed.csv": times are numbers of different sizes and were read as '
                         r"seconds, milliseconds; .*--column event_time=event_time:ms")

    def test_units_of_times(self):
        def times(text, unit):
            path = self.write("a.csv", self.csv([text], header="ts,src_addr,dst_addr,rtt\n"))
            self.ingest(path, options=["--column", f"event_time=ts:{unit}"])
            return self.rows()[0][0]
        self.assertEqual(times("1600000000500", "ms"), "2020-09-13T12:26:40.500000Z")
        self.assertEqual(times("90000", "ms"), "1970-01-01T00:01:30.000000Z")
        self.assertEqual(times("1600000000500000", "us"), "2020-09-13T12:26:40.500000Z")
        self.assertEqual(times("1600000000500000999", "ns"), "2020-09-13T12:26:40.500000Z")
        self.assertEqual(times("200000000000", "s"), "8307-10-01T19:33:20.000000Z")
        self.assertEqual(times("44087.25", "excel"), "2020-09-13T06:00:00.000000Z")
        self.assertEqual(times("2020-09-13 06:00:00", "ms"), "2020-09-13T06:00:00.000000Z")
        path = self.write("b.csv", self.csv([T0], header="ts:ms,src_addr,dst_addr,rtt\n"))
        self.assertIn('no column "ts"',
                      self.ingest(path, options=["--column", "event_time=ts:ms"], status=1))
        self.ingest(path, options=["--column", "event_time=ts:ms:s"])
        self.assertEqual(self.rows()[0][0], "2020-09-13T12:26:40.000000Z")

    def followed(self, times, said):
        """The files that a warning says to make, with the day that it names, if it does."""
        dates = re.findall(r" from (\S+) on \((.*?)\)(?:, or|$)", said)
        if re.search("name their unit|check the clock|--column", said):
            return  # what the reader knows; an option
        for day, advice in dates or [(None, said.partition("); ")[2])]:
            fixed = [self.corrected(time, advice) for time in times]
            number = len(os.listdir(self.top))
            yield self.write(f"fixed-{number}.csv", self.csv(fixed)), day, len(fixed)

    def corrected(self, time, advice):
        digits = re.search("YYYYMMDD(hhmm)?(ss)?; write", advice)
        if digits:
            text = f"{str(time):0<14}"
            return f"{text[:4]}-{text[4:6]}-{text[6:8]}T{text[8:10]}:{text[10:12]}:{text[12:]}Z"
        if "add the time of the start" in advice:
            return int(time) + T0
        number = decimal.Decimal(time)
        steps = re.findall(r"(add|subtract|multiply(?: them)? by|divide by) ([\d.]*\d)", advice)
        self.assertTrue(steps, advice)
        for step, text in steps:
            other = decimal.Decimal(text)
            number = {"a": number + other, "s": number - other, "m": number * other,
                      "d": number / other}[step[0]]
        self.assertEqual("for us" in advice, number > 10 ** 15)
        whole = number == number.to_integral_value()
        return f"{number:.0f}" if whole or "for us" in advice else f"{number:f}"

    def test_implausible_times(self):
        fixed = []
        for times, words in (
                (["45244.9259", "45244.9266"],
                 r"before 1971 .*Excel serial days from 2023-11-14 on "
                 r"\(--column event_time=event_time:excel\)$"),
                (["60262.9"], "may be modified Julian days from 2023-11-14 on .subtract 40587"),
                (["2460263.4"], "may be Julian days from 2023-11-14 on .subtract 2440587.5"),
                (["739204.5"], "may be days of MATLAB's datenum from 2023-11-14 on"),
                ([19675], "may be days since 1970 from 2023-11-14 on"),
                ([472222], "may be hours since 1970 from 2023-11-14 on"),
                ([20231114, 20231201], "before 1971 .*like YYYYMMDD"),
                ([28333333, 28333400], "before 1971 .*minutes since 1970"),
                ([0, 1, 3600], "before 1971 .*if they are seconds since a start"),
                (["3908988800.5", "3908988860.5"],
                 "future .*NTP seconds since 1900 from 2023-11-14 on"),
                (["3782844800"], "NTP seconds since 1900 from 2019-11-15 on .*, or seconds since "
                                 "1904 from 2023-11-14 on"),
                ([20231114221320, 20231114221325], "future .*like YYYYMMDDhhmmss"),
                ([132444736000000000], "before 1995 .*like FILETIME of Windows"),
                ([637355664000000000], "before 1995 .*like ticks of .NET"),
                ([160000000000, 160000006000], "before 1995 .*like hundredths of a second"),
                ([202311041200, 202311041201], "before 1995 .*like YYYYMMDDhhmm; write"),
                ([621692800], "before 1995 .*seconds since 2001, add 978307200"),
                (["1992-01-01 00:00:00"], "before 1995 .*check the clock"),
                (["9000000000.5"], "future .*name their unit")):
            warnings = self.ingest(self.write("a.csv", self.csv(times)))["warnings"]
            self.assertEqual(len(warnings), 1, warnings)
            self.assertRegex(warnings[0], 'a.csv": all times are .*' + words)
            fixed += self.followed(times, warnings[0])
        # what they say to do makes times that are not warned of
        self.assertGreater(len(fixed), 14)
        result = self.ingest(*(path for path, _, _ in fixed))
        self.assertEqual((result["measurements"], result["warnings"]),
                         (sum(count for _, _, count in fixed), []))
        days = [row[0][:10] for row in self.rows()]
        self.assertEqual([day for _, day, _ in fixed if day and day not in days], [])
        # one time that is plausible, and each file alone
        self.assertEqual(self.ingest(self.write("b.csv", self.csv([1, 2, T0])))["warnings"], [])
        self.write("a.csv", self.csv([1, 2]))
        warnings = self.ingest(self.at("a.csv"), self.at("b.csv"))["warnings"]
        self.assertEqual(len(warnings), 1)

    # ---- addresses

    def pairs(self, *pairs, name="a.csv"):
        return self.write(name, "event_time,src_addr,dst_addr,ip_version,rtt\n" + "".join(
            f"{T0 + i},{src},{dst},{version},5\n" for i, (src, dst, version) in enumerate(pairs)))

    def test_mapped_addresses(self):
        mapped = [("::ffff:192.0.2.1", "198.51.100.1", ""), ("::FFFF:c000:201", "198.51.100.1", 4),
                  ("192.0.2.1", "::ffff:198.51.100.1", 6),
                  ("0:0:0:0:0:ffff:192.0.2.1", "::ffff:c633:6401", 6),
                  ("::ffff:192.0.2.1", "198.51.100.1", 6)]
        result = self.ingest(self.pairs(*mapped))
        self.assertEqual((result["rejected"], result["mapped_addresses"]), (0, 5))
        self.assertRegex(result["warnings"][0], "^5 measurements have IPv4-mapped addresses, .*"
                                                "--address written keeps the text$")
        with open(os.path.join(self.out, "run.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["mapped_addresses"], 5)
        self.assertEqual({each[1:3] for each in self.rows()}, {("192.0.2.1", "198.51.100.1")})
        plain = self.manifest()
        self.ingest(self.pairs(*[("192.0.2.1", "198.51.100.1", 4)] * 5, name="b.csv"))
        self.assertEqual(self.manifest(), plain)  # src_id, version, split: every byte
        # not those: a real contradiction, IPv4-compatible, another prefix
        result = self.ingest(self.pairs(("192.0.2.1", "198.51.100.1", 6),
                                        ("::ffff:192.0.2.1", "2001:db8::1", 6),
                                        ("::ffff:0:192.0.2.1", "::198.51.100.1", 6)))
        self.assertEqual(result["rejected_reasons"], {"ip_version_contradiction": 2})
        self.assertEqual((result["mapped_addresses"], result["warnings"][1:]), (0, []))

    def manifest(self):
        with open(os.path.join(self.out, "manifest.json"), encoding="utf-8") as file:
            return file.read()

    def test_spellings(self):
        spelled = [("2001:db8::1", "2001:db8::9", 6), ("2001:DB8::1", "2001:DB8::9", 6),
                   ("2001:db8:0::1", "2001:db8::9", 6), ("2001:db8::2", "2001:db8::9", 6),
                   ("2001:DB8::3", "2001:db8::9", 6), ("::ffff:192.0.2.1", "192.0.2.9", ""),
                   ("192.0.2.1", "192.0.2.9", 4)]
        result = self.ingest(self.pairs(*spelled), options=["--train-ratio", "1"])
        self.assertEqual(result["probes"]["train"], 6)
        self.assertRegex(result["warnings"][1], "^1 source addresses are written in several ways "
                                                "and became 3 probes; --address canonical")
        self.assertNotIn("address", json.loads(self.manifest())["options"])
        result = self.ingest(self.pairs(*spelled), options=["--train-ratio", "1", "--address",
                                                            "canonical"])
        self.assertEqual((result["probes"]["train"], len(result["warnings"])), (4, 1))
        self.assertEqual({each[2] for each in self.rows()}, {"2001:db8::9", "192.0.2.9"})
        self.assertEqual(json.loads(self.manifest())["options"]["address"], "canonical")
        result = self.ingest(self.pairs(*[spelled[i] for i in (0, 1, 2, 3, 4, 6)]),
                             options=["--train-ratio", "1", "--address", "written"])
        self.assertEqual((result["probes"]["train"], result["rejected"]), (6, 0))
        result = self.ingest(self.pairs(("::ffff:192.0.2.1", "::ffff:192.0.2.9", 6),
                                        ("192.0.2.1", "192.0.2.9", 4)),
                             options=["--train-ratio", "1", "--address", "written"])
        self.assertEqual((result["probes"]["train"], result["mapped_addresses"]), (2, 0))
        self.assertIn("1 source addresses are written in several ways and became 2 probes",
                      result["warnings"][0])
        self.assertIn("::ffff:192.0.2.1", {each[1] for each in self.rows()})

    def test_threads_do_not_matter(self):
        draw = random.Random(7)
        lines = []
        for i in range(60000):
            k = draw.randrange(40)
            src = [f"::ffff:192.0.2.{k}", f"192.0.2.{k}", f"::FFFF:c000:2{k:02x}"][i % 3]
            lines.append(f"{T0 + draw.randrange(9999)},{src},::ffff:198.51.100.1,6,"
                         f"{draw.choice(['5', '-', 'lost'])}\n")
        path = self.write("a.csv", "event_time,src_addr,dst_addr,ip_version,rtt\n" +
                          "".join(lines))
        results = set()
        for threads in (1, 2, 3, 8):
            told = self.ingest(path, options=["--threads", threads])
            results.add(json.dumps([self.manifest(), told["warnings"], told["mapped_addresses"]]))
        self.assertEqual(len(results), 1)

    # ---- probes

    def atlas(self, *results):
        lines = [json.dumps({"type": "ping", "timestamp": T0 + i, "af": 4, "prb_id": number,
                             "from": source, "src_addr": own, "dst_addr": "198.51.100.1",
                             "avg": 5}) + "\n"
                 for i, (number, source, own) in enumerate(results)]
        return self.write("atlas.ndjson", "".join(lines))

    def test_probes_and_addresses(self):
        said = (r"of 3 probes \(prb_id\) with 4 addresses: of 2 probes in test, 2 are also in "
                r"train with another address; 1 private address is from src_addr, because "
                r"\"from\" is empty, and may be several probes; --probe prb_id makes")
        path = self.atlas((1, "192.0.2.1", "x"), (1, "192.0.2.2", "x"), (1, "192.0.2.1", "x"),
                          (2, "", "10.0.0.1"), (3, "", "10.0.0.1"), (3, "192.0.2.9", "10.0.0.1"),
                          (None, "203.0.113.1", "x"))
        with open(path, encoding="utf-8") as file:
            text = file.read()
        # as firmware 0 and exports of databases have them
        quoted = self.write("text.json", re.sub(r'"prb_id": (\d+)', r'"prb_id": "\1"', text))
        for path, threads in ((path, 1), (path, 3), (quoted, 2)):
            warnings = self.ingest(path, options=["--split", "ordered", "--train-ratio", "0.5",
                                                  "--threads", threads])["warnings"]
            # 10.0.0.1 and 192.0.2.1 are in train, the other three in test
            self.assertEqual(len(warnings), 1)
            self.assertRegex(warnings[0], said)
        moved = [(number, f"192.0.2.{10 * number + i}", "x") for number in range(8)
                 for i in range(5) if number > 0]
        warnings = self.ingest(self.atlas(*moved), options=["--train-ratio", "0.5"])["warnings"]
        tests = {int(json.loads(line)["src_addr"].rpartition(".")[2]) // 10 for line in
                 leat("cat", os.path.join(self.out, "test"), "--format", "ndjson",
                      status=0).stdout.splitlines()}
        trains = {int(json.loads(line)["src_addr"].rpartition(".")[2]) // 10 for line in
                  leat("cat", os.path.join(self.out, "train"), "--format", "ndjson",
                       status=0).stdout.splitlines()}
        self.assertIn(f"of 7 probes (prb_id) with 35 addresses: of {len(tests)} probes in test, "
                      f"{len(tests & trains)} are also in train", warnings[0])
        still = self.atlas((1, "192.0.2.1", "10.0.0.1"), (2, "192.0.2.2", "10.0.0.1"),
                           (1, "192.0.2.1", "10.0.0.1"))
        self.assertEqual(self.ingest(still)["warnings"], [])

    def test_flattened_results(self):
        """A table of results has the probe's number beside its address."""
        rows = [(7, "192.0.2.1"), (7, "192.0.2.2"), (8, "192.0.2.3"), (8, "192.0.2.3")]
        said = {json.dumps(self.ingest(self.write(name, text))["warnings"]) for name, text in [
            ("a.csv", "prb_id," + HEADER + "".join(
                f"{number},{T0},{src},198.51.100.1,5\n" for number, src in rows)),
            ("b.csv", "prb_id," + HEADER + "".join(
                f"{number}.0,{T0},{src},198.51.100.1,5\n" for number, src in rows)),
            ("a.ndjson", "".join(json.dumps({
                "event_time": T0, "src_addr": src, "dst_addr": "198.51.100.1", "rtt": 5,
                "prb_id": number}) + "\n" for number, src in rows))]}
        self.assertEqual(len(said), 1)
        self.assertIn("of 2 probes (prb_id) with 3 addresses", said.pop())
        for number in ("", "x", "0", "-7", "7.5", "99999999999"):
            path = self.write("a.csv", "prb_id," + HEADER + "".join(
                f"{number},{T0},192.0.2.{i},198.51.100.1,5\n" for i in range(3)))
            self.assertEqual(self.ingest(path)["warnings"], [])
        path = self.write("a.csv", "prb_id," + HEADER + "".join(
            f"{number},{T0},{src},198.51.100.1,5\n" for number, src in rows))
        self.assertEqual(self.ingest(path, options=["--probe", "prb_id"])["warnings"], [])

    def test_more_pairs_than_are_compared(self):
        if os.environ.get("LEAT_SANITIZE"):
            self.skipTest("a sanitizer takes memory of its own, of which the number depends")
        many = self.atlas(*((k + 1, "192.0.2.1", "x") for k in range(135000)))
        told = set()
        for threads in (1, 2):
            warnings = self.ingest(many, options=["--memory", "64M", "--threads", threads])
            told.update(each for each in warnings["warnings"] if "prb_id" in each)
        self.assertEqual(len(told), 1)
        said = re.fullmatch(r"a probe is one source address, but the results of RIPE Atlas are of "
                            r"more than 131072 pairs of a probe and an address; those of a sample "
                            r"are of (\d+) probes \(prb_id\) with 1 address; --probe prb_id makes "
                            r"each prb_id one probe", told.pop())
        self.assertTrue(60000 < int(said[1]) < 75000, said)

    def test_another_encoding_in_members_that_are_not_read(self):
        ping = b'{"event_time":%d,"src_addr":"192.0.2.1","dst_addr":"198.51.100.1","rtt":5%s}\n'
        odd = [b"", b',"note":"caf\xe9"', b',"caf\xe9":1', b',"x":{"y":["\xff\xfe"]}',
               b',"ip_version":"\xe9"', b',"ip_version":{"$numberLong":"\xff"}']
        path = self.at("a.ndjson")
        with open(path, "wb") as file:
            file.write(b"".join(ping % (T0 + i, more) for i, more in enumerate(odd)))
        result = self.ingest(path)
        self.assertEqual((result["measurements"], result["rejected_reasons"]),
                         (4, {"malformed_line": 2}))
        with open(path, "wb") as file:
            file.write(b"".join(ping % (T0 + i, b',"id":' + name) for i, name in enumerate(
                [b'"caf\xc3\xa9"', b'"caf\xe9"', b'{"$numberLong":"\xff"}', b"7"])))
        result = self.ingest(path, options=["--probe", "id"])
        self.assertEqual((result["measurements"], result["rejected_reasons"]),
                         (2, {"malformed_line": 2}))

    def test_other_results_under_a_mapping(self):
        """Also those of firmware 0 and of exports, with numbers as texts, are not failed pings."""
        ping = {"type": "ping", "timestamp": T0, "msm_id": 1, "prb_id": 5, "from": "192.0.2.1",
                "dst_addr": "198.51.100.1", "af": 4, "avg": 5}
        for ids in ({"msm_id": "2", "prb_id": "5"}, {"prb_id": "5"}, {"msm_id": 2},
                    {"msm_id": {"$numberLong": "2"}}):
            dns = {"type": "dns", "timestamp": str(T0 + 1), "from": "192.0.2.1", "af": "4",
                   "src_addr": "192.0.2.1", "dst_addr": "198.51.100.1", "result": {"rt": "12"},
                   **ids}
            path = self.write("a.ndjson", json.dumps(ping) + "\n" + json.dumps(dns) + "\n")
            result = self.ingest(path, options=["--column", "event_time=timestamp,rtt=avg"])
            self.assertEqual(result["rejected_reasons"], {"not_a_ping_result": 1}, ids)
            self.assertEqual([each[3] for each in self.rows()], [5])

    # ---- stacked files

    def test_stacked_headers(self):
        parts = [self.csv([T0, T0 + 1]),
                 f"event_time,dst_addr,src_addr,rtt\n{T0 + 2},198.51.100.1,192.0.2.1,6\n"]
        for name in ("all.csv", "all.csv.gz"):
            path = self.write(name, "".join(parts))
            if name.endswith(".gz"):
                with open(path, "wb") as file:
                    file.write(b"".join(gzip.compress(part.encode()) for part in parts))
            result = self.ingest(path)
            self.assertEqual((result["records"], result["measurements"]), (3, 3))
            self.assertIn(f'{name}": a later header line has other columns', result["warnings"][0])
            self.assertEqual({each[1:3] for each in self.rows()}, {("192.0.2.1", "198.51.100.1")})
        same = self.ingest(self.write("same.csv", parts[0] + self.csv([T0 + 5])))
        self.assertEqual((same["measurements"], same["rejected"], same["warnings"]), (3, 0, []))
        said = self.ingest(self.write("bad.csv", parts[0] + "time,dst_addr,src_addr,rtt\n"
                                      f"{T0},198.51.100.1,192.0.2.1,6\n"), status=1)
        self.assertIn('bad.csv": line 4 is another header, which does not have all of the columns '
                      'event_time, src_addr', said)
        for names in ("ts,target,source,ms", '"When","To","From","Took"', "ts,target,source,4xx",
                      "time,dst,src,rtt", "t0, to, from, rtt_ms", "rtt_ms,ip_2,ip_1,time",
                      "# when,to,from,took", "#when,to,from,took"):
            said = self.ingest(self.write("own.csv", parts[0] + names + "\n"
                                          f"{T0},198.51.100.1,192.0.2.1,6\n"), status=1)
            self.assertIn('own.csv": line 4 looks like the header of another table, and records '
                          f'follow: "{names}"; use the names event_time, src_addr, dst_addr and '
                          "rtt in that line, or split the file there; remove", said)
            # without measurements after it, it does not matter what it is
            told = self.ingest(self.write("own.csv", f"{parts[0]}{names}\n{T0},x,192.0.2.1,6\n"))
            self.assertEqual((told["rejected"], told["warnings"]), (2, []))
        # words that a record may have, too: read on, and said
        for names in (",target,source,ms", "ts,host,host,ms", "ts,target,source,x",
                      "# a comment,of four,parts,yes"):
            told = self.ingest(self.write("own.csv", parts[0] + names + "\n"
                                          f"{T0},198.51.100.1,192.0.2.1,6\n"))
            self.assertEqual((told["measurements"], told["rejected"]), (3, 1))
            self.assertIn('own.csv": line 4 looks like a header with other names; the rows after',
                          told["warnings"][0])
        # columns that are not read have names as well, or values
        wide = "n,event_time,src_addr,dst_addr,rtt,note\n" \
               f"0,{T0},192.0.2.1,198.51.100.1,5,\n"
        for names, stops in ((",ts,to,from,ms,note", True), ("7,ts,to,from,ms,note", False)):
            path = self.write("wide.csv", f"{wide}{names}\n1,{T0},198.51.100.1,192.0.2.1,6,\n")
            if stops:
                self.assertIn("line 3 looks like the header", self.ingest(path, status=1))
            else:
                self.assertIn("line 3 looks like a header with", self.ingest(path)["warnings"][0])
        lines = "".join(f"{line}\n" for line in (
            "total,,,", "mean,all,hosts,12.5", "a title", "2020-13-45 10:00,alpha,beta,gamma",
            "Mon Sep 14 12:00:00 2020,alpha,beta,gamma", "soon,192.0.2.256,198.51.100.1,gone"))
        told = self.ingest(self.write("junk.csv", parts[0] + lines))
        self.assertEqual((told["measurements"], told["rejected"]), (2, 6))
        self.assertFalse([each for each in told["warnings"] if "header" in each])
        lines = "nan,,,\n# a,comment,of,four\na,b,c\nsoon,192.0.2.1,x,lost\nsoon,a,b,5\n,,,\n"
        told = self.ingest(self.write("odd.csv", parts[0] + lines))
        self.assertEqual((told["measurements"], told["rejected"]), (2, 6))

    # ---- files that are not what their names say, or nothing

    def objects(self, times):
        return [json.dumps({"event_time": time, "src_addr": "192.0.2.1", "rtt": 5,
                            "dst_addr": "198.51.100.1"}) for time in times]

    def test_lines_that_end_in_cr(self):
        """Read as one line, they would be one row that is rejected, or a header without rows."""
        good = self.write("good.csv", self.csv(range(T0, T0 + 9)))
        note = self.csv(range(T0, T0 + 9)).replace("\n", ",x\r").replace("rtt,x", "rtt,note")
        for name, text in (("note.csv", note),
                           ("body.csv", HEADER + self.csv(range(T0, T0 + 9), header="").replace(
                               "\n", "\r")),
                           ("quoted.csv", HEADER + self.csv(range(T0, T0 + 9), '"5"', "").replace(
                               "\n", "\r")),
                           ("long.csv", HEADER + self.csv(range(T0, T0 + 90000),
                                                          header="").replace("\n", "\r"))):
            said = self.ingest(good, self.write(name, text), status=1)
            self.assertIn(f'{name}": its lines end in CR alone; convert them: tr ', said)
        text = HEADER + f"{T0},192.0.2.1,198.51.100.1,5\r{T0},192.0.2.1,198.51.100.1,5\n"
        result = self.ingest(good, self.write("one.csv", text))  # a damaged line
        self.assertEqual((result["measurements"], result["rejected"]), (9, 1))
        quoted = HEADER.replace("rtt", '"rtt","a\r\nnote"') + \
            f"{T0},192.0.2.1,198.51.100.1,5,\"x\ry\"\n"
        self.assertEqual(self.ingest(self.write("quoted.csv", quoted))["measurements"], 1)

    def test_many_objects_in_a_line(self):
        good = self.write("good.csv", self.csv(range(T0, T0 + 9)))
        for part, count in (("\r", 9), ("", 9), (" ", 4), (", ", 9), ("\r", 20000)):
            text = part.join(self.objects(range(T0, T0 + count))) + "\n"
            said = self.ingest(good, self.write("all.ndjson", text), status=1)
            self.assertIn('all.ndjson": line 1 has several JSON objects; write one a line: jq -c',
                          said)
        text = "".join(self.objects([T0, T0 + 1])) + "\n"  # a line end that is lost
        result = self.ingest(good, self.write("two.ndjson", text))
        self.assertEqual((result["measurements"], result["rejected"]), (9, 1))

    def test_empty_files(self):
        good = self.write("good.csv", self.csv(range(T0, T0 + 9)))
        for name, text in (("e.csv", ""), ("e.ndjson", ""), ("e.json", ""), ("e.parquet", ""),
                           ("e.csv", "\n\n"), ("e.csv.gz", "")):
            result = self.ingest(good, self.write(name, text))
            self.assertEqual((result["measurements"], result["rejected"]), (9, 0), name)
            self.assertEqual(len(result["warnings"]), 1, name)
            self.assertIn(f'{name}" is empty and was skipped', result["warnings"][0])
        self.assertIn('no rows in 1 input file (first: "',
                      self.ingest(self.write("e.csv", ""), status=1))
        many = [self.write(f"e{i}.csv", "") for i in range(6)]
        self.assertEqual(self.ingest(good, *many)["warnings"][4],
                         "... and the same of 2 other files")

    def test_files_of_other_kinds(self):
        for name, begin, said in (
                ("a.orc", b"ORC\x08\x03", "is an ORC file; write it as Parquet"),
                ("a.csv", b"ORC\x08\x03", "is an ORC file; write it as Parquet"),
                ("a.xlsx", b"PK\3\4\x14\0", "is a spreadsheet; save it as CSV"),
                ("a.png", b"\x89PNG\r\n\x1a\n", "is an image; `leat ingest images` reads"),
                ("a.jpg", b"\xff\xd8\xff\xe0", "is an image; `leat ingest images` reads")):
            with open(self.at(name), "wb") as file:
                file.write(begin + bytes(60))
            self.assertIn(f'{name}" {said}', self.ingest(self.at(name), status=1))

    def test_objects_of_other_tools(self):
        path = self.write("a.ndjson", "".join(json.dumps({"when": T0 + i, "ms": 5}) + "\n"
                                              for i in range(5)))
        self.assertIn("they have neither the member event_time nor a type of RIPE Atlas",
                      self.ingest(path, status=1))
        path = self.write("a.ndjson", json.dumps({"type": "dns", "timestamp": T0}) + "\n")
        self.assertIn("they are not results of ping", self.ingest(path, status=1))

    def test_a_member_of_packets(self):
        result = {"type": "ping", "timestamp": T0, "from": "192.0.2.1", "af": 4, "prb_id": 7,
                  "dst_addr": "198.51.100.1", "min": 4, "avg": 5, "result": [{"rtt": 5}]}
        path = self.write("a.json", json.dumps(result) + "\n")
        rtt = ["--column", "rtt=min"]
        said = self.ingest(path, options=[*rtt, "--per-packet"], status=1)
        self.assertIn('no packet of 1 RIPE Atlas results has the member "min"; leave out --column',
                      said)
        self.assertEqual(self.ingest(path, options=rtt)["measurements"], 1)
        self.assertEqual(self.ingest(path, options=["--per-packet"])["measurements"], 1)

    def test_text_named_parquet(self):
        self.ingest(self.write("a.csv", self.csv(range(T0, T0 + 9))))
        wanted = self.rows()
        for text in (self.csv(range(T0, T0 + 9)), "\n".join(self.objects(range(T0, T0 + 9))),
                     f"[{','.join(self.objects(range(T0, T0 + 9)))}]"):
            self.assertEqual(self.ingest(self.write("a.parquet", text))["warnings"], [])
            self.assertEqual(self.rows(), wanted)
        for text in ("version https://git-lfs.github.com/spec/v1\n", "\0\1,\2"):
            self.assertIn('a.parquet" is not a Parquet file: it does not begin with PAR1',
                          self.ingest(self.write("a.parquet", text), status=1))

    def test_a_column_in_the_path(self):
        """Folders of tables in partitions are not columns; one that is needed is named."""
        folder_of = self.at("table", "src_addr=192.0.2.1", "day=2020-09-13")
        os.makedirs(folder_of)
        for name, text in (("a.csv", f"event_time,dst_addr,rtt\n{T0},198.51.100.1,5\n"),
                           ("a.ndjson", json.dumps({"event_time": T0, "rtt": 5,
                                                    "dst_addr": "198.51.100.1"}) + "\n")):
            path = os.path.join(folder_of, name)
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
            said = self.ingest(self.at("table"), status=1)
            self.assertIn('"src_addr=192.0.2.1" in its path is not read; write it into the files: '
                          f"duckdb -c \"COPY (FROM read_{'csv' if name == 'a.csv' else 'json'}(",
                          said)
            os.remove(path)
        with open(os.path.join(folder_of, "a.csv"), "w", encoding="ascii") as file:
            file.write(self.csv([T0]))
        self.assertEqual(self.ingest(self.at("table"))["measurements"], 1)

    # ---- what later runs know

    def test_a_complete_set_repeats_its_warnings(self):
        path = self.write("a.csv", self.csv([1, 2, 3]))
        first = self.ingest(path)["warnings"]
        words = ["ingest", "probes", path, "-o", self.out, "--resume", "--json"]
        done = json.loads(leat(*words, status=0).stdout)
        self.assertTrue(done["was_complete"])
        self.assertEqual(done["warnings"], first)
        leat(*words, "--column", "event_time=event_time:ms", status=1)

    def test_a_set_of_older_rules_is_named(self):
        path = self.write("a.csv", self.csv([T0]))
        self.ingest(path)
        run = os.path.join(self.out, "run.json")
        with open(run, encoding="utf-8") as file:
            facts = json.load(file)
        self.assertEqual(facts.pop("reader"), 6)
        with open(run, "w", encoding="utf-8") as file:
            json.dump(facts, file)
        words = ["ingest", "probes", path, "-o", self.out]
        said = leat(*words, "--resume", status=1).stderr
        self.assertRegex(said, "made by reading rules 1 of another version; use --replace")
        leat("inspect", self.out, "--verify", status=0)
        self.ingest(path)
        self.assertIn("nothing to do", leat(*words, "--resume", status=0).stdout)


if __name__ == "__main__":
    unittest.main()
