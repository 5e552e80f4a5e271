"""The examples of docs/python.md that need its environment: PyTorch, safetensors."""
import unittest

import support

support.need("numpy", "torch", "torch_geometric", "safetensors", "leat", environment="torch")


class Examples(unittest.TestCase):
    def test_they_run(self):
        count, done = support.run_examples(lambda block: "torch" in block or "safetensors" in block)
        self.assertGreater(count, 1)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for promised in ("epoch 1: loss ", "\nDataBatch(x=[", "\nData(x=[", "\nval 1: ",
                         "\nGraphFacts(graph="):
            self.assertIn(promised, done.stdout)
        self.assertRegex(done.stdout.splitlines()[-1], r"^\[[0-9]+(, [0-9]+){4}\]$")


if __name__ == "__main__":
    unittest.main()
