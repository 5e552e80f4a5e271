"""docs/tutorial-can.md, from its first command to the trained detector."""
import os
import sys
import unittest

import support

support.need("numpy", "torch", "torch_geometric", "leat", environment="torch")
sys.path.append(os.path.join(support.ROOT, "tests", "cli"))
from shown import Pages  # noqa: E402


class Tutorial(Pages):
    limit = 540  # it trains

    def test_can(self):
        self.assertEqual(self.run_page("docs/tutorial-can.md"), (5, 5, 1))


if __name__ == "__main__":
    unittest.main()
