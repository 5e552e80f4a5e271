"""kill -9 of the coordinator before and after every statement of a run: another one goes on.
"""
import unittest

import test_kills
from server import find_server, skip


class Slow(test_kills.Kills):
    def test_every_statement(self):
        last = self.boundary(0, False, steps=1)
        print(f"{last} statements in a run of one step")
        for target in range(1, last + 1):
            for after in (False, True):
                with self.subTest(statement=target, after=after):
                    self.boundary(target, after, steps=1)


if __name__ == "__main__":
    if find_server() is None:
        skip("no PostgreSQL server (scripts/install.sh --gate installs it)")
    unittest.main()
