"""leat eval of runs that leat train made of synthetic logs: its table, its document, its page, its
scores, and what it refuses. Two steps are enough for all of them.

Runs the command named by LEAT (default: build/leat).
"""
import glob
import json
import os
import re
import shutil
import tempfile
import unittest

import json_schema
import pages
from command import leat

TOP = CACHE = None
SCHEMAS = json_schema.Schemas()


def at(*names):
    return os.path.join(TOP, *names)


def cache(name, *words):
    leat("ingest", "can", at("logs"), "-o", at(name), *words, status=0)
    return glob.glob(at(name, "*-*"))[0]


def setUpModule():
    global TOP, CACHE
    TOP = tempfile.mkdtemp(prefix="leat-eval-runs-")
    leat("synth", "can", "--frames", 20000, "--attacks", "dos,replay", "-o", at("logs"), status=0)
    CACHE = cache("caches")
    for model in ("vgae", "gat"):
        leat("train", model, CACHE, "-o", at(model), "--steps", 2, status=0)
    leat("train", "vgae", CACHE, "-o", at("seed"), "--steps", 2, "--seed", 1, status=0)


def tearDownModule():
    shutil.rmtree(TOP)


def evaluated(*words):
    """What is written. There are too few windows for intervals, so that none are computed."""
    return leat("eval", *words, "--replicates", 0, status=0).stdout


def document(*words):
    """Without what differs between calls."""
    found = SCHEMAS.check_text("eval", evaluated(*words, "--json"))
    for run in found["runs"]:
        del run["calibration_reused"]
    return found


class Shown(unittest.TestCase):
    def test_a_table_for_each_test(self):
        for model, score in (("vgae", "residual"), ("gat", "probability")):
            text, found = evaluated(at(model), CACHE), document(at(model), CACHE)
            self.assertEqual([split["split"] for split in found["splits"]],
                             ["test_01_dos", "test_02_replay"])
            self.assertEqual(found["runs"][0]["measure"], {"vgae": "val_loss",
                                                           "gat": "val_auroc"}[model])
            for split in found["splits"]:
                first, *plain = split["results"]
                self.assertEqual((first["method"], first["score"]), (model, score))
                self.assertEqual({result["method"] for result in plain},
                                 {"mean_abs_z", "max_abs_z", "frame_count", "window_duration",
                                  "unknown_identifiers"})
                self.assertRegex(text, rf"\n[* ] {model} +{first['auroc']:.3f} ")
                self.assertEqual("ece" in first, model == "gat")
                self.assertEqual(f"\n  gat: calibration error {first.get('ece', -1):.3f}\n" in text,
                                 model == "gat")
                for result in split["results"]:
                    self.assertEqual(result["threshold_split"], "val")

    def test_threads_change_nothing(self):
        self.assertEqual(*[document(at("gat"), CACHE, "--threads", threads)
                           for threads in (1, 3)])

    def test_options(self):
        found = document(at("vgae"), CACHE, "--threshold", "f1", "--score", "reference", "--split",
                         "test_02_replay")
        split, = found["splits"]
        self.assertEqual(split["split"], "test_02_replay")
        self.assertEqual({result["threshold_rule"] for result in split["results"]}, {"f1"})
        self.assertEqual(split["results"][0]["score"], "reference")
        self.assertNotIn("auroc", split["results"][0]["intervals_95"])
        self.assertNotIn("intervals_95", split["results"][0]["undefined"])  # nobody asked
        self.assertIn("  -  95 %: 1 block of 20 windows, 10 are needed; use --block-windows 2\n",
                      leat("eval", at("vgae"), CACHE).stdout)
        self.assertNotIn("10 are needed",
                         leat("eval", at("vgae"), CACHE, "--block-windows", 2).stdout)
        self.assertRegex(evaluated(at("vgae"), CACHE, "--threshold", "f1"),
                         r"\nthresholds for the best F1, fitted for each row on \d+ benign "
                         r"windows, and \d+ with an attack, of val\n")

    def test_few_benign_windows_are_noted(self):
        self.assertRegex(" ".join(evaluated(at("vgae"), CACHE).split()),
                         r" note 1 % of \d+ benign windows of val is less than one window, so the "
                         "threshold is the highest of their scores; validation data with more ")
        self.assertNotIn("less than one window",
                         evaluated(at("vgae"), CACHE, "--target-fpr", "0.5"))

    def test_several_runs(self):
        found = document(at("vgae"), at("seed"), CACHE)
        for split in found["splits"]:
            row, (one, two) = split["over_runs"][0], split["results"][:2]
            self.assertAlmostEqual(row["mean"]["auroc"], (one["auroc"] + two["auroc"]) / 2)
            self.assertAlmostEqual(row["deviation"]["auroc"],
                                   abs(one["auroc"] - two["auroc"]) / 2 ** 0.5)
        self.assertIn("\n  vgae, run 2 ", evaluated(at("vgae"), at("seed"), CACHE))
        self.assertNotIn(", run ", evaluated(at("vgae"), at("gat"), CACHE))
        # means of different models would mean nothing
        self.assertNotIn("over_runs", document(at("vgae"), at("gat"), CACHE)["splits"][0])


class Files(unittest.TestCase):
    def test_page(self):
        path = at("page.html")
        text = evaluated(at("vgae"), CACHE, "--html", path, "--figures", at("figures"))
        self.assertIn(f"page written to {path}\nfigures written to {at('figures')}\n", text)
        with open(path, encoding="utf-8") as file:
            page = file.read()
        self.assertEqual(page.split("\n")[1], "<!-- Written by leat. -->")
        pages.check_stands_alone(self, page)
        pages.check_labels(self, page)
        self.assertEqual(set(os.listdir(at("figures"))), set(pages.files(page)))
        self.assertIn("test-01-dos-roc.svg", os.listdir(at("figures")))
        evaluated(at("vgae"), CACHE, "--html", path)  # its own page is replaced

    def test_a_file_of_others_is_not_replaced(self):
        path = at("mine.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write("mine")
        done = leat("eval", at("vgae"), CACHE, "--html", path, status=1)
        self.assertIn("mine.html", done.stderr)
        self.assertEqual(done.stdout, "")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")
        evaluated(at("vgae"), CACHE, "--html", path, "--replace")

    def test_scores_order_a_curriculum(self):
        """As docs/evaluate.md says."""
        path = at("scores.json")
        text = leat("eval", at("vgae"), CACHE, "--split", "train", "--score", "difficulty",
                    "--scores", path, status=0).stdout
        self.assertEqual(text, f"scores of train written to {path}\n")
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        self.assertEqual((found["score_name"], found["split"]), ("difficulty", "train"))
        self.assertEqual(len(found["score"]), len(found["window_start"]))
        leat("batches", CACHE, "--curriculum", path, "--epochs", 1, status=0)
        leat("eval", at("vgae"), CACHE, "--scores", path, status=1)
        leat("eval", at("vgae"), CACHE, "--scores", path, "--replace", status=0)


class Lost(unittest.TestCase):
    def test_the_best_checkpoint(self):
        """Another one does not pass for it, in a table or on a bus."""
        run = at("lost")
        leat("train", "vgae", CACHE, "-o", run, "--epochs", 3, "--keep", 3, status=0)
        best, = re.findall(r"step (\d+), the best by val_loss", evaluated(run, CACHE))
        for path in glob.glob(os.path.join(run, "checkpoints", f"step-{int(best):09d}.*")):
            os.remove(path)
        lost = rf"the best by val_loss, step {best} \([\d.]+\), has no complete checkpoint; " \
            r"step \d+ is the best of those left"
        text = evaluated(run, CACHE)
        self.assertRegex(text, r"\nnote       \"[^\"]*lost\": " + lost)
        self.assertNotRegex(text.split("\n", maxsplit=1)[0], "the best")
        log, = glob.glob(at("logs", "test_01_dos", "*.csv"))
        self.assertRegex(leat("detect", run, log, status=0).stderr, lost)


class Refused(unittest.TestCase):
    def test_wrong_usage(self):
        for words, pattern in (
                ((CACHE,), "RUN or CACHE is missing"),
                ((CACHE, at("vgae")), "is a CAN cache, not a training run; name the runs first"),
                ((at("vgae"), at("gat")), "gat is a training run, not a CAN cache; name the cache "
                                          "last"),
                ((at("vgae"), CACHE, "--scores", "x", "--json"), "omit --json"),
                ((at("vgae"), CACHE, "--scores", "x", "--html", "y"), "omit --html"),
                ((at("vgae"), CACHE, "--scores", "x", "--replicates", "0"), "omit --replicates"),
                ((at("vgae"), CACHE, "--threshold", "f1", "--target-fpr", "0.1"),
                 "--target-fpr is for thresholds of the rule fpr, and --threshold is f1"),
                ((at("vgae"), at("gat"), CACHE, "--scores", "x"), "of one run, not of 2"),
                ((at("vgae"), CACHE, "--replace"), "--replace"),
                ((at("vgae"), CACHE, "--html", "x", "--figures", "x"), "folder of their own"),
                ((at("vgae"), at("gat"), at("vgae"), CACHE), 'vgae" are the same run '),
                ((at("vgae"), CACHE, "--target-fpr", "1"), "target-fpr"),
                ((at("vgae"), CACHE, "--split", "test_9"), "test_01_dos"),
                ((at("gat"), CACHE, "--score", "difficulty"), "of a GAT, whose only score")):
            done = leat("eval", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertRegex(done.stderr, pattern)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_what_is_not_there(self):
        for words in ((at("nothing"), CACHE), (at("vgae"), at("nothing")), (at("logs"), CACHE)):
            done = leat("eval", *words)
            self.assertEqual((done.returncode, done.stdout), (1, ""), words)
            self.assertRegex(done.stderr, "nothing|logs")

    def test_another_cache(self):
        other = cache("others", "--stride", "50")
        done = leat("eval", at("vgae"), other)
        self.assertEqual(done.stdout, "")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "its scaler is not the one that the run was trained with: .*"
                         "; run its `leat ingest can` again with --like DIR/NAME-"
                         + os.path.basename(CACHE).rsplit("-", maxsplit=1)[-1])

    def test_later_logs(self):
        """A cache of other logs with the vocabulary of the run's: a note says that it is another.
        """
        later = cache("later", "--val-fraction", "0.3", "--like", CACHE)
        found = document(at("vgae"), later)
        self.assertRegex(found["note"], '"[^"]*vgae" was trained on another cache')
        text = evaluated(at("vgae"), later)
        self.assertIn("\nnote       \"", text)
        self.assertRegex(text, r"\n  vgae: on \d+ benign windows of val of the cache of its "
                               r"training \(\w{16}\.\.\.\)\n  plain tables: on \d+ benign windows")

    def test_an_example_is_a_command(self):
        """The examples of --help, with these names for its own."""
        names = {"run": at("vgae"), "run1": at("vgae"), "run2": at("seed"), "run3": at("gat"),
                 "cache": CACHE, "eval.html": at("eval.html"), "scores.json": at("more.json")}
        text = leat("eval", "--help", status=0).stdout.split("\nExamples:\n")[1]
        lines = re.findall(r"^  leat (.*)$", text, flags=re.M)
        self.assertGreater(len(lines), 3)
        for line in lines:
            leat(*[names.get(word, word) for word in line.split()], status=0)


if __name__ == "__main__":
    unittest.main()
