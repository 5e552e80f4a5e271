"""The blocks of docs/python.md that need no PyTorch, and those of README.md: the others are run by
tests/torch/test_docs.py.
"""
import os
import sys
import unittest

import support

support.need("numpy", "grain", "jax", "leat")
sys.path.append(os.path.join(support.ROOT, "tests", "cli"))
from shown import Pages  # noqa: E402


class Examples(Pages):
    limit = 300

    def test_they_run(self):
        self.assertEqual(self.run_page("docs/python.md", **support.ONE_THREAD), (11, 10, 6))

    def test_readme(self):
        self.assertEqual(self.run_page("README.md", **support.ONE_THREAD), (3, 3, 3))


if __name__ == "__main__":
    unittest.main()
