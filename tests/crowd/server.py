"""A PostgreSQL server for tests in Python, by tests/crowd/tool_server.c."""
import itertools
import os
import subprocess
import sys
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))

from command import BUILD, wait_for_output  # pylint: disable=wrong-import-position

TOOL = os.path.join(BUILD, "tests", "crowd_tool_server")


class Server:
    """Started by its first user, ended by stop()."""

    def __init__(self):
        self.process = subprocess.Popen([TOOL], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.numbers = itertools.count()
        wait_for_output(self.process)
        line = self.process.stdout.readline()
        if not line.strip().isdigit():
            self.stop()
            raise unittest.SkipTest(line.strip())
        self.port = int(line)

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "ok\n", line

    def database(self):
        """The name of a new one."""
        name = f"python{next(self.numbers)}"
        self.tell(f"database {name}")
        return name

    def url(self, database, login="owner", more=""):
        return (f"postgresql://{login}@127.0.0.1:{self.port}/{database}?sslmode=disable"
                f"{more}")
