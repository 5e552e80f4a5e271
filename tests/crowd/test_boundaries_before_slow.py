"""kill -9 of the coordinator before every statement of a run: another one continues."""
import unittest

import test_kills
from server import find_server, skip


class Slow(test_kills.Kills):
    def test_every_statement(self):
        self.at_every_statement(self.boundary, after=False)


if __name__ == "__main__":
    if find_server() is None:
        skip("no PostgreSQL server (scripts/install.sh --gate installs it)")
    unittest.main()
