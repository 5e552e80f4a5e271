"""Notes where data is larger than memory, of `leat batches` and `leat doctor`.

Runs the command named by LEAT, and build/tests/leat_held, on a machine whose memory is that of
LEAT_HELD_MEMORY (tests/cli/held_memory.c).
"""
import os
import shutil
import subprocess
import tempfile
import unittest

import held
import pings
from command import LIMIT, leat as run

LITTLE, MUCH = 100000, 1 << 40
NOTE = "larger than the memory of this machine"
FOLDER = None


def path(name):
    return os.path.join(FOLDER, name)


def setUpModule():
    global FOLDER
    FOLDER = tempfile.mkdtemp(prefix="leat-notes-")
    pings.write_csv(path("pings.csv"))
    for words in (("ingest", "probes", path("pings.csv"), "-o", path("pings")),
                  ("ingest", "probes", path("pings.csv"), "-o", path("packed"), "--compression",
                   "zstd"),
                  ("synth", "can", "-o", path("logs"), "--vehicles", 1, "--frames", 40000),
                  ("ingest", "can", path("logs"), "-o", path("cache")),
                  ("synth", "images", "--count", 50, "-o", path("photos")),
                  ("ingest", "images", path("photos"), "-o", path("images"))):
        done = run(*words)
        assert done.returncode == 0, (words, done.stderr)


def tearDownModule():
    shutil.rmtree(FOLDER)


class Notes(unittest.TestCase):
    def run_with(self, memory, *words):
        done = subprocess.run([held.PROGRAM, *map(str, words)], capture_output=True, text=True,
                              env={**os.environ, "LEAT_HELD_MEMORY": str(memory)}, check=False,
                              timeout=LIMIT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_batches(self):
        for name in ("pings", "packed", "cache", "images"):
            with self.subTest(name=name):
                words = ("batches", path(name), "--steps", "0:1", "--hash")
                noted = self.run_with(LITTLE, *words)
                self.assertRegex(noted.stderr,
                                 rf"\Aleat: the [a-z ]+ \([\d.]+ [KM]iB\) is {NOTE} \(97.7 KiB\), "
                                 r"[^\n]*; use --order windowed, [^\n]*\n\Z")
                self.assertEqual(self.run_with(MUCH, *words).stderr, "")
                self.assertEqual(self.run_with(MUCH, *words).stdout, noted.stdout)
                self.assertEqual(self.run_with(LITTLE, *words, "--order", "windowed").stderr, "")

    def test_orders_that_have_no_windowed_form(self):
        for more in (("--by", "client"), ("--sampler", "all")):
            done = self.run_with(LITTLE, "batches", path("pings"), "--steps", "0:1", *more)
            self.assertEqual(done.stderr, "")

    def test_rows_of_others_are_read_one_by_one(self):
        folder = path("others")
        os.mkdir(folder)
        for name in os.listdir(path("pings/train")):
            shutil.copy(os.path.join(path("pings/train"), name), folder)
        shards = [os.path.join(folder, name) for name in os.listdir(folder)]
        self.assertEqual(self.run_with(LITTLE, "batches", *shards, "--steps", "0:1").stderr, "")

    def test_doctor(self):
        for name in ("pings", "cache", "images"):
            with self.subTest(name=name):
                done = self.run_with(LITTLE, "doctor", path(name))
                self.assertRegex(done.stdout,
                                 r"\nnote     [a-z ]+ has [\d.]+ [KM]iB, more than the 97.7 KiB of "
                                 r"memory; train with --order windowed")
                done = self.run_with(MUCH, "doctor", path(name))
                self.assertNotIn("--order windowed", done.stdout)


if __name__ == "__main__":
    unittest.main()
