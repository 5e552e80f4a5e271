"""The promise of --memory for training, at the least limit: the one that a refusal names.

leat_counted counts the bytes that the command and its libraries have taken: with one thread that is
the same number in every run. The resident set, with more threads, is in test_train_memory_slow.py.
"""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import image_set
from test_memory import COUNTED, MIB, main

# Of parameters, of activations, and of samples is most of the memory.
KINDS = (("--width", "32", "--micro-batch", "2", "--unit-size", "2", "--sample-every", "0"),
         ("--width", "4", "--micro-batch", "32", "--unit-size", "32", "--sample-every", "0"),
         ("--width", "4", "--micro-batch", "128", "--unit-size", "128", "--sample-every", "1"))


class Promise(unittest.TestCase):
    command, threads = COUNTED, ("1",)

    def test_the_named_limit_is_kept(self):
        folder = tempfile.mkdtemp(prefix="leat-memory-")
        self.addCleanup(shutil.rmtree, folder)
        data = os.path.join(folder, "faces")
        image_set.make(data, 40, 64)

        def train(memory):
            return subprocess.run([self.command, "train", "dcgan", data, "-o",
                                   os.path.join(folder, f"run-{memory}"), "--latent", "8",
                                   "--steps", "1", "--json", "--memory", f"{memory}M", "--threads",
                                   threads, *words], capture_output=True, text=True, timeout=120,
                                  check=False)

        for threads in self.threads:
            for words in KINDS:
                refused = train(1)
                self.assertEqual(refused.returncode, 1, refused.stderr)
                least = int(re.search(r"use --memory (\d+)M", refused.stderr)[1])
                done = train(least)
                self.assertEqual(done.returncode, 0, (words, done.stderr))
                peak = json.loads(done.stdout)["memory_peak_bytes"]
                self.assertLessEqual(peak, least * MIB, (threads, words))
                shutil.rmtree(os.path.join(folder, f"run-{least}"))


if __name__ == "__main__":
    main(COUNTED, image_set.TOOL)
