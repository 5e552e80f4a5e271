"""examples/python/pytorch_geometric.py and curriculum.py, as their first lines say they are run."""
import os
import re
import unittest

import support

support.need("numpy", "torch", "torch_geometric", "leat", environment="torch")
import leat  # noqa: E402


class Examples(unittest.TestCase):
    def test_pytorch_geometric(self):
        cache = support.can_cache()
        text = support.run_example("pytorch_geometric.py", cache)
        losses = [float(found) for found in re.findall(r"^epoch \d: loss ([0-9.]+), ", text, re.M)]
        self.assertEqual(len(losses), 5, text)
        self.assertLess(losses[-1], losses[0] / 2)
        self.assertEqual(re.findall(r"^(test\w+): [01]\.", text, re.M),
                         [name for name in leat.CanDataset(cache) if name.startswith("test")])

    def test_curriculum(self):
        """The number of graphs grows to all; the command takes the scores, and has the same
        batches."""
        cache = support.can_cache()
        scores = os.path.join(support.folder(), "scores.json")
        text = support.run_example("curriculum.py", cache, scores)
        count = len(leat.CanDataset(cache)["train"])
        self.assertIn(f"{count} graphs scored, from ", text)
        graphs = [int(found) for found in re.findall(r", (\d+) graphs, ", text)]
        self.assertEqual((len(graphs), graphs, graphs[-1]), (10, sorted(set(graphs)), count))
        batches = sum(int(found) for found in re.findall(r", (\d+) batches$", text, re.M))
        rows = support.run("batches", cache, "--max-nodes", "2000", "--seed", "1", "--curriculum",
                           scores, "--epochs", "10", "--hash=rows")
        self.assertEqual(len(rows.splitlines()), batches)


if __name__ == "__main__":
    unittest.main()
