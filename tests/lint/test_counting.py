"""scripts/check counts every single test, and reports every kind of failure: a failed, crashed,
truncated, hanging or missing program each has the expected counts and exit status."""
import contextlib
import io
import re
import subprocess
import sys
import tempfile
import unittest

from check_script import CHECK, check, numbers, write_suite

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
    "skips": ("echo skipped: nothing to do; exit 77", (0, 0, 1)),
    "absent": (None, (0, 1, 0)),
}


class Counting(unittest.TestCase):
    def test_programs(self):
        for status, text, expected in PROGRAMS:
            with self.subTest(status=status, text=text):
                self.assertEqual(numbers(check.count_program(status, text)), expected)

    def run_suite(self, names):
        with tempfile.TemporaryDirectory() as folder:
            write_suite(folder, {name: SUITE[name][0] for name in names})
            with contextlib.redirect_stdout(io.StringIO()):
                return numbers(check.run_ctest(check.Run(), folder))

    def test_ctest(self):
        self.assertEqual(self.run_suite([]), (0, 0, 0))
        for name, (_, expected) in SUITE.items():
            with self.subTest(name=name):
                self.assertEqual(self.run_suite([name]), expected)
        with tempfile.TemporaryDirectory() as folder, \
                contextlib.redirect_stdout(io.StringIO()):
            write_suite(folder, {"hangs": "sleep 1000"})
            self.assertEqual(numbers(check.run_ctest(check.Run(), folder, seconds=1)), (0, 1, 0))
        total = tuple(map(sum, zip(*(expected for _, expected in SUITE.values()))))
        self.assertEqual(self.run_suite(SUITE), total)

    def test_deadline(self):
        """A command that never ends is ended: this returns at all."""
        run = check.Run(deadline_minutes=0.5 / 60)
        with self.assertRaises(check.OutOfTime):
            run.run(["sleep", "1000"])

    def test_wide(self):
        """The stages of other systems, with faked results: (stage, answers, tally)."""
        compilers = sum(map(len, check.COMPILERS.values()))
        pages = ("run_pages", (0, "40 passed, 0 failed, 9 skipped\n"))
        own = (r"--keep trixie .*>drive.log .*--reuid reader .*make check$",
               (0, "700 passed, 0 failed, 3 skipped\n"))
        torch = (r"--keep trixie .*--reuid reader .*check --stage torch$",
                 (0, "29 passed, 0 failed\n"))
        both = [(r"trixie make demo", (0, "== done\n788 passed, 0 failed\n")), pages, own, torch]
        tested = [("check --stage tests", (0, "700 passed, 0 failed, 5 skipped\n"))]
        bare = lambda run: check.stage_bare(run, "trixie")
        arm64 = lambda run: check.stage_arm64(run, 31)
        for stage, answers, expected in (
                (arm64, [("arm64.sh 31$", (0, "neon: ok\n9 passed, 0 failed\n"))], (9, 0, 0)),
                (arm64, [("arm64.sh", (1, "neon: WRONG\n8 passed, 1 failed\n"))], (8, 1, 0)),
                (arm64, [("arm64.sh", (1, "vec.h:140: error: x\n"))], (0, 1, 0)),
                (arm64, [("arm64.sh", (77, "cross-arm64: skipped: no gcc\n"))], (0, 0, 1)),
                (bare, both, (1557, 0, 12)),
                (bare, [("trixie", (77, "bare-debian: must be root\n"))], (0, 0, 1)),
                (bare, [("make demo", (2, "make: clang-format-14 not found\n")), *both[1:]],
                 (769, 1, 12)),
                (bare, [("make demo", (1, "787 passed, 1 failed\n")), *both[1:]],
                 (1556, 1, 12)),
                (bare, [("drive.log", (2, "lint text: 1 broken\n")), *both], (857, 1, 9)),
                (bare, [("run_pages", (1, "38 passed, 2 failed, 9 skipped\n")), *both],
                 (1555, 2, 12)),
                (bare, [("run_pages", (1, "useradd: no\n")), *both], (1517, 1, 3)),
                (bare, [("stage torch", (1, "28 passed, 1 failed\n")), *both], (1556, 1, 12)),
                (check.stage_compilers, tested, (compilers + 1400, 0, 10)),
                (check.stage_compilers, [("COMPILER=gcc-13", (1, "warning: x\n")), *tested],
                 (compilers + 1399, 1, 10)),
                (check.stage_compilers, [("sid scripts/install", (77, "no mirror\n")), *tested],
                 (compilers - 1 + 700, 0, 6)),
                (check.stage_compilers, [("sid scripts/install", (100, "E: ...\n")), *tested],
                 (compilers - 1 + 700, 1, 5))):
            class Faked:
                def run(self, command, answers=answers):
                    words = " ".join(command)
                    return next((answer for pattern, answer in answers
                                 if re.search(pattern, words)), (0, ""))
            with self.subTest(answers), contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(numbers(stage(Faked())), expected)

    def run_stages(self, stages, deadline_minutes=None):
        """(exit status, lines of the output) of stages as tuples: (name, share, function)."""
        with contextlib.redirect_stdout(io.StringIO()) as out:
            status = check.run_stages([check.Stage(*stage) for stage in stages],
                                      check.Run(deadline_minutes))
        return status, out.getvalue().rstrip().split("\n")

    def test_stages(self):
        """(what the only stage counts, exit status, last line)."""
        for numbers_, expected, last in (((3, 0, 1), 0, "3 passed, 0 failed, 1 skipped"),
                                         ((3, 1, 0), 1, "3 passed, 1 failed"),
                                         ((0, 0, 2), 1, "0 passed, 0 failed, 2 skipped"),
                                         ((0, 0, 0), 1, "0 passed, 0 failed")):
            with self.subTest(last):
                status, lines = self.run_stages(
                    [("some", 5, lambda run, numbers_=numbers_: check.Tally(*numbers_))])
                self.assertEqual((status, lines[-1]), (expected, last))
                self.assertRegex(lines[-2], rf"^some +5 +[\d.]+ +\d+  {last}$")

    def test_what_failed_is_named(self):
        """Under the table, because a stage prints much."""
        def some(run):
            run.broken += ["base_test_a in build", "cli_test_b in build-asan"]
            return check.Tally(1, 2)
        _, lines = self.run_stages([("some", None, some)])
        self.assertEqual(lines[-2], "failed: base_test_a in build, cli_test_b in build-asan")

    def test_a_late_stage_passes(self):
        """A stage over its share is reported; without a share nothing is late."""
        late = lambda run: check.Tally(passed=1)
        status, lines = self.run_stages([("late", 1e-9, late), ("any", None, late)])
        self.assertEqual((status, lines[-1]), (0, "2 passed, 0 failed"))
        self.assertRegex(lines[-3], r"^late .*  1 passed, 0 failed; over its share$")
        self.assertRegex(lines[-2], r"^any +- +[\d.]+ +\d+  1 passed, 0 failed$")

    def test_no_time_is_a_failure(self):
        """The deadline stops the second stage; it and the third one fail, and are named. It comes
        while the second one runs, however long the machine took until then."""
        def stage_hangs(run):
            run.deadline_minutes = (run.elapsed() + 0.1) / 60
            run.run(["sleep", "1000"])
            return check.Tally(passed=1)
        passes = lambda run: check.Tally(passed=1)
        status, lines = self.run_stages(
            [("first", 5, passes), ("hangs", 5, stage_hangs), ("third", 5, passes)], 1000)
        self.assertEqual((status, lines[-1]), (1, "1 passed, 2 failed"))
        self.assertRegex(lines[-2], r"^not finished within .* minutes: hangs, third$")
        self.assertRegex(lines[-3], r"^third +5 +- +\d+  NOT RUN: no time$")
        self.assertRegex(lines[-4], r"^hangs +5 +[\d.]+ +\d+  NOT RUN to its end: no time$")
        self.assertNotIn("== third", lines)

    def test_shares_fit(self):
        """make check in 5 minutes; the gate in 20, of which 2 are for what it installs."""
        self.assertEqual(sum(stage.share_minutes for stage in check.QUICK), 5)
        self.assertLessEqual(sum(stage.share_minutes for stage in check.GATE), 18)
        self.assertEqual(check.GATE[1:3], check.QUICK)

    def test_options(self):
        for arguments, expected in ((["--stage", "none"], "invalid choice: 'none'"),
                                    (["--gate", "--all"], "not allowed with")):
            done = subprocess.run([sys.executable, CHECK, *arguments], capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(expected, done.stderr)


if __name__ == "__main__":
    unittest.main()
