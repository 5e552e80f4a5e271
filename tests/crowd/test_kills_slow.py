"""kill -9 of workers, as test_kills.py, more of it: of one, three and eight, forty times.
"""
import unittest

import test_kills
from server import find_server, skip


class Slow(test_kills.Kills):
    def test_workers(self):
        for count in (1, 3, 8):
            with self.subTest(workers=count):
                self.begin()
                self.workers_killed(count, 200, 40)


if __name__ == "__main__":
    if find_server() is None:
        skip("no PostgreSQL server (scripts/install.sh --gate installs it)")
    unittest.main()
