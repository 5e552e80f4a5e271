"""kill -9 of workers and of the coordinator, as test_kills.py, more of it: of one, three and eight
workers, forty times; of the coordinator, before and after every statement of a run.
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

    def test_every_statement(self):
        last = self.boundary(0, False, steps=1)
        print(f"{last} statements in a run of one step")
        for target in range(1, last + 1):
            for after in (False, True):
                with self.subTest(statement=target, after=after):
                    self.boundary(target, after, steps=1)
                    self.cut(target, after, steps=1)


if __name__ == "__main__":
    if find_server() is None:
        skip("no PostgreSQL server (scripts/install.sh --gate installs it)")
    unittest.main()
