"""docs/tutorial-latency.md, from its first command to the trained model."""
import os
import sys
import unittest

import support

support.need("numpy", "jax", "leat")
sys.path.append(os.path.join(support.ROOT, "tests", "cli"))
from shown import Pages  # noqa: E402


class Tutorial(Pages):
    limit = 1500  # it trains for minutes, and others may use the processor

    def test_latency(self):
        self.assertEqual(self.run_page("docs/tutorial-latency.md"), (6, 6, 4))


if __name__ == "__main__":
    unittest.main()
