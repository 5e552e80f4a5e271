"""leat import of a detector: with the cache that its weights are for, it scores as the run that
they are of, bit for bit; without, it says what is missing. What does not fit is refused."""
import glob
import json
import os
import shutil
import tempfile
import unittest

from command import leat

DATA = None


def setUpModule():
    global DATA
    DATA = tempfile.mkdtemp(prefix="leat-import-")
    unittest.addModuleCleanup(shutil.rmtree, DATA)
    for seed, name in ((1, "cache"), (2, "other")):
        leat("synth", "can", "--frames", 10000, "--seed", seed, "-o", at(name + "-logs"), status=0)
        leat("ingest", "can", at(name + "-logs"), "-o", at(name), "--val-split", "random", status=0)
    for model in ("vgae", "gat"):
        leat("train", model, at("cache"), "-o", at(model), "--steps", 3, status=0)
        leat("export", at(model), "-o", at(model + "-export"), status=0)
        # as a file of another program: names and shapes, and no config.json
        shutil.copy(at(model + "-export", model + ".safetensors"), at(model + ".safetensors"))


def at(*names):
    return os.path.join(DATA, *names)


def evaluated(run):
    """What an evaluation says of a run's scores, without what names the run."""
    done = leat("eval", at(run), at("cache"), "--json", "--replicates", 0, "--step",
                0 if run.startswith("imported") else 3, status=0)
    found = json.loads(done.stdout)
    return [result for split in found["splits"] for result in split["results"] if "run" in result]


class Imports(unittest.TestCase):
    def test_scores_are_those_of_the_run(self):
        for source in ("vgae-export", "vgae.safetensors", "gat.safetensors"):
            model, run = source[:4].strip("."), f"imported-{source}"
            done = leat("import", at(source), "--data", at("cache"), "-o", at(run), status=0)
            self.assertIn(f"leat train {model} DATA --resume -o ", done.stdout)
            self.assertEqual("weights do not say which identifier has which number" in done.stderr,
                             source.endswith(".safetensors"), done.stderr)
            self.assertEqual(evaluated(run), evaluated(model))

    def test_next_commands(self):
        """What import prints is all that leat detect needs: a threshold by leat eval, once."""
        done = leat("import", at("gat.safetensors"), "--data", at("cache"), "-o", at("next"),
                    status=0)
        self.assertIn(f"; to use it: leat eval {at('next')} {at('cache')}, which leat detect needs "
                      "once; ", done.stdout)
        log = sorted(glob.glob(at("cache-logs", "test_*", "*.csv")))[0]
        self.assertIn("there is no calibration", leat("detect", at("next"), log, status=1).stderr)
        leat("eval", at("next"), at("cache"), "--replicates", 0, status=0)
        leat("detect", at("next"), log, status=0)

    def test_trained_further(self):
        leat("import", at("vgae-export"), "--data", at("cache"), "-o", at("further"), status=0)
        done = leat("train", "vgae", at("cache"), "--resume", "-o", at("further"), "--steps", 2,
                    status=0)
        begun = leat("train", "vgae", at("cache"), "-o", at("begun"), "--steps", 2,
                     "--init", at("vgae.safetensors"), status=0)
        self.assertEqual(*(text.stdout.split("\nstate ")[1].split()[0] for text in (done, begun)))

    def test_without_data(self):
        done = leat("import", at("gat.safetensors"), "-o", at("alone"), status=0)
        self.assertIn("leat train gat DATA -o NEW --init ", done.stdout)
        self.assertEqual(done.stderr, "")
        for words in (("eval", at("alone"), at("cache")), ("detect", at("alone"))):
            done = leat(*words, status=1)
            self.assertIn("has imported weights, and no data to score windows with: import them "
                          "again, with --data CACHE", done.stderr)

    def test_data_of_others(self):
        done = leat("import", at("vgae-export"), "--data", at("other"), "-o", at("no"), status=2)
        self.assertIn("was trained on the data ", done.stderr)
        done = leat("import", at("vgae.safetensors"), "--data", at("other"), "-o", at("no"),
                    status=2)
        self.assertRegex(done.stderr, r"vgae\.safetensors\": the weights are for \d+ identifiers, "
                         r"the unknown one included, and the cache has \d+; use a cache of the ")
        self.assertNotIn("vocabulary", done.stderr)  # an option of training, which import has not
        done = leat("import", at("vgae.safetensors"), "--data", at("nowhere"), "-o", at("no"),
                    status=1)
        self.assertIn("nowhere", done.stderr)
        self.assertFalse(os.path.exists(at("no")))


if __name__ == "__main__":
    unittest.main()
