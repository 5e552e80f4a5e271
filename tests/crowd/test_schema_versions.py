"""Databases in the middle of a run, as tests/golden/crowd has them of each version of the schema:
the run continues from that of this version; others are refused, with a remedy that is followed to
the letter here. Either way, and from RUN alone, the run ends with the recorded bits. Runs the
command named by LEAT (default: build/leat).
"""
import json
import os
import re
import shlex
import shutil
import signal
import unittest

from server import require

from command import ROOT, leat
from runs import Runs

GOLDEN = os.path.join(ROOT, "tests", "golden", "crowd")
NOW, OLDER = 7, [3, 4, 5, 6]  # versions of the schema


class Versions(Runs):
    images = 24

    def put(self, version):
        """The database and RUN of a version, whose path is no word for a shell."""
        golden = f"{GOLDEN}/version{version}"
        self.begin()
        self.folder = f"{self.data}/{self.database}'s run $x"
        with open(f"{golden}/expected.json", encoding="utf-8") as file:
            self.wanted = json.load(file)
        self.server.run_script(f"{golden}/database.sql.gz", self.database)
        shutil.copytree(f"{golden}/run", self.folder)

    def status(self):
        return json.loads(leat("status", "--db", self.url(), "--json", status=0).stdout)

    def resume(self, *words):
        """The coordinator, by words that were printed perhaps."""
        return self.start(*(words or ("coordinate", self.folder, "--resume")), "--db", self.url(),
                          "--data", self.faces, "--name", "run", "--poll-ms", "5", "--json")

    def finish(self, *words):
        """The coordinator continues with a worker, to the recorded state; the ledger's lines."""
        coordinator = self.resume(*words)
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
        self.put(NOW)
        self.assertEqual(self.ask("select version from leat.version"), str(NOW))
        status = self.status()
        self.assertEqual((status["state"], status["step"], status["steps"], status["units"]),
                         ("open", self.wanted["step"], self.wanted["steps"], 3))
        machine = self.ask("select id from leat.machine")
        self.assertEqual(self.first_unit(self.finish()), (machine, self.wanted["hash"]))

        self.assertEqual(self.ask("select count(*) || ' ' || count(g_loss) from leat.loss_history"),
                         f"{self.wanted['steps']} {self.wanted['steps']}")

    def test_refused(self):
        """By whoever meets it, and nothing is changed. What is printed loses nothing."""
        for version in OLDER:
            self.put(version)
            before = self.ask("select r, (select count(*) from leat.machine) from leat.run r")
            there = sorted(os.listdir(self.folder))
            is_ = f"version {version}, this leat needs {NOW}; "
            coordinator, worker = self.resume(), self.work()
            coordinator.end(1)
            worker.end(1)
            said = leat("status", "--db", self.url("ann"), status=1).stderr
            for words in (worker.said, said):
                self.assertIn(is_ + "use the version of leat that the run is coordinated with, or "
                              "ask whoever coordinates it\n", words)
            found = json.loads(leat("doctor", "--db", self.url(), "--json", status=1).stdout)
            found = next(of for of in found["findings"] if of["verdict"] == "problem")
            self.assertEqual(found["what"], f"schema: version {version}, and this leat needs {NOW}")
            self.assertIn("leat coordinate RUN --resume", found["do"])
            self.assertEqual((self.ask("select r, (select count(*) from leat.machine) from "
                                       "leat.run r"), sorted(os.listdir(self.folder))),
                             (before, there))
            self.assertIn(is_ + "nothing is lost if ", coordinator.said)
            drop, line = re.search(r"owner runs: (.*); and .* options: leat (.*) --db URL "
                                   r"--data DIR\n",
                                   coordinator.said).groups()
            self.server.sql(drop, database=self.database)
            ledger = self.finish(*shlex.split(line))
            machine, value = self.first_unit(ledger)
            self.assertEqual(value, self.wanted["hash"])
            self.assertNotEqual(machine, ledger[1]["machine"])  # it was computed again

    def test_refused_without_its_folder(self):
        """The database has all that is left: nobody is told to drop it."""
        self.put(OLDER[-1])
        shutil.rmtree(self.folder)
        coordinator = self.resume()
        coordinator.end(1)
        self.assertRegex(coordinator.said, f"version {OLDER[-1]}, this leat needs {NOW}; the folder"
                         " .* does not have the run: use leat coordinate --resume of the version")
        self.assertNotIn("DROP", coordinator.said)
        self.assertFalse(os.path.exists(self.folder))

    def test_other_units(self):
        """The open step has a unit too many, as by a version of leat with another feed."""
        self.put(NOW)
        step = self.wanted["step"]
        self.server.sql(f"insert into leat.unit (run, step, unit) values (1, {step}, 3)",
                        database=self.database)
        coordinator = self.resume()
        coordinator.until(f"the database has 4 units of step {step + 1}, which has 3; it is opened "
                          "again\n")
        coordinator.end(1, signal.SIGINT)
        self.finish()

    def test_other_values(self):
        """A run whose steps have other values, by a version of leat with the same schema."""
        self.put(NOW)
        self.server.sql("update leat.run set value_names[4] = 'norm_of_d'", database=self.database)
        coordinator = self.resume()
        coordinator.end(2)
        self.assertIn("loss_d_images loss_d_fakes loss_g norm_of_d norm_g, and here loss_d_images "
                      "loss_d_fakes loss_g norm_d norm_g; ", coordinator.said)
        drop = re.search(r"(SELECT leat.drop_run\(1\));", coordinator.said).group(1)
        self.server.sql(drop, database=self.database)
        self.finish()


if __name__ == "__main__":
    require()
    unittest.main()
