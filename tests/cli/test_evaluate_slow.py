"""docs/evaluate.md, from its first command to its last: it trains a detector."""
import unittest

from shown import Pages


class Evaluate(Pages):
    def test_evaluate(self):
        """(blocks that were run, outputs compared, blocks that were not run)"""
        self.assertEqual(self.run_page("docs/evaluate.md"), (3, 3, 0))


if __name__ == "__main__":
    unittest.main()
