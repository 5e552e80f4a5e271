"""kill -9 of workers and of the coordinator, at moments that the test counts: the final hash is
that of one machine, and nothing is left over. test_kills_slow.py, test_boundaries_*_slow.py and
test_cuts_*_slow.py have more of it. Runs the command named by LEAT (default: build/leat).
"""
import os
import random
import signal
import threading
import unittest

from server import find_server, skip

from runs import Boundary, Runs


class Kills(Runs):
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
        proxy = Boundary(self.server.port, target, after, lambda: None)
        self.addCleanup(proxy.stop)
        coordinator = self.coordinate(steps, url=proxy.url(self.database))
        self.until_open(coordinator)
        workers = [self.work(), self.work()]
        self.expect(coordinator, steps)
        self.assertTrue(all(workers))
        self.assertEqual(self.ask("select count(*) from leat.step"), str(steps))
        self.assertEqual((self.ledger["steps"], self.ledger["units"]), (steps, 3 * steps))

    def boundary(self, target, after, steps=3):
        """The coordinator dies at a statement (0: at none); another one goes on. The number of
        statements that the first one came to."""
        self.begin()
        dead = threading.Event()
        proxy = Boundary(self.server.port, target, after, dead.set)
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
        # a step that is taken again has its lines twice, and counts once
        self.assertEqual((self.ledger["steps"], self.ledger["units"]), (steps, 3 * steps))
        self.assertEqual(self.ledger["repeated"] % 3, 0)
        return None

    def at_every_statement(self, end, after):
        """Ends a run of one step (`boundary`, `cut`) before or after each of its statements."""
        last = self.boundary(0, False, steps=1)
        print(f"{last} statements in a run of one step")
        for target in range(1, last + 1):
            with self.subTest(statement=target, after=after):
                end(target, after, steps=1)


class Quick(Kills):
    def test_workers(self):
        self.workers_killed(3, 30, 6)

    def files_of(self, *relations):
        """The files of a table's parts, as paths below the server's folder."""
        return self.ask("select string_agg(pg_relation_filepath(c.oid), ' ') from pg_class c where "
                        + " or ".join(relations)).split()

    def test_parts_without_files(self):
        """A failover leaves unlogged tables without files: reading them is an error. One has lost
        all, the other one what is kept out of line."""
        steps = 3
        coordinator = self.coordinate(steps)
        self.until_open(coordinator)
        self.work("--once").end()
        self.until("select exists (select from leat.unit where state = 'confirmed')", coordinator)
        toast = ("c.oid in (select reltoastrelid from pg_class where oid = "
                 "'leat.part_1_0'::regclass union select i.indexrelid from pg_index i join "
                 "pg_class t on i.indrelid = t.reltoastrelid where t.oid = "
                 "'leat.part_1_0'::regclass)")
        whole = "c.relname like 'part_1_1%' and c.relnamespace = 'leat'::regnamespace"
        files = self.files_of(toast, whole)
        self.assertEqual(len(files), 4)
        coordinator.process.send_signal(signal.SIGSTOP)
        self.ask("checkpoint")  # or the log would create them again
        self.server.end()
        for path in files:
            for fork in ("", "_init"):
                os.remove(f"{self.server.data}/{path}{fork}")
        self.server.begin()
        for table in ("leat.part_1_0", "leat.part_1_1"):
            with self.assertRaisesRegex(AssertionError, "could not open file"):
                self.ask(f"insert into {table} values (0, 0, decode(repeat('00', 10000), 'hex'))")
        coordinator.process.send_signal(signal.SIGCONT)
        coordinator.until("results are gone with a crash of the server")
        self.work()
        self.expect(coordinator, steps)
        self.assertEqual(self.ask("select string_agg(relpersistence::text, '') from pg_class where "
                                  "relname in ('part_1_0', 'part_1_1')"), "uu")

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
