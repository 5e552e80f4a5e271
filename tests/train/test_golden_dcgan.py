"""The bits of the DCGAN: runs in eight configurations are those of tests/golden/train/dcgan.json
after 1 and 7 steps, and so are the results of units. The rest: test_golden_dcgan_slow.py. Runs
"train dcgan", "inspect", "export", "coordinate", "work" and "status", as dcgan_runs.py has them.
"""
import unittest

from dcgan_runs import LISTED, RUNS, STEPS, Golden, Lab


class Dcgan(Golden):
    steps = tuple(step for step in STEPS if step <= LISTED)

    def test_plain(self):
        self.check_run("plain")

    def test_wide(self):
        self.check_run("wide")

    def test_alternating(self):
        self.check_run("alternating")

    def test_bf16(self):
        self.check_run("bf16")

    def test_int8(self):
        self.check_run("int8")

    def test_rewind(self):
        self.check_run("rewind")

    def test_init(self):
        self.check_run("init")

    @unittest.skipUnless(Lab.has_server(), "no PostgreSQL server, or leat was built without libpq")
    def test_crowd(self):
        self.check_run("crowd")
        for name in ("crowd", "plain"):
            self.expect(name, {"payloads": self.lab.payloads(name)})

    def test_all_are_recorded(self):
        self.assertEqual(list(RUNS), list(self.wanted))


if __name__ == "__main__":
    unittest.main()
