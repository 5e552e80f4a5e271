"""bench/detect.py runs: the matrix on sets that are folders, and a running bus. How good or fast
anything is, is not looked at."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from command import BUILD, LIMIT, ROOT, leat

TOP = None
SETS = ("car a", "car_b")
METHODS = {"leat VGAE", "leat GAT"}


def setUpModule():  # pylint: disable=invalid-name
    global TOP  # pylint: disable=global-statement
    TOP = tempfile.mkdtemp(prefix="leat-bench-detect-")
    unittest.addModuleCleanup(shutil.rmtree, TOP)
    for seed, name in enumerate(SETS, 5):
        leat("synth", "can", "--frames", 12000, "--seed", seed, "--attacks", "dos,replay",
             "-o", os.path.join(TOP, "sets", name), status=0)


def bench(*words):
    path = os.path.join(TOP, "told.json")
    done = subprocess.run(
        [sys.executable, os.path.join(ROOT, "bench", "detect.py"), *words, "--quick", "--frames",
         "12000", "--build", BUILD, "--work", os.path.join(TOP, "work"), "--json", path],
        capture_output=True, text=True, check=False, timeout=10 * LIMIT)
    if done.returncode != 0:
        return done, None
    with open(path, encoding="utf-8") as file:
        return done, json.load(file)


class Runs(unittest.TestCase):
    def test_matrix(self):
        done, told = bench("quality", "--matrix", "--sets", os.path.join(TOP, "sets"))
        self.assertEqual(done.returncode, 0, done.stderr)
        names = {"vehicle 1", "vehicle 2", *SETS}
        cells = {(record["trained"], record["tested"], record["method"])
                 for record in told["samples"]["records"]}
        self.assertLessEqual({(of, on, method) for of in names for on in names
                              for method in METHODS}, cells)
        for method in METHODS:
            self.assertIn(f"{method}: trained on a row, tested on a column:", done.stdout)
        self.assertNotIn("left out: leat", done.stdout)
        # a set's own tests, and those of a vehicle with other attacks
        tests = {(record["tested"], record["split"]) for record in told["samples"]["records"]}
        self.assertIn(("car_b", "test_02_replay"), tests)
        self.assertNotIn(("car_b", "test_02_fuzzing"), tests)
        self.assertIn(("vehicle 1", "test_02_fuzzing"), tests)

    def test_sets_that_are_not_there(self):
        os.makedirs(os.path.join(TOP, "empty"), exist_ok=True)
        done, _ = bench("quality", "--matrix", "--sets", os.path.join(TOP, "empty"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("empty has no folder: each is the logs of a set", done.stderr)

    def test_live(self):
        done, told = bench("live", "--pace", "4")
        self.assertEqual(done.returncode, 0, done.stderr)
        for model in ("vgae", "gat"):
            delay, = told["samples"][f"{model}-delay"]
            speed, = told["samples"][f"{model}-speed"]
            frames = speed["frames"] // 2  # the file has the bus twice
            self.assertGreater(frames, 300)
            # those that end within 256 lines are not counted
            self.assertEqual(len(delay["delays_ms"]), frames // 100 - 2)
            self.assertGreater(min(delay["delays_ms"]), 0)


if __name__ == "__main__":
    unittest.main()
