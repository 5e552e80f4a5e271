"""What a run of 1,000 steps leaves in the database, with and without somebody who holds an old
snapshot. Sizes and counts are asserted, times are printed.
"""
import json
import time
import unittest

from server import require

from command import LIMIT, leat
from runs import Runs, Statements

STEPS, LOOK = 1000, 100
TABLES = ("lease", "unit", "run", "machine", "account", "step")
KIB = 1024


class Long(Runs):
    """A thousand steps of two workers."""
    # autovacuum looks each second, because these steps are so much shorter than others
    settings = ("max_connections=100", "autovacuum_naptime=1", "wal_level=logical")
    wanted = None

    def alone(self, steps):
        if Long.wanted is None:
            Long.wanted = super().alone(steps)
        return Long.wanted

    def sizes(self):
        """Bytes of the database, and of tables with their indexes."""
        names = ", ".join(f"pg_total_relation_size('leat.{name}')" for name in TABLES)
        numbers = self.ask("select pg_database_size(current_database()), "
                           f"pg_total_relation_size('pg_catalog.pg_class'), {names}")
        return dict(zip(("database", "pg_class", *TABLES), map(int, numbers.split("|"))))

    def dead(self):
        """Rows that nobody needs any more, in the tables that change."""
        return int(self.ask("select sum(n_dead_tup) from pg_stat_all_tables where relid in "
                            "('leat.lease'::regclass, 'leat.unit'::regclass, 'leat.run'::regclass, "
                            "'leat.machine'::regclass)"))

    def bound(self):
        return int(self.ask(f"select 32000000 + 4 * units * payload_bytes + 3 * (weights_bytes + "
                            f"state_bytes) + 300 * {STEPS} from leat.run"))

    def connections(self):
        return self.ask("select count(*) from pg_stat_activity where datname = current_database() "
                        "and application_name = 'leat work'")

    def steps(self, title):
        """The run, in which the sizes are looked at from time to time; those."""
        begin, found = time.monotonic(), []
        print(f"\n{title}: step, KiB of {', '.join(('database', 'pg_class', *TABLES))}, dead rows, "
              "median and 99th percentile of a claim in ms, seconds", flush=True)
        for step in range(LOOK, STEPS, LOOK):
            self.until_step(step, self.coordinator)
            before = len(self.claims)
            self.claims = self.proxy.seconds("leat.claim")
            found.append(self.sizes())
            recent = sorted(self.claims[before:])
            print(step, *[size // KIB for size in found[-1].values()], self.dead(),
                  *[f"{recent[len(recent) * part // 100] * 1e3:.1f}" for part in (50, 99)],
                  f"{time.monotonic() - begin:.0f}", flush=True)
            self.assertEqual(self.connections(), "2")
        return found

    def begin_run(self):
        self.coordinator = self.coordinate(STEPS)
        self.until_open(self.coordinator)
        self.proxy = Statements(self.server.port)
        self.addCleanup(self.proxy.stop)
        self.workers = [self.work(url=self.proxy.url(self.database, "ann")), self.work()]
        self.claims = []

    def finish(self, found):
        """All ends well, within the bound of design and docs."""
        self.expect(self.coordinator, STEPS)
        for worker in self.workers:
            worker.end()
        self.assertLessEqual(self.proxy.connections, 3)
        found.append(self.sizes())
        most, bound = max(size["database"] for size in found), self.bound()
        print(f"the database had {most / 1e6:.1f} MB at most; the bound is {bound / 1e6:.1f}",
              flush=True)
        self.assertLessEqual(most, bound)

    def until_vacuumed(self):
        """Autovacuum has worked off what was left: it leaves less than 500 rows and a tenth."""
        begin = time.monotonic()
        while (dead := self.dead()) >= 2000:
            self.assertLess(time.monotonic() - begin, LIMIT, f"{dead} dead rows")

    def test_thousand_steps(self):
        self.begin_run()
        found = self.steps("nobody holds a snapshot")
        self.finish(found)
        self.until_vacuumed()
        # the second half has the space that the first half left
        half = len(found) // 2
        for name in ("lease", "unit", "run", "machine", "account", "pg_class"):
            self.assertLessEqual(max(size[name] for size in found[half:]),
                                 max(size[name] for size in found[:half]) + 128 * KIB, name)

    def test_snapshot_held(self):
        """A session and a replication slot keep all old rows from being removed, those of the
        catalogs too, from the first step to the last."""
        slot = f"old_{self.database}"
        self.begin_run()
        self.until_step(1, self.coordinator)
        self.ask(f"select pg_create_logical_replication_slot('{slot}', 'pgoutput')")
        self.addCleanup(self.ask, "select pg_drop_replication_slot(slot_name) from "
                                  f"pg_replication_slots where slot_name = '{slot}'")
        with self.server.session(self.database) as holder:  # one of a worker's login is ended
            holder.stdin.write("begin isolation level repeatable read; select pg_backend_pid();\n")
            holder.stdin.flush()
            pid = holder.stdout.readline().strip()
            found = self.steps("a session and a replication slot hold snapshots")
            said = json.loads(leat("doctor", "--db", self.url("ann"), "--json").stdout)
            lines = [each["what"] for each in said["findings"]
                     if each["what"].startswith("snapshots: ")]
            print("\n".join(lines), flush=True)
            self.finish(found)
            self.assertEqual(len(lines), 2, lines)
            self.assertIn(f"snapshots: session {pid} of login owner", lines[0])
            self.assertIn(f"snapshots: replication slot {slot}", lines[1])
            kept = self.dead()
            holder.stdin.close()
            holder.wait(LIMIT)
        self.ask(f"select pg_drop_replication_slot('{slot}')")
        self.until_vacuumed()
        print(f"{kept} dead rows while it was held, {self.dead()} afterwards", flush=True)


if __name__ == "__main__":
    require()
    unittest.main()
