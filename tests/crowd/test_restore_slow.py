"""A dump is restored step by step beside a coordinator and a worker that are at work: both wait for
its end, and change nothing before it; so does another coordinator that begins then. The weights are
those of leat train.
"""
import re
import shutil
import subprocess
import tempfile
import unittest

from server import require

from command import LIMIT, leat
from runs import Runs

STEPS, DUMPED = 30, 4
WAITS = "is not complete, without its version: a dump is being restored"


class Restores(Runs):
    def dump(self):
        """The database as statements: schema and tables, rows, keys, and rights."""
        text = subprocess.run([f"{self.server.bin}/pg_dump", self.url()], check=True, text=True,
                              stdout=subprocess.PIPE, timeout=LIMIT).stdout
        text = re.sub(r"(?m)^\\(un)?restrict .*\n", "", text)  # one script is run as four
        places = [re.search(words, text).start() for words in (
            r"COPY leat\.", r"ALTER TABLE ONLY leat\.\w+\n    ADD", "GRANT USAGE")]
        self.assertEqual(places, sorted(places))
        return [text[begin:end] for begin, end in zip([0, *places], [*places, len(text)])]

    def restore(self, part, database=None):
        with tempfile.NamedTemporaryFile("w", suffix=".sql", dir=self.data) as file:
            # a dump sets it for all that comes after it
            file.write("select pg_catalog.set_config('search_path', '', false);\n" + part)
            file.flush()
            subprocess.run([f"{self.server.bin}/psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-o",
                            "/dev/null", "-f", file.name,
                            self.server.url(database or self.database)], check=True, timeout=LIMIT)

    def doctor(self):
        return leat("doctor", "--db", self.url(), status=1).stdout

    def test_beside_a_run(self):
        coordinator = self.coordinate(STEPS, "--checkpoint-every", 1)
        self.until_open(coordinator)
        worker = self.work()
        self.until_step(DUMPED, coordinator)
        tables, rows, keys, rights = self.dump()
        self.server.sql(f"create database {self.database}_new")
        self.restore(tables, f"{self.database}_new")
        self.server.sql(f"drop database {self.database} with (force)",
                        f"alter database {self.database}_new rename to {self.database}")
        coordinator.until(WAITS)
        worker.until("permission denied for schema leat")
        late = self.work()  # begins during the restore
        late.until("a dump is being restored, and its end is waited for")
        shutil.copytree(self.folder, f"{self.folder}-copy")
        words = ["--db", self.url(), "--data", self.faces, "--name", self.database, *self.times]
        others = [self.start("coordinate", f"{self.folder}-{name}", "--resume", *words)
                  for name in ("copy", "lost")]
        for other in others:
            other.until(WAITS)
        self.assertIn("its version missing", self.doctor())
        self.restore(rows)
        there = self.ask("select count(*) || ' ' || max(step) from leat.unit")
        self.assertIn("foreign keys, the index event_account", self.doctor())
        for other in others:  # an end, however long they would have waited
            self.assertTrue(other.alive(), other.said)
            other.kill()
        self.assertEqual(self.ask("select count(*) || ' ' || max(step) from leat.unit"), there)
        self.restore(keys)
        self.restore(rights)
        self.expect(coordinator, STEPS)
        for each in (worker, late):
            # once for each right that it waited for: of the schema, the version, a function
            denied = [line for line in each.said.splitlines() if "permission denied" in line]
            self.assertEqual(len(denied), len(set(denied)))
            self.assertLessEqual(len(denied), 4)
            each.end()

    def test_tables_dropped_and_restored(self):
        """pg_restore --clean drops functions and tables one by one."""
        coordinator = self.coordinate(STEPS)
        self.until_open(coordinator)
        worker = self.work()
        self.until_step(DUMPED, coordinator)
        parts = self.dump()
        self.server.sql("alter table leat.step drop constraint step_run_fkey; drop function "
                        "leat.arrived(bigint), leat.claim(bigint, text, bigint)",
                        database=self.database)
        coordinator.until("trying again")
        coordinator.until("is not complete, without foreign keys")
        worker.until("leat.claim(")
        self.server.sql("drop schema leat cascade; create schema leat", database=self.database)
        self.restore(parts[0].replace("CREATE SCHEMA leat;", ""))
        for part in parts[1:]:
            self.restore(part)
        self.expect(coordinator, STEPS)
        worker.end()


if __name__ == "__main__":
    require()
    unittest.main()
