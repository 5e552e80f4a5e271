"""The networks that bench/detect.py measures beside leat's are those of graphids: with its weights
and its random numbers, they give its losses."""
import json
import os
import sys
import unittest

HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(HOME, "tests", "python"), os.path.join(HOME, "bench", "rivals")]
import support

support.need("torch", "torch_geometric", "safetensors", environment="torch")
SHARED = os.environ.get("LEAT_SHARED")
if not SHARED:
    print("skipped: the weights of graphids are in the golden files of LEAT_SHARED alone")
    sys.exit(77)

import pyg_detect  # noqa: E402
from safetensors.torch import load_file  # noqa: E402


def reference(name):
    """Tensors and losses of a step with the weights before it."""
    stem = os.path.join(SHARED, "golden", "can", name)
    with open(stem + ".json", encoding="utf-8") as file:
        return load_file(stem + ".safetensors"), json.load(file)["losses_f32"][0]


def batch_of(tensors):
    batch = {name.removeprefix("input/"): value for name, value in tensors.items()
             if name.startswith("input/")}
    whole = ("edge_index", "node_id", "batch", "y")
    return {**batch, **{name: batch[name].long() for name in whole}, "graphs": len(batch["y"])}


class Networks(unittest.TestCase):
    def compare(self, network, tensors, told, drawn):
        network.load_state_dict({name: tensors["w/" + name] for name in network.state_dict()})
        losses = network.losses(batch_of(tensors), drawn)
        for name, value in losses.items():
            self.assertAlmostEqual(value.item() / told[name], 1, delta=1e-6, msg=name)

    def test_vgae(self):
        tensors, told = reference("vgae_ref")
        self.compare(pyg_detect.Vgae(51, dropout=0.0), tensors, told,
                     {"mask": tensors["random/0/mask_uniform"] < pyg_detect.MASKED,
                      "noise": tensors["random/0/noise"],
                      "negatives": tensors["random/0/neg_ids"].long()})

    def test_gat(self):
        tensors, told = reference("gat_ref")
        self.compare(pyg_detect.Gat(51, dropout=0.0), tensors, told, None)


if __name__ == "__main__":
    unittest.main()
