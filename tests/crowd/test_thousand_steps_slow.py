"""What a long run leaves in the database, with and without somebody who holds an old snapshot; what
a unit costs on the wire; and a dump beside a run. Sizes, bytes and counts are asserted, times are
printed.
"""
import collections
import json
import re
import signal
import subprocess
import time
import unittest

from server import require

from command import LIMIT, leat
from runs import Runs, Statements

STEPS, LOOK = 1000, 100
DAY_MS = 86400000
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
        with self.server.session(self.database, "ann") as holder:
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
            self.assertIn(f"snapshots: session {pid} of login ann", lines[0])
            self.assertIn(f"snapshots: replication slot {slot}", lines[1])
            kept = self.dead()
            holder.stdin.close()
            holder.wait(LIMIT)
        self.ask(f"select pg_drop_replication_slot('{slot}')")
        self.until_vacuumed()
        print(f"{kept} dead rows while it was held, {self.dead()} afterwards", flush=True)


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
                               self.url()], stdout=subprocess.PIPE) as dump:
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


class Wire(Runs):
    """What a unit costs at the full width: one worker, which computes all of them. It may have up
    to three connections in its life, because it looks for a pooler at first."""
    small = ["--width", "64", "--units", "3", "--unit-size", "20", "--micro-batch", "2",
             "--sample-every", "0", "--codec-up", "int8", "--codec-down", "bf16"]
    times = ["--poll-ms", "20"]  # the rest is as usual
    count = 2  # of steps

    def test_wire(self):
        coordinator = self.coordinate(self.count)
        self.until_open(coordinator)
        self.count_units()
        payload, weights = map(int, self.ask("select payload_bytes, weights_bytes from "
                                             "leat.run").split("|"))
        proxy = Statements(self.server.port)
        self.addCleanup(proxy.stop)
        # nothing but a new step lets it ask for units
        worker = self.work("--poll-ms", DAY_MS, url=proxy.url(self.database, "ann"))
        self.expect(coordinator, self.count)
        self.expect_counted(self.count)
        worker.end()
        units = 3 * self.count
        up, down = proxy.up / units / payload, proxy.down / self.count / weights
        joined = next(at for text, _, at in proxy.answered if "leat.submit" in text) - proxy.begun
        calls = collections.Counter(re.sub(r".* leat\.(\w+)\(.*", r"\1", text)
                                    for text, _, _ in proxy.answered if "leat." in text)
        print(f"\na unit: payload {payload} bytes, {up:.5f} times that on the wire; weights "
              f"{weights} bytes, {down:.5f} times that for each step; {proxy.connections} "
              f"connections; from the start to the first unit received {joined:.1f} s; calls "
              f"{dict(calls)}", flush=True)
        # as at 320 images in micro-batches of 32: there are ten of them, too
        self.assertLessEqual(payload, 6700000)
        self.assertLessEqual(weights, 12700000)
        self.assertTrue(1 < up < 1.01, up)
        self.assertTrue(1 < down < 1.01, down)
        self.assertLessEqual(proxy.connections, 3)
        parts = lambda size: -(-size // (1 << 20))
        self.assertEqual(calls["put"], units * parts(payload))
        self.assertEqual(calls["fetch"], self.count * parts(weights))
        # two round trips a unit; when a step has no unit left, it asks once, and once more for each
        # time that it was woken: at the beginning, after each step and at the end
        self.assertEqual(calls["submit"], units)
        self.assertLessEqual(calls["claim"], units + 2 * self.count + 3)
        self.assertEqual(set(calls) - {"put", "fetch", "submit", "claim", "renew", "register"},
                         set())


if __name__ == "__main__":
    require()
    unittest.main()
