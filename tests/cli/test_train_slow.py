"""A training that is killed fifty times: the weights are those of one that was not. Runs the
command named by LEAT (default: build/leat)."""
import json
import os
import unittest

import folder
import test_train
from test_train import setUpModule, tearDownModule  # noqa: F401  the data


class Killed(folder.Folder):
    def test_fifty_kills(self):
        words = ["--steps", "120", "--json", "--checkpoint-every", "1", "--width", "8",
                 "--unit-size", "32", "--micro-batch", "16", "--units", "2", "--sample-every",
                 "100", "--codec-up", "int8", "--codec-down", "bf16"]
        run = self.at("run")
        whole = test_train.train(self.at("whole"), *words)
        test_train.kill_often(run, 50, 700, *words)
        with open(f"{run}/metrics.jsonl", encoding="utf-8") as file:
            self.assertIn(len(file.readlines()), range(15, 120))  # some came to a checkpoint
        done = test_train.train(run, *words, "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["state"], json.loads(whole.stdout)["state"])
        first, second = test_train.tree(self.at("whole")), test_train.tree(run)
        for name in sorted(first):
            if name.endswith((".safetensors", ".png", "training.json", "config.yaml")):
                self.assertEqual(first[name], second[name], name)
        self.assertEqual(sorted(first), sorted(second))
        self.assertFalse([name for name in os.listdir(run) if "draft" in name])


if __name__ == "__main__":
    unittest.main()
