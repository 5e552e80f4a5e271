"""The figures of pages: their numbers, counted here from what went in.

Runs the command named by LEAT (default: build/leat).
"""
import collections
import csv
import datetime
import glob
import io
import json
import math
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import pages
import pings
from command import BUILD, leat

DATA = None  # a folder with the data sets `set` and `few`
FEW = collections.Counter()  # the round trips of `few`, in ms


def ingest(name):
    leat("ingest", "probes", os.path.join(DATA, name + ".csv"), "-o", os.path.join(DATA, name),
         status=0)


def setUpModule():
    global DATA
    DATA = tempfile.mkdtemp(prefix="leat-figures-")
    pings.write_csv(os.path.join(DATA, "set.csv"))
    with open(os.path.join(DATA, "few.csv"), "w", encoding="utf-8") as out:
        out.write("event_time,src_addr,dst_addr,ip_version,rtt\n")
        for i in range(3000):
            rtt = ("5", "20", "300.5", "20")[i % 7 % 4]
            FEW[rtt] += 1
            out.write(f"{1556136000 + i // 10 * 240},192.0.2.{i % 10},198.51.100.7,4,{rtt}\n")
    for name in ("set", "few"):
        ingest(name)


def tearDownModule():
    shutil.rmtree(DATA)


def inspected(name):
    """The figures of the page by title, and the document."""
    path = os.path.join(DATA, "page.html")
    document = leat("inspect", os.path.join(DATA, name), "--json", "--html", path, status=0)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return pages.figures(text), json.loads(document.stdout), text


class Rendered(unittest.TestCase):
    def test_page_in_memory_is_the_page_that_is_saved(self):
        """And what looks like a place for a value in a text from data is text."""
        program = os.path.join(BUILD, "tests", "leat_rendered")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([program], cwd=folder, capture_output=True,
                                  check=True, text=True)
            with open(os.path.join(folder, "saved.html"), encoding="utf-8") as file:
                saved = file.read()
            self.assertEqual(done.stdout, saved + "the disk is on fire\n")
            found = pages.files(saved)
            self.assertEqual(set(found), {"losses.svg", "losses.csv"})
            for name, data in found.items():
                with open(os.path.join(folder, "figures", name), "rb") as file:
                    self.assertEqual(file.read(), data)
        pages.check_stands_alone(self, saved)
        name = "pings &amp; &quot;pongs&quot; {{body}}"
        self.assertIn(f"<title>{name} - leat test</title>\n<style>\n:root{{color-scheme", saved)
        self.assertIn(f"<main>\n<header>\n<h1>{name}</h1>\n</header>\n", saved)
        self.assertRegex(saved, r"</div>\n<footer>leat [0-9.]+\. Digest <code>\{\{words\}\} "
                                r"&lt;0&gt;</code></footer>\n</main>\n</body>\n</html>\n$")


class Histograms(unittest.TestCase):
    def test_few_values_are_bars_with_their_values(self):
        figures, _, text = inspected("few")
        pages.check_labels(self, text)
        figure = figures["Round trip time"]
        told = [re.fullmatch(r"([\d.]+) ms to ([\d.]+) ms: ([\d.]+) % of the answers \(([\d,]+)\)",
                             words).groups() for words in pages.tooltips(figure)]
        self.assertEqual(len(told), 3)
        for rtt, (low, high, share, count) in zip(("5", "20", "300.5"), told):
            self.assertTrue(float(low) <= float(rtt) <= float(high) + 0.5, told)
            self.assertLess(float(high), 1.02 * float(low))
            self.assertEqual(count, f"{FEW[rtt]:,}")
            self.assertEqual(share, f"{100 * FEW[rtt] / 3000:.1f}")
            self.assertIn(f'class="marked">{share} %</text>', figure)
        self.assertNotIn("log scale", figure)
        self.assertEqual(pages.tooltips(figures["Gap between measurements"]),
                         ["240 s: 100.0 % of the gaps (2,990)"])

    def test_every_value_is_in_one_bar(self):
        figures, document, _ = inspected("set")
        values = document["values"]
        for title, of in (("Round trip time", values["rtt_ms"]),
                          ("Gap between measurements", values["gap_seconds"]),
                          ("Row size", document["row_bytes"])):
            counts = pages.counts(figures[title])
            self.assertGreater(len(counts), 0)
            self.assertGreater(min(counts), 0, "a bar of nothing")
            self.assertEqual(sum(counts), of["count"], title)


def table(data):
    """The rows of a CSV file, each by the names of its columns."""
    return list(csv.DictReader(io.StringIO(data.decode())))


def quantile(values, share):
    values = sorted(values)
    return values[max(math.ceil(share * len(values)), 1) - 1]


class Values(unittest.TestCase):
    """Round trips and failures by version, split, hour and row."""
    @classmethod
    def setUpClass(cls):
        cls.rows = {}
        with open(os.path.join(DATA, "set.csv"), encoding="utf-8") as file:
            for row in csv.DictReader(file):
                cls.rows.setdefault(row["src_addr"], []).append(row)
        cls.figures, cls.document, text = inspected("set")
        cls.files = pages.files(text)
        cls.test = set()
        for shard in glob.glob(os.path.join(DATA, "set", "test", "*.arrayrecord")):
            told = leat("cat", shard, "--format", "csv", status=0).stdout
            cls.test.update(word for word in re.split("[,\n]", told) if word in cls.rows)

    def answers(self, wanted):
        return [float(row["rtt"]) for probe, rows in self.rows.items() for row in rows
                if row["rtt"] != "-1" and wanted(probe, row)]

    def expect_series(self, name, title, of):
        rows = table(self.files[name])
        self.assertEqual({row["series"] for row in rows}, set(of))
        for series, (told, rtts) in of.items():
            self.assertGreater(len(rtts), 100)
            self.assertEqual(told["count"], len(rtts))
            self.assertEqual(told["zeros"] + sum(one["count"] for one in told["histogram"]),
                             len(rtts))
            self.assertAlmostEqual(told["mean"], sum(rtts) / len(rtts), 3)
            self.assertAlmostEqual(told["p50"], quantile(rtts, 0.5), delta=0.016 * told["p50"])
            shares = [float(row["share_of_the_answers"]) for row in rows
                      if row["series"] == series]
            self.assertAlmostEqual(sum(shares), 1, 6)
        self.assertIn(title, self.figures)

    def test_versions_and_splits(self):
        values = self.document["values"]
        self.expect_series("round-trip-time-ipv4-and-ipv6.csv", "Round trip time, IPv4 and IPv6", {
            f"IPv{n}": (values["rtt_ms_by_version"][f"ipv{n}"],
                        self.answers(lambda _, row, n=n: row["ip_version"] == n)) for n in "46"})
        self.assertGreater(len(self.test), 3)
        self.expect_series(
            "round-trip-time-train-and-test.csv", "Round trip time, train and test", {
                name: (values["rtt_ms_by_split"][name],
                       self.answers(lambda probe, _, is_test=is_test:
                                    (probe in self.test) == is_test))
                for name, is_test in (("train", False), ("test", True))})

    def test_hours(self):
        rows = table(self.files["round-trip-time-by-hour-of-the-day.csv"])
        told = {one["hour"]: one for one in self.document["values"]["rtt_ms_by_hour"]}
        self.assertEqual(len(told), 24)
        for hour, one in told.items():
            rtts = self.answers(
                lambda _, row, hour=hour: int(row["event_time"]) // 3600 % 24 == hour)
            self.assertEqual(one["count"], len(rtts))
            drawn = {row["series"]: float(row["rtt_ms"]) for row in rows
                     if int(row["hour_from"]) == hour}
            for name, share in (("p10", 0.1), ("p50", 0.5), ("p90", 0.9)):
                self.assertAlmostEqual(one[name], quantile(rtts, share), delta=0.017 * one[name])
                shown = drawn["median" if name == "p50" else name]
                self.assertAlmostEqual(shown, one[name], 4)

    def test_failures(self):
        bounds = {"none": 0, "up to 1 %": 0.01, "1 to 5 %": 0.05, "5 to 20 %": 0.2,
                  "20 to 50 %": 0.5, "over 50 %, not all": 0.99999}
        counted = collections.Counter()
        for rows in self.rows.values():  # no probe is cut into several rows here
            share = sum(row["rtt"] == "-1" for row in rows) / len(rows)
            counted[next((name for name, most in bounds.items() if share <= most), "all")] += 1
        self.assertGreater(len(counted), 2)
        told = self.document["values"]["rows_by_failures"]
        self.assertEqual(self.document["all"]["rows"], len(self.rows))
        self.assertEqual({one["failed"]: one["rows"] for one in told if one["rows"]}, counted)
        self.assertEqual([(row["failed"], int(row["rows"])) for row in
                          table(self.files["rows-by-share-of-failures.csv"])],
                         [(one["failed"], one["rows"]) for one in told])
        for probe in self.document["largest_probes"]:
            rows = self.rows[probe["src_addr"]]
            self.assertEqual((probe["measurements_read"], probe["failures"]),
                             (len(rows), sum(row["rtt"] == "-1" for row in rows)))

    def test_shares(self):
        """Bars divided into shares: the table, and how wide the parts are drawn."""
        counts = collections.defaultdict(collections.Counter)
        for probe, rows in self.rows.items():
            for row in rows:
                counts["Versions"]["IPv" + row["ip_version"]] += 1
                counts["Results"]["failed" if row["rtt"] == "-1" else "answered"] += 1
                counts["Splits"]["test" if probe in self.test else "train"] += 1
        rows = table(self.files["versions-results-and-splits.csv"])
        self.assertEqual(list(rows[0]), ["bar", "part", "share", "count"])
        figure = self.figures["Versions, results and splits"]
        for bar, of in counts.items():
            told = {row["part"]: row for row in rows if row["bar"] == bar}
            self.assertEqual({part: int(row["count"]) for part, row in told.items()
                              if row["count"] != "0"}, of)
            for part, count in of.items():
                share = count / sum(of.values())
                self.assertAlmostEqual(float(told[part]["share"]), share, 6)
                width = re.search(r'width="([\d.]+)" height="14"><title>' + part +
                                  rf": [\d.]+ % \({count:,}\)<", figure).group(1)
                self.assertAlmostEqual(float(width), 392 * share, delta=1.1)
                digits = 1 if share >= 0.1 else 2
                self.assertIn(f">{part} {100 * share:.{digits}f} %</text>", figure)

    def course(self, probe):
        """The answers of a probe by 48ths of the time of the data set."""
        times = [int(row["event_time"]) for rows in self.rows.values() for row in rows]
        first, span = min(times) * 10**6, (max(times) - min(times)) * 10**6 + 1
        parts = collections.defaultdict(list)
        for row in self.rows[probe]:
            if row["rtt"] != "-1":
                parts[(int(row["event_time"]) * 10**6 - first) * 48 // span].append(
                    float(row["rtt"]))
        return [parts[part] for part in sorted(parts)]

    def expect_course(self, told, parts):
        self.assertEqual([one["answers"] for one in told], [len(part) for part in parts])
        for one, part in zip(told, parts):
            self.assertAlmostEqual(one["mean_ms"], sum(part) / len(part), 3)

    def test_course_of_rows(self):
        self.assertEqual(len(self.document["rows"]), 3)
        for of in self.document["rows"]:
            self.expect_course(of["course"], self.course(of["src_addr"]))

    def test_course_of_the_largest_probes(self):
        drawn = table(self.files["round-trip-time-over-time-largest-probes.csv"])
        largest = sorted(self.rows, key=lambda probe: -len(self.rows[probe]))
        told = self.document["largest_probes"]
        self.assertEqual(list({row["series"]: 0 for row in drawn}),
                         [probe["src_addr"] for probe in told[:3]])
        self.assertEqual(sorted(len(self.rows[probe["src_addr"]]) for probe in told[:3]),
                         sorted(len(self.rows[probe]) for probe in largest[:3]))
        self.assertEqual(["course" in probe for probe in told], 3 * [True] + 7 * [False])
        for probe in told[:3]:
            parts = self.course(probe["src_addr"])
            self.expect_course(probe["course"], parts)
            shown = [float(row["median_rtt_ms"]) for row in drawn
                     if row["series"] == probe["src_addr"]]
            self.assertEqual(len(shown), len(parts))
            for median, part in zip(shown, parts):
                part.sort()
                low, high = part[(len(part) - 1) // 2], part[len(part) // 2]
                self.assertTrue(low * 0.984 <= median <= high * 1.016, (low, median, high))
        self.assertGreater(len(drawn), 30)

    def test_bounds_of_failures(self):
        """100 measurements each, of which so many fail."""
        path = os.path.join(DATA, "bounds.csv")
        with open(path, "w", encoding="utf-8") as out:
            out.write("event_time,src_addr,dst_addr,ip_version,rtt\n")
            for failures in (0, 1, 2, 5, 6, 20, 21, 50, 51, 99, 100):
                for i in range(100):
                    out.write(f"{1556136000 + i * 60},192.0.2.{failures},198.51.100.7,4,"
                              f"{-1 if i < failures else 7}\n")
        ingest("bounds")
        _, document, _ = inspected("bounds")
        self.assertEqual([one["rows"] for one in document["values"]["rows_by_failures"]],
                         [1, 1, 2, 2, 2, 2, 1])

    def test_a_probe_without_answers_is_remarked(self):
        path = os.path.join(DATA, "lost.csv")
        with open(path, "w", encoding="utf-8") as out:
            out.write("event_time,src_addr,dst_addr,ip_version,rtt\n")
            for i in range(540):
                out.write(f"{1556136000 + i * 60},192.0.2.1,198.51.100.7,4,-1\n")
                out.write(f"{1556136000 + i * 60},192.0.2.2,198.51.100.7,4,{i % 9 + 1}\n")
        ingest("lost")
        _, document, text = inspected("lost")
        self.assertEqual({probe["src_addr"]: probe["failures"]
                          for probe in document["largest_probes"]},
                         {"192.0.2.1": 540, "192.0.2.2": 0})
        self.assertEqual(text.count('<td class="lost">all</td>'), 1)
        self.assertRegex(text, r'192\.0\.2\.1</td>.{0,200}<td class="lost">all</td>')
        self.assertIn('540 measurements, <span class="lost">all failed</span>', text)


class Colours(unittest.TestCase):
    """Text can be read, and parts of figures told from what they are on, in light and dark."""
    @staticmethod
    def contrast(one, other):
        """Of WCAG 2: 1 to 21."""
        def luminance(colour):
            digits = colour if len(colour) == 6 else "".join(2 * digit for digit in colour)
            parts = [int(digits[i:i + 2], 16) / 255 for i in (0, 2, 4)]
            parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
                     for part in parts]
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
        low, high = sorted((luminance(one), luminance(other)))
        return (high + 0.05) / (low + 0.05)

    def test_contrast(self):
        text = inspected("few")[2]
        schemes = re.findall(r":root\{([^}]*)\}", text)
        self.assertEqual(len(schemes), 2)
        for scheme in schemes:
            colours = dict(re.findall(r"--(\w+):#([0-9a-f]+)", scheme))
            for ground in ("page", "card"):
                for name in ("ink", "soft"):
                    self.assertGreater(self.contrast(colours[name], colours[ground]), 4.5, name)
            self.assertGreater(self.contrast(colours["bad"], colours["card"]), 3.5)
            for name in ("one", "two", "bad", "good", "quiet", "pink", "sky"):
                self.assertGreater(self.contrast(colours[name], colours["card"]), 2.2, name)
            for name in ("yellow", "r1", "rule", "grid"):
                self.assertGreater(self.contrast(colours[name], colours["card"]), 1.1, name)


class Files(unittest.TestCase):
    def at(self, name):
        path = os.path.join(DATA, name)
        self.addCleanup(shutil.rmtree, path, True)
        return path

    def read(self, folder):
        found = {}
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as file:
                found[name] = file.read()
        return found

    def offered(self, command, option):
        """Writes a page and its figures, which are those that the page offers: their folder, and
        what the command printed."""
        page, folder = os.path.join(DATA, "page.html"), self.at("figures")
        done = leat(command, os.path.join(DATA, "set"), option, page, "--figures", folder, status=0)
        with open(page, encoding="utf-8") as file:
            self.assertEqual(self.read(folder), pages.files(file.read()))
        return folder, done.stdout

    def test_the_command_writes_what_the_page_offers(self):
        folder, printed = self.offered("inspect", "--html")
        self.assertIn(f"figures written to {folder}\n", printed)
        self.assertIn("round-trip-time.svg", self.read(folder))
        alone = self.at("alone")  # without a page
        leat("inspect", os.path.join(DATA, "set"), "--figures", alone, status=0)
        self.assertEqual(self.read(alone), self.read(folder))

    def test_batches(self):
        folder, printed = self.offered("batches", "--report")
        self.assertIn(f"figures    {folder}\n", printed)
        done = leat("batches", os.path.join(DATA, "set"), "--figures", folder, status=2)
        self.assertIn("--figures requires --report", done.stderr)

    def test_what_the_folder_has_stays(self):
        folder = self.at("figures")
        os.mkdir(folder)
        leat("inspect", os.path.join(DATA, "few"), "--figures", folder, status=0)  # empty
        first = self.read(folder)
        own = os.path.join(folder, "own.svg")
        with open(own, "w", encoding="utf-8") as file:
            file.write("mine")
        words = ("inspect", os.path.join(DATA, "set"), "--figures", folder)
        done = leat(*words, status=1)
        self.assertEqual(done.stdout, "")  # before the work
        self.assertIn("--replace to overwrite", done.stderr)
        self.assertEqual(self.read(folder), {**first, "own.svg": b"mine"})
        leat(*words, "--replace", status=0)
        after = self.read(folder)
        self.assertEqual(after.pop("own.svg"), b"mine")
        self.assertNotEqual(after["round-trip-time.csv"], first["round-trip-time.csv"])
        self.assertEqual([name for name in os.listdir(DATA) if ".leat-" in name], [])

    def test_refused(self):
        for words, status, why in (
                (("--replace",), 2, "--replace requires an option"),
                (("--figures", "./new//a/", "--html", "new/./a"), 2, "own"),
                (("--figures", os.path.join(DATA, "set.csv")), 1, "is not a folder"),
                (("--figures", os.path.join(DATA, "no", "folder")), 1, "no folder"),
                (("--figures", os.path.join(DATA, "set"), "--html", os.path.join(DATA, "x.html")),
                 1, "--replace")):
            done = leat("inspect", os.path.join(DATA, "set"), *words, status=status)
            self.assertEqual(done.stdout, "")
            self.assertIn(why, done.stderr)

    def test_tables_have_the_numbers(self):
        files = pages.files(inspected("set")[2])
        rtts, failures = [], 0
        spans, hours = collections.defaultdict(list), collections.Counter()
        with open(os.path.join(DATA, "set.csv"), encoding="utf-8") as file:
            for row in csv.DictReader(file):
                spans[row["src_addr"]].append(int(row["event_time"]))
                hours[int(row["event_time"]) // 3600] += 1
                if row["rtt"] == "-1":
                    failures += 1
                else:
                    rtts.append(float(row["rtt"]))
        rows = table(files["round-trip-time.csv"])
        self.assertEqual(list(rows[0]), ["rtt_ms_from", "rtt_ms_to", "share_of_the_answers",
                                         "answers"])
        self.assertEqual(sum(int(row["answers"]) for row in rows), len(rtts))
        for row in rows:
            low, high = float(row["rtt_ms_from"]), float(row["rtt_ms_to"])
            # at an edge, 1.6 % of the values may be on the other side
            near = sum(low * 1.016 <= rtt < high / 1.016 for rtt in rtts)
            wide = sum(low / 1.016 <= rtt < high * 1.016 for rtt in rtts)
            self.assertTrue(near <= int(row["answers"]) <= wide, row)
            self.assertAlmostEqual(float(row["share_of_the_answers"]),
                                   int(row["answers"]) / len(rtts), 6)
        rows = table(files["failures-over-time.csv"])
        self.assertEqual(sum(int(row["failures"]) for row in rows), failures)
        for row in table(files["measurements-over-time.csv"]):
            begin, end = (datetime.datetime.fromisoformat(row[name][:-1] + "+00:00").timestamp()
                          for name in ("time_from", "time_to"))
            self.assertEqual(int(row["measurements_per_bar"]),
                             sum(begin <= time < end for times in spans.values()
                                 for time in times))
        counts = sorted(len(times) for times in spans.values())
        for row in table(files["measurements-per-row-and-per-probe.csv"]):
            least = int(row["measurements"])
            self.assertAlmostEqual(float(row["share_with_at_least_that_many"]),
                                   sum(count >= least for count in counts) / len(counts), 6, row)

    def test_a_picture_in_a_browser(self):
        folder = self.at("figures")
        leat("inspect", os.path.join(DATA, "set"), "--figures", folder, status=0)
        pages.check_in_browser(self, os.path.join(folder, "failures-over-time.svg"), folder, 8,
                               dark=False)


if __name__ == "__main__":
    unittest.main()
