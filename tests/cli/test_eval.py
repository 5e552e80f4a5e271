"""What leat eval shows of an evaluation: tables, JSON, the page. The evaluation is made
up (tests/cli/eval_shown.c), on a cache of synthetic logs, so that every case occurs: one run and
several, windows of one class, without labels, and many.
"""
import csv
import fcntl
import glob
import io
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import tempfile
import termios
import unittest

import json_schema
import pages
from command import BUILD, leat

TOP = CACHE = None
KINDS = ("one", "seeds", "benign", "unlabelled", "many", "foreign")
SHOWN = {}  # what the program has written, by its words


def setUpModule():
    global TOP, CACHE
    TOP = tempfile.mkdtemp(prefix="leat-eval-")
    leat("synth", "can", "--frames", 60000, "--vehicles", 2, "--attacks", "dos,replay,suppress",
         "-o", os.path.join(TOP, "logs"), status=0)
    leat("ingest", "can", os.path.join(TOP, "logs"), "-o", os.path.join(TOP, "caches"), status=0)
    CACHE, = glob.glob(os.path.join(TOP, "caches", "*-*"))


def tearDownModule():
    shutil.rmtree(TOP)


def shown(kind, form):
    if (kind, form) not in SHOWN:
        done = subprocess.run([os.path.join(BUILD, "tests", "leat_eval_shown"), CACHE, kind, form],
                              capture_output=True, check=False, text=True)
        assert (done.returncode, done.stderr) == (0, ""), (kind, form, done)
        SHOWN[kind, form] = done.stdout
    return SHOWN[kind, form]


def on_terminal(kind, columns):
    """What it writes to a terminal of this width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen([os.path.join(BUILD, "tests", "leat_eval_shown"), CACHE, kind,
                           "terminal"], stdout=theirs) as process:
        os.close(theirs)
        text = b""
        while True:
            try:
                more = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            text += more
    os.close(ours)
    assert process.returncode == 0, text
    return text.decode().replace("\r\n", "\n")


def document(kind):
    return json.loads(shown(kind, "json"))


class Terminal(unittest.TestCase):
    def test_a_row_for_each_method(self):
        split = document("one")["splits"][0]
        text = shown("one", "terminal")
        self.assertIn(f"{split['split']}: {split['windows']} windows, {split['attack_windows']} "
                      "with an attack; ", text)
        for result, name in zip(split["results"], (
                "vgae", r"mean \|z\|", r"largest \|z\|", "frame count", "window duration",
                "unknown identifiers")):
            cells = (f"{result['auroc']:.3f}", "-".join(
                f"{end:.3f}" for end in result["intervals_95"]["auroc"]),
                f"{result['average_precision']:.3f}", f"{result['precision']:.3f}",
                f"{result['recall']:.3f}", f"{result['f1']:.3f}", f"{result['mcc']:.3f}")
            self.assertRegex(text, rf"\n[* ] {name} +" + " +".join(map(re.escape, cells)) + " ")

    def test_lines_fit_a_terminal(self):
        for kind in KINDS:
            for line in shown(kind, "parts").split("\n"):
                self.assertLessEqual(len(line), 100, line)

    def test_a_narrow_terminal(self):
        for width, wide in ((80, False), (97, False), (98, True)):
            text = on_terminal("one", width)
            for line in text[text.index("\n\n"):].split("\n"):  # paths are before it
                self.assertLessEqual(len(line), width, line)
            self.assertEqual("  95 %" in text and " MCC " in text, wide)
            self.assertEqual("also shows 95 % and MCC" in text, not wide)
            first = document("one")["splits"][0]["results"][0]
            self.assertEqual(f" {first['mcc']:.3f} " in text, wide)
            self.assertRegex(text, rf"\n[* ] vgae +{first['auroc']:.3f} ")

    def test_episodes_that_were_missed(self):
        for split in document("one")["splits"]:
            first = split["results"][0]
            found = f"  vgae: {first['episodes_detected']} of {first['episodes']} episodes found"
            self.assertEqual(found in shown("one", "terminal"), first["episodes"] > 0)

    def test_a_threshold_says_which_windows_it_is_of(self):
        """Those of a run that was trained on another cache are not those of plain tables."""
        of = document("one")["splits"][0]["results"][1]
        benign = of["threshold_benign_windows"]
        self.assertIn(f"\nthresholds for 10.0 % of benign windows, fitted for each row on {benign} "
                      "benign windows of val\n\n", shown("one", "terminal"))
        text = " ".join(shown("foreign", "terminal").split())
        self.assertIn("thresholds for 10.0 % of benign windows, fitted for each row: vgae: on 7 "
                      "benign windows of val of the cache of its training (aaaaaaaaaaaaaaaa...) "
                      f"plain tables: on {benign} benign windows of val note vgae: 10 % of 7 "
                      "benign windows of val is less than one window, so the threshold is the "
                      "highest of their scores; validation data with more benign windows allows a "
                      "better one ", text)
        self.assertEqual(document("foreign")["runs"][0]["trained_on"], 64 * "a")
        self.assertEqual(document("one")["runs"][0]["trained_on"], document("one")["fingerprint"])

    def test_a_calibration_error_needs_no_bus_time(self):
        self.assertIn("\n  vgae: calibration error 0.031\n", shown("foreign", "terminal"))
        self.assertNotIn("calibration error", shown("one", "terminal"))

    def test_the_best_is_marked_and_a_better_plain_table_named(self):
        text = shown("one", "terminal")
        better = 0
        for split in document("one")["splits"]:
            results = [result for result in split["results"] if "auroc" in result]
            if not results:
                self.assertEqual(split["plain_is_better"], [])
                continue
            most = max(result["auroc"] for result in results)
            part = text[text.index("\n" + split["split"] + ":"):].split("\n\n")[0]
            self.assertEqual([float(row.split()[0]) for row in re.findall(
                r"\n\* .{19} (.*)", part)], [float(f"{most:.3f}")])
            duels = split["plain_is_better"]
            self.assertEqual(len(duels), results[0]["auroc"] < most)
            beaten = max(result["auroc"] for result in results[1:])
            self.assertEqual(bool(duels), beaten > results[0]["auroc"])
            line, = re.findall(rf"{split['split']}: (?:a|no) plain table .*?(?= test_|$)",
                               text[text.index("\n* highest"):].strip().replace("\n", " "))
            ours, theirs = (
                [result["intervals_95"]["auroc"] for result in results
                 if result["auroc"] == value][0] for value in (results[0]["auroc"], beaten))
            self.assertEqual("(intervals overlap)" in line,
                             ours[0] <= theirs[1] and theirs[0] <= ours[1])
            if not duels:
                self.assertIn(": no plain table has a higher AUROC: vgae "
                              f"{results[0]['auroc']:.3f}, ", line)
                self.assertIn(f" {beaten:.3f}", line)
            if duels:
                better += 1
                self.assertEqual((duels[0]["detector"], duels[0]["plain_auroc"]), ("vgae", most))
                self.assertIn(f"\n{split['split']}: a plain table is better by AUROC: "
                              f"{duels[0]['plain']} {most:.3f}, vgae {results[0]['auroc']:.3f}",
                              text)
        self.assertGreater(better, 0)

    def test_a_plain_table_that_is_better_by_another_number_alone(self):
        """Of what needs no threshold: an AUROC may hide a lower average precision."""
        text = " ".join(shown("foreign", "terminal").split())
        page = shown("foreign", "page")
        seen = 0
        for split in document("foreign")["splits"]:
            duels = split["plain_is_better_by_average_precision"]
            self.assertEqual(split["plain_is_better"], [])
            for duel in duels:
                seen += 1
                name, theirs = duel["plain"], duel["plain_average_precision"]
                ours = split["results"][0]["average_precision"]
                self.assertEqual(duel["detector_average_precision"], ours)
                self.assertEqual(theirs, max(result["average_precision"]
                                             for result in split["results"][1:]))
                line = (f"{split['split']}: a plain table is better by AP: {name} {theirs:.3f}, "
                        f"vgae {ours:.3f}")
                self.assertRegex(text, f" {split['split']}: no plain table has a higher AUROC: "
                                       rf"vgae 1.000, [^:]* {re.escape(line)}")
                self.assertIn(f"<li>{line}", page)
        self.assertGreater(seen, 0)
        self.assertNotIn("better by AP", shown("one", "terminal"))  # lost by AUROC as well

    def test_undefined_is_a_dash_with_its_reason(self):
        for kind in ("one", "benign"):
            text = shown(kind, "terminal")
            part = text[text.index("\ntest_03_suppress:"):].split("\n\n")[0]
            self.assertRegex(part, r"\n  vgae +- +- +- +- +- +- +- +[\d.]+ % +[\d,.]+ +-\n")
            self.assertIn("\n  -  AUROC, AP, precision, recall, F1, MCC, delay: no window with an "
                          "attack\n", part)
            self.assertNotRegex(text, r"\bnan\b|\b0\.000-")
        text = shown("unlabelled", "terminal")
        self.assertEqual(text.count("no window has a label"),
                         len(document("unlabelled")["splits"]))
        self.assertNotIn("AUROC  ", text)

    def test_parts(self):
        short, text = shown("one", "terminal"), shown("one", "parts")
        self.assertNotIn("by attack, vehicle and capture", short)
        for split in document("one")["splits"]:
            for part in split["results"][0]["parts"]:
                self.assertIn("\n  " + part["name"], text)

    def test_several_runs(self):
        """The mean is what is compared with plain tables, never the run that is best in the test.
        """
        text = shown("seeds", "terminal")
        for split in document("seeds")["splits"]:
            part = text[text.index("\n" + split["split"] + ":"):].split("\n\n")[0]
            self.assertEqual(len(re.findall(r"\n  vgae, run \d +[\d-]", part)), 3)
            for row in split.get("over_runs", [])[:1]:
                if "auroc" not in row["mean"]:
                    continue
                self.assertRegex(part, rf"\n[* ] mean of 3 runs +{row['mean']['auroc']:.3f} ")
                self.assertRegex(part, rf"\n    deviation +{row['deviation']['auroc']:.3f} ")
            for duel in split["plain_is_better"]:
                self.assertEqual(duel["detector"], "the mean of 3 runs")


class Documents(unittest.TestCase):
    def test_schema(self):
        schemas = json_schema.Schemas()
        for kind in KINDS:
            schemas.check_text("eval", shown(kind, "json"))
        own = {place for place in schemas.places if place.startswith("eval.json#")}
        self.assertGreater(len(own), 100)
        self.assertEqual({place for place in own - schemas.seen
                          if not re.search(r"/ece$", place)}, set())

    def test_what_a_threshold_was_fitted_on(self):
        for split in document("one")["splits"]:
            for result in split["results"]:
                self.assertEqual(result["threshold_split"], "val")
                self.assertEqual(result["threshold_rule"], "fpr")
                allowed = int(result["threshold_target_fpr"] * result["threshold_benign_windows"])
                self.assertLessEqual(result["threshold_exceeding"], allowed)

    def test_numbers_of_a_table_are_those_of_its_counts(self):
        for split in document("one")["splits"]:
            for result in split["results"]:
                for group in (result, *result["parts"]):
                    right, alarms = group["true_positives"], group["false_positives"]
                    benign = group["windows"] - group["attack_windows"]
                    if group["attack_windows"]:
                        self.assertEqual(group["recall"], right / group["attack_windows"])
                    self.assertEqual(group["realised_fpr"], alarms / benign)
                    self.assertAlmostEqual(group["false_alarms_per_hour"],
                                           alarms / (group["bus_seconds"] / 3600))
                    self.assertAlmostEqual(group["false_alarms_per_benign_hour"],
                                           alarms / (group["benign_bus_seconds"] / 3600))
                    for name in ("false_alarms_per_hour", "false_alarms_per_benign_hour"):
                        low, high = group["intervals_95"][f"{name}_poisson"]
                        self.assertTrue(low <= group[name] <= high)
                low, high = result["intervals_95"]["false_alarms_per_benign_hour_poisson"]
                text = shown("one", "terminal")
                self.assertIn(f" {result['false_alarms_per_benign_hour']:,.0f} ", text)
                if result["method"] == "vgae":
                    self.assertIn(f" {low:,.0f} to {high:,.0f} an hour at 95 %", text)

    def test_undefined_is_absent_with_its_reason(self):
        for split in document("benign")["splits"]:
            for result in split["results"]:
                self.assertEqual({name for name in ("auroc", "recall", "f1", "mcc", "delay_ms")
                                  if name in result}, set())
                self.assertEqual(result["undefined"]["auroc"], "no window with an attack")
                self.assertGreater(result["realised_fpr"], 0)


class Page(unittest.TestCase):
    def test_it_stands_alone(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                text = shown(kind, "page")
                self.assertTrue(text.startswith("<!DOCTYPE html>\n<!-- Written by leat. -->\n"))
                pages.check_stands_alone(self, text)
                pages.check_labels(self, text)

    def test_it_says_whose_scores_are_drawn(self):
        for kind, several in (("one", False), ("seeds", True)):
            self.assertEqual("Of the first run only." in shown(kind, "page"), several)

    def test_its_verdict(self):
        """A bar is green only where all intervals are apart: here a plain table is better."""
        self.assertIn('<div class="panel verdict bad">', shown("one", "page"))
        for split in document("one")["splits"]:
            if split["plain_is_better"]:
                self.assertIn(f"<li>{split['split']}: a plain table is better by AUROC: ",
                              shown("one", "page"))

    def test_its_size_is_bounded(self):
        """25 times the windows: columns have the lowest and the highest score."""
        self.assertLess(len(shown("many", "page")), 1.6 * len(shown("one", "page")))
        files = pages.files(shown("many", "page"))
        name, = (name for name in files
                 if name.endswith("csv") and "test-01-dos-scores" in name)
        rows = list(csv.DictReader(io.StringIO(files[name].decode())))
        attacks = [float(row["score"]) for row in rows if row["series"] == "highest, attack"]
        self.assertLessEqual(len(attacks), 340)
        few = pages.files(shown("one", "page"))[name]
        self.assertEqual(max(attacks), max(
            float(row["score"]) for row in csv.DictReader(io.StringIO(few.decode()))
            if row["series"] == "highest, attack"))

    def test_curves(self):
        files = pages.files(shown("one", "page"))
        rows = list(csv.DictReader(io.StringIO(files["test-01-dos-roc.csv"].decode())))
        self.assertEqual({row["series"] for row in rows} & {"vgae", "mean |z|"},
                         {"vgae", "mean |z|"})
        for name in {row["series"] for row in rows}:
            points = [(float(row["benign_windows_that_alarm"]),
                       float(row["attack_windows_that_alarm"]))
                      for row in rows if row["series"] == name]
            self.assertEqual((points[0], points[-1]), ((0, 0), (1, 1)))
            self.assertEqual(points, sorted(points))
        area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(
            *[[(float(row["benign_windows_that_alarm"]), float(row["attack_windows_that_alarm"]))
               for row in rows if row["series"] == "vgae"][i:] for i in (0, 1)]))
        self.assertAlmostEqual(area, document("one")["splits"][0]["results"][0]["auroc"], places=9)

    def test_what_the_terminal_notes(self):
        """Of a weak threshold, and of how far probabilities are from the share of attacks."""
        weak = "vgae: 10 % of 7 benign windows of val is less than one window, so the threshold is "
        for kind in ("one", "foreign"):
            text = shown(kind, "page")
            self.assertEqual(f'<p class="note lost">{weak}' in text, kind == "foreign")
            self.assertEqual(text.count('<p class="note">vgae: calibration error 0.031</p>'),
                             len(document(kind)["splits"]) if kind == "foreign" else 0)
            self.assertEqual(text.count(">val of another cache</td>"), int(kind == "foreign"))

    def test_attacks_are_shaded(self):
        text = shown("one", "page")
        part = text[text.index("<h2>test_01_dos</h2>"):text.index("<h2>test_02")]
        tints = re.findall(r'class="tint".*?: ([\d,]+) windows? with an attack', part)
        self.assertEqual(sum(int(tint.replace(",", "")) for tint in tints),
                         document("one")["splits"][0]["attack_windows"])
        quiet = text[text.index("<h2>test_03_suppress</h2>"):].split("<h2>")[1]
        self.assertNotIn('class="tint"', quiet)

    def test_it_is_drawn_by_a_browser(self):
        path = os.path.join(TOP, "page.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(shown("one", "page"))
        pages.check_in_browser(self, path, TOP)


if __name__ == "__main__":
    unittest.main()
