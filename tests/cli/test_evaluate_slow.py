"""docs/detect.md and docs/evaluate.md, from their first commands to their last: they train."""
import unittest

from shown import Pages


class Detectors(Pages):
    """(blocks that were run, outputs compared, blocks that were not run)"""

    def test_detect(self):
        self.assertEqual(self.run_page("docs/detect.md"), (3, 3, 0))

    def test_evaluate(self):
        self.assertEqual(self.run_page("docs/evaluate.md"), (3, 3, 0))


if __name__ == "__main__":
    unittest.main()
