"""Databases that go back or are gone while a run goes on: a backup of the server's files is put
back under a coordinator and workers; the database or RUN is lost and the coordinator killed; a
dump takes its time. The weights are those of leat train, and no machine is blamed.
"""
import re
import shutil
import signal
import subprocess
import time
import unittest

from server import require

from command import LIMIT
from runs import Runs

STEPS, COPIED, PUT_BACK = 40, 20, 35
DAY_MS = 86400000
# Each is computed for much longer than a statement takes.
LONG_UNITS = ["--width", "4", "--latent", "8", "--units", "8", "--unit-size", "128",
              "--micro-batch", "8", "--sample-every", "0", "--codec-up", "bf16", "--codec-down",
              "bf16"]


class Backups(Runs):
    def begin_run(self, *words):
        coordinator = self.coordinate(STEPS, *words)
        self.until_open(coordinator)
        return coordinator, [self.work(), self.work()]

    def expect_no_blame(self, result, workers):
        """The machines work to the end, and no result of theirs was refused."""
        for worker in workers:
            worker.end()
        self.assertEqual(result["units_refused"], 0)
        self.assertEqual(self.ask("select sum(refused + mismatched) from leat.account"), "0")
        self.assertEqual(self.ask("select sum(refused) from leat.machine"), "0")
        self.assertEqual(self.ask("select count(*) from leat.event where kind = 'refused'"), "0")

    def put_back(self, number, killed):
        """Files that are copied at one step and put back at a later one: RUN wins."""
        coordinator, workers = self.begin_run("--checkpoint-every", 1)
        self.until_step(COPIED, coordinator)
        self.server.copy(number)
        self.until_step(COPIED + 5, coordinator)
        workers.append(self.work())  # whom the copy does not know
        self.until_step(PUT_BACK, coordinator)
        if killed:
            coordinator.kill()
        self.server.put_back()
        if killed:
            coordinator = self.coordinate(STEPS, "--resume")
        result = self.expect(coordinator, STEPS)
        self.expect_no_blame(result, workers)
        found = [(int(there), int(here)) for there, here in self.went_on(coordinator)]
        # a coordinator that is killed may have a step in the database and not yet in RUN
        self.assertTrue(any(COPIED <= there < PUT_BACK - 1 <= here for there, here in found),
                        coordinator.said)
        print(f"{number.name}, coordinator {'killed' if killed else 'alive'}: the database was at "
              f"step {found[-1][0]}, the run continued at {found[-1][1]}", flush=True)

    @staticmethod
    def went_on(coordinator):
        return re.findall(r"the database is at step (\d+), the run continues at step (\d+)",
                          coordinator.said)

    def test_put_back(self):
        for number in (signal.SIGINT, signal.SIGQUIT):  # with parts of results in it, and without
            for killed in (False, True):
                with self.subTest(number=number, killed=killed):
                    self.begin()
                    self.put_back(number, killed)

    def claim(self, verb=""):
        """A lease of a machine that only claims, and with "release" gives it back."""
        machine = f"{next(self.numbers):032x}"
        call = f"leat.claim((select run from leat.training_state), '{machine}', 0)"
        if verb:
            call = f"lateral (select lease, leat.release(lease, epoch) from {call}) c"
        return self.server.sql(
            f"select leat.register('', '{machine}', '', 'another', ''); select lease from {call}",
            database=self.database, login="ann").splitlines()[-1]

    def test_lease_granted_twice(self):
        """A database that is put back grants the number of a lease again, for another unit, while
        the machine that had it computes. Only the epoch tells the two apart."""
        self.small = LONG_UNITS
        self.times = ["--poll-ms", "5"]
        coordinator = self.coordinate(2)
        self.until_open(coordinator)
        self.server.copy(signal.SIGINT)
        worker, mine = self.work(), ""
        while not mine:
            self.assertTrue(worker.alive(), worker.said)
            worker.process.send_signal(signal.SIGSTOP)
            mine = self.ask("select max(lease) from leat.lease where state = 'live' and unit > 0")
            if not mine:
                worker.process.send_signal(signal.SIGCONT)
        self.server.put_back()
        while self.claim("release") != str(int(mine) - 1):
            pass
        self.assertEqual(self.claim(), mine)
        self.assertEqual(self.ask(f"select unit from leat.lease where lease = {mine}"), "0")
        worker.process.send_signal(signal.SIGCONT)
        self.expect_no_blame(self.expect(coordinator, 2), [worker])
        self.assertIn("another lease has its number", worker.said)

    def test_database_lost(self):
        """RUN is enough: it continues after its last checkpoint."""
        coordinator, workers = self.begin_run("--checkpoint-every", 4)
        self.until_step(10, coordinator)
        coordinator.kill()
        self.server.sql(f"drop database {self.database} with (force)",
                        f"create database {self.database}")
        coordinator = self.coordinate(STEPS, "--resume")
        self.expect_no_blame(self.expect(coordinator, STEPS), workers)
        self.assertRegex(coordinator.said, rf"is open at step [1-9]\d* of {STEPS}")

    def test_folder_lost(self):
        """The database is enough: it continues at the state that it has, of the open step or of
        one long before it; without a state, from the beginning."""
        for state_ms in (0, DAY_MS):
            with self.subTest(state_ms=state_ms):
                self.begin()
                coordinator, workers = self.begin_run("--state-ms", state_ms)
                self.until_step(10, coordinator)
                coordinator.kill()
                shutil.rmtree(self.folder)
                state = int(self.ask("select state_step from leat.run"))
                coordinator = self.coordinate(STEPS, "--resume")
                self.expect_no_blame(self.expect(coordinator, STEPS), workers)
                self.assertIn(f"continues at step {max(state, 0)}", coordinator.said)
                self.assertEqual(state < 10, state_ms == DAY_MS)


class Dump(Runs):
    """A backup by pg_dump that takes its time, and is restored when all else is lost."""
    times = ["--poll-ms", "5", "--part-bytes", "65536"]
    first, steps = 3, 20

    def test_dump(self):
        last = self.first + self.steps + 5
        coordinator = self.coordinate(last)
        self.until_open(coordinator)
        workers = [self.work(), self.work()]
        self.until_step(self.first, coordinator)
        with subprocess.Popen([f"{self.server.bin}/pg_dump", "--exclude-table-data=leat.part_*",
                               "--exclude-table-data=leat.weights_*", self.url()],
                              stdout=subprocess.PIPE) as dump:
            text = dump.stdout.read(1)  # it has its locks and its snapshot
            dump.send_signal(signal.SIGSTOP)
            begin = time.monotonic()
            at = int(self.ask("select step from leat.run"))
            self.until_step(at + self.steps, coordinator)
            seconds = time.monotonic() - begin
            locked = self.ask("select count(*) from pg_locks l join pg_stat_activity a using (pid) "
                              "where a.application_name = 'pg_dump' and l.relation = "
                              "'leat.run'::regclass and l.granted")
            size = int(self.ask("select pg_database_size(current_database())"))
            dump.send_signal(signal.SIGCONT)
            text += dump.stdout.read()
            self.assertEqual(dump.wait(LIMIT), 0)
        self.assertEqual(locked, "1")
        self.assertIn(b"COPY leat.run ", text)
        self.assertIn(b"PostgreSQL database dump complete", text)
        self.expect(coordinator, last)
        for worker in workers:
            worker.end()
        self.restore(text, last)
        print(f"\n{self.steps} steps beside a dump: {seconds:.0f} s; the database had "
              f"{size / 1e6:.1f} MB then", flush=True)


    def restore(self, text, last):
        """The run continues from the dump alone."""
        name = self.database
        self.begin()
        subprocess.run([f"{self.server.bin}/psql", "-Xq", "-v", "ON_ERROR_STOP=1", self.url()],
                       input=text, check=True, stdout=subprocess.DEVNULL, timeout=LIMIT)
        coordinator = self.coordinate(last, "--resume", "--name", name)
        self.work()
        self.expect(coordinator, last)


if __name__ == "__main__":
    require()
    unittest.main()
