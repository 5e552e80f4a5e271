"""The VGAE and the GAT are trained by machines that are killed, to the weights of one machine, and
end early at the same step."""
import itertools
import json
import shutil
import tempfile
import unittest

from server import Server, require

from runs import Runs
from command import leat

STEPS = 12
# epochs of a few steps, of one or two units
SMALL = ["--units", 2, "--unit-size", 2, "--micro-batch", 8, "--codec-up", "bf16", "--codec-down",
         "bf16", "--threads", 1]


class Detectors(Runs):
    @classmethod
    def setUpClass(cls):
        cls.data = tempfile.mkdtemp(prefix="leat-detectors-")
        cls.addClassCleanup(shutil.rmtree, cls.data)
        leat("synth", "can", "--frames", 30000, "--vehicles", 2, "-o", f"{cls.data}/logs", status=0)
        done = leat("ingest", "can", f"{cls.data}/logs", "-o", f"{cls.data}/cache", "--val-split",
                    "random", "--json", status=0)
        cls.faces = json.loads(done.stdout)["cache"]
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        self.model, self.more = "vgae", []
        self.alone_numbers = itertools.count()
        super().setUp()

    def use(self, model, *more):
        self.model, self.more = model, [*more]
        self.small = ["--model", model, *SMALL, *more]
        self.begin()

    def train(self, steps, *words):
        run = f"{self.folder}-alone-{next(self.alone_numbers)}"
        done = leat("train", self.model, self.faces, "-o", run, "--steps", steps, *SMALL,
                    *self.more, *words, "--json", status=0)
        return json.loads(done.stdout)

    def alone(self, steps):
        return self.train(steps)["state"]

    def test_killed(self):
        """A worker, and then the coordinator, are killed in the middle of the run."""
        for model in ("vgae", "gat"):
            with self.subTest(model):
                self.use(model)
                coordinator = self.coordinate(STEPS)
                coordinator.until(f"is open at step 0 of {STEPS}")
                first = self.work()
                self.until_step(3, coordinator)
                first.kill()
                self.work()
                self.until_step(7, coordinator)
                coordinator.kill()
                coordinator = self.coordinate(STEPS, "--resume")
                coordinator.until(f" of {STEPS}\n")
                self.work()
                self.expect(coordinator, STEPS)

    def test_ends_early(self):
        """Weights that do not move are never better: with patience, and a coordinator that is
        killed after each of the first steps."""
        self.use("gat", "--learning-rate", "1e-30", "--patience", 2)
        alone = self.train(99)
        end = alone["last_step"]
        self.assertTrue(alone["stopped_early"])
        self.assertLess(end, 99)
        coordinator = self.coordinate(99)
        coordinator.until("is open at step 0 of 99")
        for _ in range(2):
            self.work()
        for step in range(2, end, 2):
            if self.until(f"select step >= {step} from leat.run", coordinator):
                coordinator.kill()
                coordinator = self.coordinate(99, "--resume")
        result = json.loads(coordinator.end())
        self.assertEqual((result["state"], result["last_step"], result["best_step"]),
                         (alone["state"], end, alone["best_step"]))
        self.assertTrue(result["stopped_early"])
        self.assertEqual(self.ask("select state || ' ' || step || ' ' || steps || ' ' || "
                                  "state_hash from leat.run"),
                         f"finished {end} {end} {alone['state']}")
        self.assertEqual(self.ask("select count(*) from leat.lease where state = 'live'"), "0")
        self.assertEqual(self.ask(f"select count(*) from leat.unit where step >= {end}"), "0")
        again = json.loads(self.coordinate(99, "--resume").end())  # says so, and does nothing
        self.assertTrue(again["stopped_early"])
        self.assertEqual((again["first_step"], again["last_step"]), (end, end))
        # with more patience it goes on
        self.small[-1] = self.more[-1] = 9
        coordinator = self.coordinate(end + 1, "--resume")
        coordinator.until(f"is open at step {end} of {end + 1}")
        self.work()
        result = json.loads(coordinator.end())
        self.assertEqual(result["last_step"], end + 1)
        self.assertEqual(result["state"], self.alone(end + 1))

    def test_served_data_are_refused(self):
        for model in ("vgae", "gat"):
            self.use(model)
            done = leat("coordinate", self.folder, "--db", self.url(), "--data", self.faces,
                        "--steps", 1, *self.small, "--serve-data", status=2)
            self.assertIn("graphs", done.stderr)
            self.assertIn("--serve-data", done.stderr)


if __name__ == "__main__":
    require()
    unittest.main()
