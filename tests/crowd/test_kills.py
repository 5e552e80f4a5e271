"""kill -9 of workers and of the coordinator, at moments that the test counts: the final hash is
that of one machine, and nothing is left over. test_kills_slow.py has more of it. Runs the command
named by LEAT (default: build/leat).
"""
import itertools
import json
import random
import shutil
import sys
import tempfile
import threading
import unittest

from server import Server, find_server, skip

import image_set
from command import leat
from runs import Boundary, alone, coordinate, work

SERVER = DATA = None


def setUpModule():
    global SERVER, DATA
    SERVER = Server("max_connections=100")
    DATA = tempfile.mkdtemp(prefix="leat-kills-")
    image_set.make(f"{DATA}/faces", 40, 64)


def tearDownModule():
    shutil.rmtree(DATA)
    SERVER.stop()


class Kills(unittest.TestCase):
    def setUp(self):
        self.numbers, self.all = itertools.count(), []
        self.begin()
        self.addCleanup(self.end_all)

    def begin(self):
        """A database and a folder; what was there before ends."""
        self.end_all()
        self.database = SERVER.database()
        self.folder = f"{DATA}/{self.database}"

    def end_all(self):
        for command in self.all:
            command.kill()
        self.all = []

    def coordinate(self, steps, *more, url=None):
        self.all.append(coordinate(self.folder, url or SERVER.url(self.database), f"{DATA}/faces",
                                   steps, *more))
        return self.all[-1]

    def work(self, *more):
        self.all.append(work(DATA, f"{self.database}-{next(self.numbers)}",
                             SERVER.url(self.database, "ann"), f"{DATA}/faces", *more))
        return self.all[-1]

    def ask(self, sql):
        return SERVER.sql(sql, database=self.database)

    def until(self, sql, of):
        """Waits until a statement says so, or a command has ended."""
        while of.alive():
            if self.ask(sql) == "t":
                return True
        return False

    def is_open(self):
        return self.ask("select to_regclass('leat.run') is not null") == "t" and \
            self.ask("select exists (select from leat.run where step >= 0)") == "t"

    def until_open(self, of):
        while of.alive() and not self.is_open():
            pass

    def expect(self, coordinator, steps):
        result = json.loads(coordinator.end())
        self.assertEqual(result["state"], alone(f"{DATA}/faces", f"{DATA}/alone-{self.database}",
                                                steps))
        self.assertEqual(self.ask("select state || ' ' || step || ' ' || state_hash from leat.run"),
                         f"finished {steps} {result['state']}")
        # a step whose commit was cut off when the coordinator died has no line in the history
        self.assertLessEqual(int(self.ask("select count(*) from leat.step")), steps)
        self.assertEqual(self.ask("select count(*) from leat.unit where state <> 'confirmed'"), "0")
        self.assertEqual(self.ask("select count(*) from leat.lease where state = 'live'"), "0")
        # RUN has that state, whoever came to it
        run = json.loads(leat("inspect", self.folder, "--verify", "--json", status=0).stdout)
        self.assertEqual(run["checkpoints"][-1]["state"], result["state"])
        # a step that is taken again after a coordinator's death has its lines twice
        self.assertGreaterEqual(run["ledger"]["steps"], steps)
        self.assertGreaterEqual(run["ledger"]["units"], 3 * run["ledger"]["steps"])
        # nothing counts twice: each unit of a step has one result, and the sums are theirs
        self.assertEqual(self.ask("select count(*) from leat.run"), "1")
        return run

    def workers_killed(self, count, steps, kills):
        """Each time that some units have been handed in, a worker dies, and another one begins."""
        luck = random.Random(count)
        coordinator = self.coordinate(steps)
        self.until_open(coordinator)
        workers = [self.work() for _ in range(count)]
        for kill in range(1, kills + 1):
            if not self.until(f"select step >= {kill * steps // (kills + 1)} from leat.run",
                              coordinator):
                break
            victim = luck.randrange(count)
            workers[victim].kill()
            workers[victim] = self.work()
        self.expect(coordinator, steps)

    def cut(self, target, after, steps=3):
        """The connection ends at a statement, and the coordinator goes on over another one."""
        self.begin()
        proxy = Boundary(SERVER.port, target, after, lambda: None)
        self.addCleanup(proxy.stop)
        coordinator = self.coordinate(steps, url=proxy.url(self.database))
        self.until_open(coordinator)
        workers = [self.work(), self.work()]
        run = self.expect(coordinator, steps)
        self.assertTrue(all(workers))
        self.assertEqual(self.ask("select count(*) from leat.step"), str(steps))
        self.assertEqual((run["ledger"]["steps"], run["ledger"]["units"]), (steps, 3 * steps))

    def boundary(self, target, after, steps=3):
        """The coordinator dies at a statement (0: at none); another one goes on. The number of
        statements that the first one came to."""
        self.begin()
        dead = threading.Event()
        proxy = Boundary(SERVER.port, target, after, dead.set)
        self.addCleanup(proxy.stop)
        first = self.coordinate(steps, url=proxy.url(self.database))
        workers = []
        while not dead.is_set() and first.alive():
            dead.wait(0.02)
            if not workers and self.is_open():
                workers = [self.work(), self.work()]
        if not dead.is_set():
            self.expect(first, steps)
            return proxy.statements
        first.kill()
        second = self.coordinate(steps, "--resume")
        if not workers:
            self.until_open(second)
            workers = [self.work(), self.work()]
        self.expect(second, steps)
        return None


class Quick(Kills):
    def test_workers(self):
        self.workers_killed(3, 30, 6)

    def test_coordinator(self):
        """While it begins, in a step, in a commit."""
        for target, after in ((6, True), (30, False), (45, True)):
            with self.subTest(target=target, after=after):
                self.boundary(target, after)
                self.cut(target, after)


if __name__ == "__main__":
    if find_server() is None:
        skip("no PostgreSQL server (scripts/install.sh --gate installs it)")
    unittest.main()
