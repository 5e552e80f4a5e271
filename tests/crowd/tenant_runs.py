"""Runs of the command with a second model that no file of src and cli knows (tests/cli/tenant.c).
Its units differ in size, and its steps in their number of units. Needs leat_tenant of LEAT_BUILD.
"""
import json
import os
import shutil
import tempfile

from server import Server

import command
from command import leat

command.LEAT = os.path.join(command.BUILD, "tests", "leat_tenant")
from runs import Runs  # pylint: disable=wrong-import-position

ROWS, STEPS, UNITS = 23, 8, 3
END = "TENANT_ENDS_AT"  # a position at which a process is killed (tests/train/tenant.h)
SMALL = ["--units", UNITS, "--micro-batch", "3", "--codec-up", "bf16", "--codec-down", "bf16",
         "--scale", "2", "--checkpoint-every", "2"]


def units_of(step):
    return UNITS - (step % 3 == 2)


def position(step):
    """Rows that steps before this one use: units of 5, 6, 7, 5, ... rows."""
    return sum(5 + i % 3 for i in range(sum(map(units_of, range(step)))))


class TenantRuns(Runs):
    small = ["--model", "linear", *SMALL]

    @classmethod
    def setUpClass(cls):
        cls.data = tempfile.mkdtemp(prefix="leat-tenant-")
        cls.addClassCleanup(shutil.rmtree, cls.data)
        cls.faces = f"{cls.data}/rows.txt"
        with open(cls.faces, "w", encoding="ascii") as file:
            for i in range(ROWS):
                row = [i % 5 - 2, i % 7 / 4, i % 3]
                file.write(f"{row[0]} {row[1]} {row[2]} {2 * row[0] - row[1] + row[2] / 2}\n")
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)

    def train(self, run, *words, steps=STEPS, status=0, ends_at=None, threads=1):
        env = os.environ if ends_at is None else {**os.environ, END: str(ends_at)}
        done = leat("train", "linear", self.faces, "-o", f"{self.folder}-{run}", "--steps", steps,
                    "--threads", threads, *SMALL, *words, "--json", status=status, env=env)
        return json.loads(done.stdout) if status == 0 else done

    def alone(self, steps):
        return self.train(f"alone{next(self.numbers)}", steps=steps)["state"]

    def status(self, *words):
        return leat("status", "--db", self.url(), *words, status=0).stdout
