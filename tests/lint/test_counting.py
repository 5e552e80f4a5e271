"""scripts/check counts every single test, and no way to fail gets past it: a failed, crashed, cut
short, hanging or missing program each makes the sum and the exit status what they are."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import subprocess
import sys
import tempfile
import unittest

HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHECK = os.path.join(HOME, "scripts", "check")
loader = importlib.machinery.SourceFileLoader("check", CHECK)
check = importlib.util.module_from_spec(importlib.util.spec_from_loader("check", loader))
loader.exec_module(check)

# (status of the program, what it wrote, the tally)
PROGRAMS = [
    ("passed", "1..2\nok 1 - a\nok 2 - b\n", (2, 0, 0)),
    ("passed", "1..2\nok 1 - a\nnot ok 2 # SKIP b\n", (1, 0, 1)),
    ("failed", "1..2\nok 1 - a\nnot ok 2 - b\n# 0x1 != 0x2\n", (1, 1, 0)),
    ("failed", "1..3\nok 1 - a\n", (1, 1, 0)),  # crashed in the second
    ("failed", "", (0, 1, 0)),
    ("passed", "1..3\nok 1 - a\n", (1, 2, 0)),  # left early with status 0
    ("passed", "1..1\nok 1 - a\n1..2\nok 1 - b\nok 2 - c\n", (3, 0, 0)),
    ("passed", "nothing countable", (1, 0, 0)),
    ("passed", "5 passed, 0 failed, 2 skipped\n", (5, 0, 2)),
    ("failed", "5 passed, 1 failed\n", (5, 1, 0)),
    ("failed", "5 passed, 0 failed\n", (5, 1, 0)),
    ("passed", "..\nRan 4 tests in 1.2s\n\nOK (skipped=1)\n", (3, 0, 1)),
    ("failed", "F.\nRan 4 tests in 1.2s\n\nFAILED (failures=1, errors=1)\n", (2, 2, 0)),
    ("skipped", "no PyArrow here\n", (0, 0, 1)),
]

# test of ctest -> (what it runs, tally)
SUITE = {
    "good": ("echo 1..2; echo ok 1 - a; echo ok 2 - b", (2, 0, 0)),
    "bad": ("echo 1..1; echo not ok 1 - a; exit 1", (0, 1, 0)),
    "dies": ("echo 1..2; echo ok 1 - a; kill -SEGV $$", (1, 1, 0)),
    "hangs": ("sleep 60", (0, 1, 0)),
    "skips": ("echo skipped: nothing to do; exit 77", (0, 0, 1)),
    "absent": (None, (0, 1, 0)),
}


def numbers(tally):
    return (tally.passed, tally.failed, tally.skipped)


class Counting(unittest.TestCase):
    def test_programs(self):
        for status, text, expected in PROGRAMS:
            with self.subTest(status=status, text=text):
                self.assertEqual(numbers(check.count_program(status, text)), expected)

    def run_suite(self, names):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "CTestTestfile.cmake"), "w", encoding="utf-8") as file:
                for name in names:
                    script = SUITE[name][0]
                    program = '"/nowhere/at/all"' if script is None else f"sh -c [[{script}]]"
                    file.write(f"add_test({name} {program})\nset_tests_properties({name} "
                               "PROPERTIES TIMEOUT 2 SKIP_RETURN_CODE 77)\n")
            with contextlib.redirect_stdout(io.StringIO()):
                return numbers(check.run_ctest(check.Clock(5, 5), folder))

    def test_ctest(self):
        self.assertEqual(self.run_suite([]), (0, 0, 0))
        for name, (_, expected) in SUITE.items():
            with self.subTest(name=name):
                self.assertEqual(self.run_suite([name]), expected)
        total = tuple(map(sum, zip(*(expected for _, expected in SUITE.values()))))
        self.assertEqual(self.run_suite(SUITE), total)

    def test_deadline(self):
        clock = check.Clock(5, 0.5 / 60)
        with self.assertRaises(check.OutOfTime):
            clock.run(["sleep", "60"])
        self.assertLess(clock.elapsed(), 20)

    def test_nothing_passed_is_a_failure(self):
        done = subprocess.run([sys.executable, CHECK, "--stage", "none"], capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stdout.split("\n")[-2]), (1, "0 passed, 0 failed"))


if __name__ == "__main__":
    unittest.main()
