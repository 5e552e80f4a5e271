"""A run of a second model (tenant_runs.py) is trained, killed and continued, and computed by
machines that are killed, to the same weights; and what the command says of such a model.
"""
import json
import os
import re
import signal
import subprocess
import unittest

from server import require

from tenant_runs import END, ROWS, SMALL, STEPS, UNITS, TenantRuns, position, units_of
import json_schema
from command import BUILD, LIMIT, leat

SCHEMAS = json_schema.Schemas()


class Tenant(TenantRuns):
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
        done = subprocess.run([f"{BUILD}/leat", "work", self.url("ann"), "--key",
                               f"{self.data}/other.key", "--on-battery", "work"],
                              check=False, stderr=subprocess.PIPE, text=True, timeout=LIMIT)
        self.assertIn(f'this machine cannot work on "{self.database}": there is no model "linear"; '
                      "there is dcgan, vgae, gat; install the leat that the run is coordinated "
                      "with, version ",
                      done.stderr)
        worker = self.work(env={**os.environ, END: str(position(5))})
        worker.end(-signal.SIGKILL)
        self.assertIn('works on "', worker.said)
        self.assertIn(": units of rows, ", worker.said)
        self.assertRegex(self.status(), r"units    [01] ready, [12] out, 0 done, of 2\n")
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
        # the next step, one of fewer units, comes with more steps
        self.assertEqual(units_of(STEPS), UNITS - 1)
        coordinator = self.coordinate(STEPS + 2, "--resume")
        coordinator.until(f"is open at step {STEPS} of {STEPS + 2}")
        self.work()
        self.expect(coordinator, STEPS + 2)

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
        resume = [self.faces, "-o", f"{self.folder}-run", "--resume"]
        refused = leat("train", "lower", *resume, status=2).stderr
        words = re.search("resume it with leat (train .*) or leat coordinate", refused)[1]
        leat(*words.split(), *resume, status=0)
        text = leat("inspect", f"{self.folder}-run", status=0).stdout
        self.assertIn("training run of a linear, ", text)
        self.assertIn("  data         23 rows, fingerprint ", text)
        with open(f"{self.folder}-run/report.html", encoding="utf-8") as file:
            self.assertIn("rows of the data set", file.read())
        text = leat("coordinate", "--help", status=0).stdout
        dcgan, linear = (text.index(f"\nOptions of the model {model}:\n")
                         for model in ("dcgan", "linear"))
        self.assertIn("step size (above 0 to 1; default: 0.0625)", text[linear:])
        self.assertNotRegex(text, "image|grid|score")  # words of one model
        self.assertNotIn("--scale", text[:linear])
        self.assertNotIn("--width", text[:dcgan] + text[linear:])
        self.assertIn(" linear", leat("train", "--help", status=0).stdout)

    def test_keys(self):
        """Keys in the words of the model and its data, in JSON."""
        plan = json.loads(leat("train", "linear", self.faces, "--steps", STEPS, *SMALL, "--dry-run",
                               "--json", status=0).stdout)
        self.assertEqual(list(plan), [
            "parameters", "rows", "steps", "step_rows", "epochs", "memory_bytes",
            "checkpoint_bytes", "payload_bytes", "weights_bytes", "rows_per_second"])
        result = self.train("names", "--sample-every", STEPS)
        self.assertEqual(list(result), [
            "run", "first_step", "last_step", "run_hash", "state", "checkpoint", "distance",
            "distance_untrained", "rows_seen", "best_step", "warnings", "rows_per_second",
            "memory_peak_bytes", "seconds"])
        self.assertGreater(result["distance_untrained"], result["distance"])
        self.assertEqual(result["rows_seen"], position(STEPS))
        run = json.loads(leat("inspect", f"{self.folder}-names", "--json", status=0).stdout)
        self.assertEqual((run["rows"], "images" in run), (ROWS, False))
        last = run["checkpoints"][-1]
        self.assertEqual(list(last), ["step", "state", "path", "distance", "rows_seen"])
        self.assertEqual((last["distance"], last["rows_seen"]),
                         (result["distance"], result["rows_seen"]))
        self.assertRegex(leat("inspect", f"{self.folder}-names", status=0).stdout,
                         rf"  step {STEPS} +state [0-9a-f]+  distance [0-9.]+, rows_seen "
                         rf"{position(STEPS)}, the lowest\n")

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
