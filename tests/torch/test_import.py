"""The line of docs/detect.md that makes a safetensors file from a Lightning checkpoint: leat import
reads it, and the weights are those of the checkpoint."""
import os
import re
import subprocess
import sys
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"))
import support

support.need("torch", "safetensors", environment="torch")

import torch  # noqa: E402
from safetensors.torch import load_file  # noqa: E402


def at(*names):
    return os.path.join(support.folder(), *names)


class Checkpoint(unittest.TestCase):
    def test_the_documented_line(self):
        support.run("synth", "can", "--frames", "15000", "-o", at("logs"))
        support.run("ingest", "can", at("logs"), "--val-split", "random", "-o", at("cache"))
        support.run("train", "gat", at("cache"), "-o", at("run"), "--steps", "2")
        support.run("export", at("run"), "-o", at("model"))
        weights = load_file(at("model", "gat.safetensors"))
        torch.save({"state_dict": weights, "hyper_parameters": {"lr": 0.001, "scale": "small"},
                    "pytorch-lightning_version": "2.6.1", "epoch": 3}, at("best.ckpt"))
        with open(os.path.join(support.ROOT, "docs", "detect.md"), encoding="utf-8") as file:
            line = re.search(r"^    python3 -c '([^']*)' best\.ckpt gat\.safetensors$",
                             file.read(), re.M)[1]
        subprocess.run([sys.executable, "-c", line, at("best.ckpt"), at("gat.safetensors")],
                       check=True, timeout=120)
        support.run("import", at("gat.safetensors"), "--data", at("cache"), "-o", at("imported"))
        support.run("export", at("imported"), "-o", at("again"))
        again = load_file(at("again", "gat.safetensors"))
        self.assertEqual(sorted(again), sorted(weights))
        for name, value in weights.items():
            self.assertTrue(torch.equal(value, again[name]), name)


if __name__ == "__main__":
    unittest.main()
