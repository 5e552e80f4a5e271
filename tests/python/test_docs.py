"""The example of README.md, and those of docs/python.md that need no PyTorch: the others are run by
tests/torch/test_docs.py.
"""
import unittest

import support

support.need("numpy", "grain", "jax", "leat")


class Examples(unittest.TestCase):
    def test_they_run(self):
        count, done = support.run_examples(
            lambda block: "torch" not in block and "safetensors" not in block)
        self.assertGreater(count, 5)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        # what comments promise literally
        for promised in ("\n1 1\n", "segment 1  ", "step 0 row 3: sequence 3, epoch 0 position 3",
                         "<leat.ProbeDataset probes: 400 rows>", "datetime64[us]", "\n1 (1, 0)\n",
                         "\nGraph(facts=GraphFacts(graph=0, ",
                         "\n<leat.ImageDataset faces: 70 images of 64 x 64>\n(64, 64, 3) ",
                         "\n7\n0 (32, 3, 64, 64) [", "]\nTrue\n1\n",
                         "\n<leat.Run run: dcgan, checkpoint of step 6>\n6 (6,)\n"
                         "(8, 64, 64, 3) [3, 6]\n0.0002 ",
                         'cannot open "nowhere": no such file or folder'):
            self.assertIn(promised, done.stdout)

    def test_readme(self):
        count, done = support.run_examples(lambda block: True, "README.md")
        self.assertEqual(count, 1)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.splitlines()[-1],
                         "(8, 1024) float32 (64, 3, 64, 64) (4, 64, 64, 3)")


if __name__ == "__main__":
    unittest.main()
