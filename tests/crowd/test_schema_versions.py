"""Databases in the middle of a run, as tests/golden/crowd has them of each version of the schema:
the run continues from such a database, or where it is dropped from RUN, to the recorded bits. Runs
the command named by LEAT (default: build/leat).
"""
import json
import os
import shutil
import unittest

from server import require

from command import ROOT, leat
from runs import Runs

GOLDEN = os.path.join(ROOT, "tests", "golden", "crowd", "version3")


class Versions(Runs):
    images = 24

    def setUp(self):
        super().setUp()
        with open(f"{GOLDEN}/expected.json", encoding="utf-8") as file:
            self.wanted = json.load(file)
        self.server.run_script(f"{GOLDEN}/database.sql", self.database)
        shutil.copytree(f"{GOLDEN}/run", self.folder)

    def status(self):
        return json.loads(leat("status", "--db", self.url(), "--json", status=0).stdout)

    def finish(self):
        """The coordinator continues with a worker, to the recorded state; the ledger's lines."""
        coordinator = self.start("coordinate", self.folder, "--db", self.url(), "--data",
                                 self.faces, "--name", "run", "--resume", "--poll-ms", "5",
                                 "--json")
        coordinator.until(f"is open at step {self.wanted['step']} of {self.wanted['steps']}")
        worker = self.work()
        printed = json.loads(coordinator.end())
        worker.end()
        self.assertEqual((printed["first_step"], printed["last_step"], printed["state"]),
                         (self.wanted["step"], self.wanted["steps"], self.wanted["state"]))
        self.assertEqual((self.status()["state"], self.status()["step"]),
                         ("finished", self.wanted["steps"]))
        self.assertIn("its ledger is unbroken", leat("doctor", self.folder, status=0).stdout)
        with open(f"{self.folder}/ledger.jsonl", encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def first_unit(self, ledger):
        """Machine and hash of the result that the database has, as the ledger counts it."""
        return next((line["machine"], line["hash"]) for line in ledger if line["kind"] == "unit" and
                    (line["step"], line["unit"]) == (self.wanted["step"] + 1, self.wanted["unit"]))

    def test_continued(self):
        status = self.status()
        self.assertEqual((status["state"], status["step"], status["steps"], status["units"]),
                         ("open", self.wanted["step"], self.wanted["steps"], 3))
        machine = self.ask("select id from leat.machine")
        self.assertEqual(self.first_unit(self.finish()), (machine, self.wanted["hash"]))

    def test_dropped(self):
        """The advice that a version which cannot read it prints: nothing is lost."""
        self.server.sql("DROP SCHEMA leat CASCADE", database=self.database)
        ledger = self.finish()
        machine, value = self.first_unit(ledger)
        self.assertEqual(value, self.wanted["hash"])
        self.assertNotEqual(machine, ledger[1]["machine"])  # it was computed again


if __name__ == "__main__":
    require()
    unittest.main()
