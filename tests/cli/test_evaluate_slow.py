"""docs/detect.md, evaluate.md and live.md, from their first commands to their last: they train."""
import unittest

from shown import Pages


class Detectors(Pages):
    """(blocks that were run, outputs compared, blocks that were not run)"""

    def test_detect(self):
        self.assertEqual(self.run_page("docs/detect.md"), (3, 3, 1))

    def test_evaluate(self):
        self.assertEqual(self.run_page("docs/evaluate.md"), (3, 3, 0))

    def test_live(self):
        self.assertEqual(self.run_page("docs/live.md"), (2, 1, 1))


if __name__ == "__main__":
    unittest.main()
