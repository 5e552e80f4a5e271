"""What is shown of a run whose best checkpoint is the one with the highest number, the lowest, or
none (tests/cli/tenant.c): by leat inspect, and on the run's page."""
import os
import re
import subprocess
import tempfile
import unittest

import pages
from command import BUILD, LIMIT

CASES = {  # model: line of the best checkpoint, the words of the page
    "higher": (r"  step 2 .*  fit 0\.875, the highest\n", "0.875 (highest)", "higher is better:"),
    "lower": (r"  step 3 .*  fit 0\.25, the lowest\n", "0.25 (lowest)", "lower is better:"),
    "neither": (None, None, None),
}
TRAINED = ("--steps", "9", "--micro-batch", "3", "--checkpoint-every", "1", "--sample-every", "1",
           "--keep", "1", "--threads", "1")


class Ranked(unittest.TestCase):
    def test_best_is_the_highest_or_the_lowest(self):
        program = os.path.join(BUILD, "tests", "leat_tenant")
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "rows.txt"), "w", encoding="utf-8") as file:
                file.writelines(f"{i % 5} {i % 7} {i % 3} {i % 5 - i % 7}\n" for i in range(23))
            for model, (line, cell, words) in CASES.items():
                with self.subTest(model):
                    for command in (["train", model, "rows.txt", "-o", model, *TRAINED],
                                    ["inspect", model]):
                        done = subprocess.run([program, *command], cwd=folder, timeout=LIMIT,
                                              capture_output=True, check=True, text=True)
                    with open(os.path.join(folder, model, "report.html"), encoding="utf-8") as file:
                        page = file.read()
                    figure = pages.figures(page)["Fit"]
                    self.assertIn("<th>fit</th>", page)
                    self.assertRegex(done.stdout, r"  step 9 .*  fit 0\.5\n")
                    self.assertNotIn("deviation", done.stdout)
                    if line is None:
                        self.assertNotRegex(done.stdout + page, r"highest|lowest|better")
                        continue
                    self.assertRegex(done.stdout, line)
                    self.assertEqual(re.findall(r"[\d.]+ \((?:high|low)est\)", page), [cell])
                    self.assertIn(words, figure)


if __name__ == "__main__":
    unittest.main()
