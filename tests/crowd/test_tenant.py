"""The command with a second model that no file of src and cli knows (tests/cli/tenant.c). A run is
trained, killed and continued, and computed by machines that are killed, to the same weights. Its
units differ in size, and its steps in their number of units. Needs leat_tenant of LEAT_BUILD.
"""
import json
import os
import shutil
import signal
import tempfile
import unittest

from server import Server, require

import command
import json_schema
from command import leat

command.LEAT = os.path.join(command.BUILD, "tests", "leat_tenant")
from runs import Runs  # pylint: disable=wrong-import-position

SCHEMAS = json_schema.Schemas()
ROWS, STEPS, UNITS = 23, 8, 3
SMALL = ["--units", UNITS, "--micro-batch", "3", "--codec-up", "bf16", "--codec-down", "bf16",
         "--scale", "2", "--checkpoint-every", "2"]


def units_of(step):
    return UNITS - (step % 3 == 2)


def position(step):
    """Rows that steps before this one use: units of 5, 6, 7, 5, ... rows."""
    return sum(5 + i % 3 for i in range(sum(map(units_of, range(step)))))


class Tenant(Runs):
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

    def train(self, run, *words, status=0, ends_at=None, threads=1):
        env = os.environ if ends_at is None else {**os.environ, "TENANT_ENDS_AT": str(ends_at)}
        done = leat("train", "linear", self.faces, "-o", f"{self.folder}-{run}", "--steps", STEPS,
                    "--threads", threads, *SMALL, *words, "--json", status=status, env=env)
        return json.loads(done.stdout) if status == 0 else done

    def alone(self, steps):
        self.assertEqual(steps, STEPS)
        return self.train("alone", *(["--resume"] if os.path.exists(f"{self.folder}-alone") else
                                     []))["state"]

    def test_killed_and_resumed(self):
        whole = self.train("whole")
        with open(whole["checkpoint"], "rb") as file:
            wanted = file.read()
        for step in (0, 1, 5, STEPS - 1):
            run = f"killed{step}"
            self.train(run, status=-signal.SIGKILL, ends_at=position(step) + 1)
            result = self.train(run, "--resume", threads=3)
            self.assertEqual((result["first_step"], result["last_step"], result["state"]),
                             (step // 2 * 2, STEPS, whole["state"]))
            with open(result["checkpoint"], "rb") as file:
                self.assertEqual(file.read(), wanted)
            self.assertIn("opens: ", leat("doctor", f"{self.folder}-{run}", status=0).stdout)

    def test_crowd(self):
        """A worker, and then the coordinator, are killed in the middle of the run."""
        coordinator = self.coordinate(STEPS)
        coordinator.until(f"is open at step 0 of {STEPS}")
        self.assertIn("units    3 ready, 0 out, 0 done, of 3\n", self.status())
        worker = self.work(env={**os.environ, "TENANT_ENDS_AT": str(position(5))})
        worker.end(-signal.SIGKILL)
        self.assertIn('works on "', worker.said)
        self.assertIn(": units of rows, ", worker.said)
        self.assertIn("units    1 ready, 1 out, 0 done, of 2\n", self.status())
        status = SCHEMAS.check_text("status", self.status("--json"))
        self.assertEqual((status["units"], status["unit_size"], status["step"]), (UNITS, 0, 5))
        self.assertEqual(list(status["values"]), ["loss", "norm"])
        coordinator.kill()
        coordinator = self.coordinate(STEPS, "--resume")
        for _ in range(2):
            self.work()
        self.expect(coordinator, STEPS)
        for line in self.ask("select step || ' ' || samples from leat.step").splitlines():
            step, samples = map(int, line.split(" "))
            self.assertEqual(samples, position(step + 1))
        with open(f"{self.folder}/ledger.jsonl", encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual(sorted({(line["step"], line["unit"]) for line in lines
                                 if line["kind"] == "unit"}),
                         [(step + 1, unit) for step in range(STEPS)
                          for unit in range(units_of(step))])
        self.assertEqual(self.ask("select units || ' ' || unit_size || ' ' || "
                                  "total_images_processed from leat.training_state"),
                         f"{UNITS} 0 {position(STEPS)}")

    def status(self, *words):
        return leat("status", "--db", self.url(), *words, status=0).stdout

    def test_words(self):
        """What the command says of a model that it was not written for."""
        dry = leat("train", "linear", self.faces, *SMALL, "--steps", STEPS, "--dry-run",
                   status=0).stdout
        self.assertIn("model   4 parameters\ndata    23 rows\nsteps   8, 5.70 epochs\n", dry)
        self.assertRegex(dry, r"time    about .* rows/s, measured here\n$")
        self.assertNotRegex(dry, "image|generator")
        done = leat("train", "linear", self.faces, "-o", f"{self.folder}-run", *SMALL, "--steps",
                    STEPS, status=0).stdout
        self.assertRegex(done, r"steps   1 to 8, .* rows/s\n")
        text = leat("inspect", f"{self.folder}-run", status=0).stdout
        self.assertIn("training run of a linear, ", text)
        self.assertIn("  data         23 rows, fingerprint ", text)
        with open(f"{self.folder}-run/report.html", encoding="utf-8") as file:
            self.assertIn("rows of the data set", file.read())
        text = leat("coordinate", "--help", status=0).stdout
        dcgan, linear = (text.index(f"\nOptions of the model {model}:\n")
                         for model in ("dcgan", "linear"))
        self.assertIn("step size (above 0 to 1; default: 0.0625)", text[linear:])
        self.assertNotIn("--scale", text[:linear])
        self.assertNotIn("--width", text[:dcgan] + text[linear:])
        self.assertIn(" linear", leat("train", "--help", status=0).stdout)

    def test_refused(self):
        """Options of another model, names of none, and values that only another model takes."""
        at = ["coordinate", self.folder, "--db", self.url(), "--data", self.faces, "--steps", 1]
        for words, status, says in (
                (["--model", "linear", "--width", "4"], 2,
                 "--width is an option of the model dcgan, not of linear"),
                (["--scale", "2"], 2, "--scale is an option of the model linear, not of dcgan"),
                (["--model", "linear", "--learning-rate", "2"], 2, "--learning-rate"),
                (["--model", "none"], 2, 'there is no model "none"; there is dcgan, linear')):
            done = leat(*at, *words, status=status)
            self.assertIn(says, done.stderr)
            self.assertFalse(os.path.exists(self.folder))


if __name__ == "__main__":
    require()
    unittest.main()
