"""The bits of the DCGAN after 50 steps, and the results of units, in eight configurations: those of
tests/golden/train/dcgan.json.
"""
import unittest

from dcgan_runs import RUNS, Golden, Lab


class Dcgan(Golden):
    def test_runs(self):
        for name in RUNS:
            if name != "crowd":
                with self.subTest(name):
                    self.check_run(name)

    @unittest.skipUnless(Lab.has_server(), "no PostgreSQL server, or leat was built without libpq")
    def test_crowd_and_payloads(self):
        self.check_run("crowd")
        for name in RUNS:
            with self.subTest(name):
                self.expect(name, {"payloads": self.lab.payloads(name)})


if __name__ == "__main__":
    unittest.main()
