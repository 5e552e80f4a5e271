"""examples/python/grain_loader.py, as its first lines say it is run."""
import json
import os
import unittest

import support

support.need("numpy", "grain", "leat")


class Grain(unittest.TestCase):
    def test_resumed(self):
        """A run in three parts takes the steps of one, and the command's batches."""
        data, whole, parts = support.dataset(), [], []
        for name, ends, lines in ("whole", (12,), whole), ("parts", (5, 7, 12), parts):
            state = os.path.join(support.folder(), f"grain-{name}.json")
            for end in ends:
                lines += support.run_example("grain_loader.py", data, state, str(end)).splitlines()
            with open(state, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["step"], 12)
        self.assertEqual([line.split(":")[0] for line in whole],
                         [f"step {step}" for step in range(12)])
        self.assertEqual(whole, parts)
        self.assertEqual(len(set(line.split(":")[1] for line in whole)), 12)


if __name__ == "__main__":
    unittest.main()
