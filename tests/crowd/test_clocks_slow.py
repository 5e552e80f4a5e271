"""Clocks that are wrong. The server's goes forward and back by an hour and by ten years, under a
coordinator and workers that live and under others that were killed; the wall clocks of
coordinator and workers are as far off, differently at each look. The weights are those of leat
train, each unit is counted once, and nobody waits for an old or a future time.
"""
import json
import os
import shutil
import subprocess
import unittest

from server import require

from command import LIMIT, ROOT, leat
from runs import Runs

# leat.clock() as its owner may replace it: the test changes the table.
CLOCK = ("create table public.shift as select interval '0' as shift",
         "grant select on public.shift to public",
         "create or replace function leat.clock() returns timestamptz language sql volatile as $$ "
         "select pg_catalog.clock_timestamp() + shift from public.shift $$")
SHIFTS = ("1 hour", "0", "-1 hour", "0", "10 years", "0", "-10 years", "0")
BETWEEN = 4  # steps
# Longer than a test may take, and shorter than each change of the clock.
LONG = ["--hold-ms", "1800000", "--lease-ms", "1800000", "--renew-ms", "300", "--silent-ms",
        "1800000", "--poll-ms", "5", "--part-bytes", "65536"]


class Server(Runs):
    """The clock of the server."""

    def begin_run(self, steps):
        coordinator = self.coordinate(steps)
        self.until_open(coordinator)
        self.server.sql(*CLOCK, database=self.database)
        self.count_units()
        return coordinator

    def shift(self, by):
        self.ask(f"update public.shift set shift = interval '{by}'")

    def test_steps_while_all_live(self):
        steps = BETWEEN * (len(SHIFTS) + 1)
        coordinator = self.begin_run(steps)
        workers = [self.work(), self.work()]
        for i, by in enumerate(SHIFTS):
            self.until_step(BETWEEN * (i + 1), coordinator)
            self.shift(by)
        result = self.expect(coordinator, steps)
        self.expect_counted(steps)
        for worker in workers:
            worker.end()
        self.assertEqual(result["units_refused"], 0)
        # the committed steps are of all those times
        self.assertEqual(self.ask("select count(distinct date_trunc('year', committed_at)) >= 3 "
                                  "from leat.step"), "t")

    def test_steps_after_kills(self):
        """Whoever was killed held the run, and units, for half an hour: the clock goes further."""
        self.times = LONG
        steps, held = BETWEEN * (len(SHIFTS) + 1), 0
        coordinator = self.begin_run(steps)
        workers = [self.work(), self.work()]
        for i, by in enumerate(SHIFTS):
            self.until_step(BETWEEN * (i + 1), coordinator)
            for each in (*workers, coordinator):
                each.process.kill()
            for each in (*workers, coordinator):
                each.kill()
            held += int(self.ask("select count(*) from leat.lease where state = 'live'"))
            self.assertEqual(self.ask("select coordinator <> '' from leat.run"), "t")
            self.shift(by)
            coordinator = self.coordinate(steps, "--resume", "--checkpoint-every", 1)
            workers = [self.work(), self.work()]
        self.expect(coordinator, steps)
        print(f"{held} units were held by {2 * len(SHIFTS)} workers when they were killed",
              flush=True)
        self.assertGreater(held, 0)


class Machines(Runs):
    """The wall clocks of coordinator and workers. Their waits go by clocks that cannot be set; this
    shows that no others matter."""

    def setUp(self):
        if shutil.which("cc") is None:
            self.skipTest("no cc")
        if os.environ.get("LEAT_SANITIZE"):
            self.skipTest("a sanitizer wants to be loaded first")
        super().setUp()
        shim = f"{self.data}/clock_steps.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", shim,
                        os.path.join(ROOT, "tests", "cli", "clock_steps.c")], check=True,
                       timeout=LIMIT)
        self.env = {**os.environ, "LD_PRELOAD": shim, "LEAT_CLOCKS": "far"}

    def test_machines(self):
        steps = 30
        coordinator = self.coordinate(steps, env=self.env)
        self.until_open(coordinator)
        self.count_units()
        # it is the clock of leat that is wrong
        said = json.loads(leat("doctor", "--db", self.url(), "--json", env=self.env).stdout)
        self.assertGreater(abs(said["database"]["clock_seconds"]), 3000)
        workers = [self.work(env=self.env) for _ in range(3)]
        self.until_step(steps // 2, coordinator)
        workers[0].kill()
        self.expect(coordinator, steps)
        self.expect_counted(steps)
        for worker in workers[1:]:
            worker.end()


if __name__ == "__main__":
    require()
    unittest.main()
