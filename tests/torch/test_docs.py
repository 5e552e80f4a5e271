"""The blocks of docs/python.md, with those that need its environment: PyTorch, safetensors."""
import os
import sys
import unittest

import support

support.need("numpy", "torch", "torch_geometric", "safetensors", "leat", environment="torch")
sys.path.append(os.path.join(support.ROOT, "tests", "cli"))
from shown import Pages  # noqa: E402


class Examples(Pages):
    limit = 300

    def test_they_run(self):
        self.assertEqual(self.run_page("docs/python.md", **support.ONE_THREAD), (14, 13, 3))


if __name__ == "__main__":
    unittest.main()
