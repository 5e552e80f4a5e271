"""leat train vgae and gat: what the commands print, how runs end, and what is refused."""
import json
import os
import re
import shutil
import tempfile
import unittest

from command import leat
from dashed import Dash

DATA = None  # a folder with `cache` and, without attacks among the validation windows, `plain`


def setUpModule():
    global DATA
    DATA = tempfile.mkdtemp(prefix="leat-train-graphs-")
    unittest.addModuleCleanup(shutil.rmtree, DATA)
    leat("synth", "can", "--frames", 15000, "-o", at("logs"), status=0)
    leat("ingest", "can", at("logs"), "-o", at("cache"), "--val-split", "random", status=0)


def at(*names):
    return os.path.join(DATA, *names)


def train(model, run, *words, status=0):
    return leat("train", model, at("cache"), "-o", at(run), *words, status=status)


class Runs(unittest.TestCase):
    def test_printed(self):
        done = train("vgae", "printed", "--steps", 3)
        self.assertRegex(done.stdout, r"\Asteps   1 to 3, [0-9.]+ graphs/s\n"
                         r"measure val_loss [0-9.]+; untrained [0-9.]+; best [0-9.]+ after step "
                         r"[03]\nstate   [0-9a-f]{64}\nrun     ")
        text = leat("inspect", at("printed"), status=0).stdout
        self.assertIn("training run of a vgae, started by leat", text)
        self.assertRegex(text, r"measured at step +val_loss\n +0 ")
        self.assertRegex(text, r"  step 3 +state [0-9a-f]+  val_loss [0-9.]+, the lowest\n")
        with open(at("printed", "report.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn("graphs of the data set", page)
        self.assertNotRegex(page, r"images|generator")
        with open(at("printed", "detector.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["format"], "leat.detector")

    def test_ends_early(self):
        """Weights that do not move are never better than those before."""
        still = ["--learning-rate", "1e-30", "--patience", 2]
        done = train("gat", "early", "--epochs", 9, *still)
        last = int(re.search(r"steps   1 to (\d+), ", done.stdout)[1])
        says = (rf"stopped early after step {last} of \d+: in 2 measurements, val_auroc has not "
                r"been better than [0-9.]+ after step 0\n")
        self.assertRegex(done.stderr, says)
        again = train("gat", "early", "--resume")
        self.assertIn(f"steps   all {last} steps were already done\n", again.stdout)
        self.assertRegex(again.stderr, says)
        more = train("gat", "early", "--resume", "--patience", 3)
        self.assertRegex(more.stdout, rf"steps   {last + 1} to \d+, ")
        whole = train("gat", "whole", "--epochs", 3, "--learning-rate", "1e-30")
        state = re.search("state   .*\n", whole.stdout)[0]
        self.assertIn(state, more.stdout)
        self.on_a_page("early", epoch=3, epochs=9, finished=True, at_most=True)
        self.on_a_page("whole", epoch=3, epochs=3, finished=True)

    def on_a_page(self, run, **expected):
        """What leat dash says of it: graphs have no number of steps, but epochs."""
        if "libmicrohttpd present" not in " ".join(leat("version").stdout.split()):
            return
        with Dash(at(run)) as dash:
            facts = dash.json("/facts.json")
        self.assertEqual({name: facts[name] for name in expected}, expected)
        self.assertGreater(facts["samples_per_second"], 0)
        self.assertNotIn("seconds_left", facts)
        self.assertNotIn("steps", facts)

    def test_memory(self):
        """What --dry-run says is enough, and with less by a half the run is refused."""
        words = ("--steps", 1, "--threads", 1)
        done = leat("train", "gat", at("cache"), *words, "--dry-run", status=0)
        self.assertRegex(done.stdout, r"memory  at most [0-9.]+ MiB, and the mapped cache \([0-9.]+"
                         r" [KM]iB\)\n")
        estimate = json.loads(leat("train", "gat", at("cache"), *words, "--dry-run", "--json",
                                   status=0).stdout)
        self.assertNotIn("mapped_bytes", estimate)
        most = -(-estimate["memory_bytes"] // (1 << 20))
        refused = train("gat", "tight", *words, "--memory", f"{most // 2}M", status=1)
        least = int(re.search(r"use --memory (\d+)M", refused.stderr)[1])
        self.assertLessEqual(abs(least - most), 4)
        # a process that has just begun may be a little larger than another
        train("gat", "roomy", *words, "--memory", f"{most + 2}M")

    def test_warnings(self):
        """The ingest's of the cache; and that nothing can be measured, with what follows."""
        says = "leat ingest can warned of this cache: "
        leat("ingest", "can", at("logs"), "-o", at("benign"), "--vocab", "benign",
             "--val-fraction", 0, status=0)
        done = leat("train", "vgae", at("benign"), "-o", at("blind"), "--steps", 1, status=0)
        self.assertNotIn("occur only in attack frames", done.stderr)
        self.assertIn("leat eval and leat detect will have no threshold; ingest with "
                      "--val-fraction above 0", done.stderr)
        for words in (("-o", at("warned")), ("--dry-run",)):
            done = leat("train", "vgae", at("cache"), *words, "--steps", 1, status=0)
            self.assertEqual(done.stderr.count(says), 1)
            self.assertRegex(done.stderr, says + ".* occur only in attack frames of the training")
        self.assertIn("occur only in attack frames", leat("inspect", at("cache"), status=0).stdout)
        if "\n  coordinate " in leat("--help", status=0).stdout:
            done = leat("coordinate", at("crowd"), "--db", "postgresql://nowhere/none", "--data",
                        at("cache"), "--model", "vgae", "--steps", 1)  # which is refused after it
            self.assertEqual(done.stderr.count(says), 1)
            self.assertIn("the URL does not name a login", done.stderr)

    def test_refused(self):
        for model, words, says in (
                ("vgae", ["--loss", "ce"], "unknown option --loss"),
                ("gat", ["--loss", "mse"], "it takes focal, ce or weighted"),
                ("vgae", ["--steps", 1, "--curriculum", "random"], "set curriculum-epochs"),
                ("gat", ["--steps", 1, "--tiers", 5],
                 "--tiers is of a curriculum, and there is none: add --curriculum random or FILE"),
                ("vgae", ["--steps", 1, "--curriculum", "none", "--curriculum-epochs", 3],
                 "omit --curriculum-epochs"),
                ("vgae", ["--steps", 1, "--max-nodes", 1], "batch may have (max-nodes 1, "),
                ("gat", ["--steps", 1, "--pack", "fixed", "--oversize", "skip"], "leave none out"),
                ("gat", [], "the run has no end: set steps or epochs")):
            with self.subTest(words):
                self.assertIn(says, train(model, "none", *words, status=2).stderr)
        self.assertFalse(os.path.exists(at("none")))


if __name__ == "__main__":
    unittest.main()
