"""leat train dcgan --resume --rewind: back to a checkpoint, and on to the same bits; and what a run
whose samples become alike is said to do. Runs the command named by LEAT (default: build/leat).
"""
import hashlib
import json
import os
import re
import unittest

from held import Held
from training import DATA, Training, setUpModule, tearDownModule, train  # noqa: F401

SMALL = ["--width", "2", "--latent", "4", "--unit-size", "8", "--micro-batch", "8", "--threads",
         "1", "--sample-every", "0"]


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write_ledger(run, *lines):
    """Lines after those that RUN/ledger.jsonl has."""
    path = f"{run}/ledger.jsonl"
    with open(path, "a+b") as file:
        file.seek(0)
        before = [hashlib.sha256(line).hexdigest() for line in file]
        for line in lines:
            line = json.dumps({"before": before[-1] if before else "0" * 64, **line},
                              separators=(",", ":")).encode() + b"\n"
            before.append(hashlib.sha256(line).hexdigest())
            file.write(line)


def units_of(account, *steps):
    return [{"kind": "unit", "step": step, "unit": 0, "account": account} for step in steps]


class Rewind(Training):
    def trained(self, run, *words):
        return self.good("train", "dcgan", f"{DATA}/faces", "-o", run, *words)

    def begin(self, *words):
        """A run of 6 steps with checkpoints of 2, 4 and 6, and its state."""
        run = self.at("run")
        done = self.trained(run, "--steps", "6", "--checkpoint-every", "2", "--json", *SMALL,
                            *words)
        return run, json.loads(done.stdout)["state"]

    def checkpoints(self, run):
        found = json.loads(self.good("inspect", run, "--verify", "--json").stdout)
        return [of["step"] for of in found["checkpoints"]]

    def test_back_and_on(self):
        run, state = self.begin()
        before = lines_of(f"{run}/metrics.jsonl")
        self.bad(train(run, "--rewind", "4"), 2, "--resume")
        self.bad(train(run, "--resume", "--rewind", "3"), 2,
                 "no checkpoint of step 3; there are: 2 (0.40 epochs), 4 (0.80 epochs), 6 (1.20")
        self.bad(train(run, "--resume", "--rewind", "x"), 2, "--rewind")
        self.bad(train(self.at("none"), "--steps", "2", "--resume", "--rewind", "2", *SMALL),
                 2, "does not hold a run to rewind")
        self.assertEqual(sorted(os.listdir(self.top)), ["run"])
        for name in ("rewound-4", "rewound-4-2"):
            done = self.trained(run, "--resume", "--rewind", "4", "--json")
            found = json.loads(done.stdout)
            self.assertEqual((found["first_step"], found["state"]), (4, state))
            self.assertIn(f"rewound to step 4; what came after it is in \"{run}/{name}\"",
                          done.stderr)
            moved = lines_of(f"{run}/{name}/metrics.jsonl")
            self.assertEqual([of["step"] for of in moved if "epoch" not in of], [5, 6])
            self.assertEqual(len(os.listdir(f"{run}/{name}/checkpoints")), 3)
        after = lines_of(f"{run}/metrics.jsonl")
        for one, other in zip(before, after, strict=True):
            self.assertEqual({**one, "seconds": 0, "memory_peak_bytes": 0},
                             {**other, "seconds": 0, "memory_peak_bytes": 0})
        self.assertEqual(self.checkpoints(run), [2, 4, 6])
        self.assertIn("3 checkpoints, all with their hashes", self.good("doctor", run).stdout)

    def test_killed_in_between(self):
        run, state = self.begin()
        # decided, and then some calls later: some of the files are moved
        for call in (1, 6):
            words = ["train", "dcgan", f"{DATA}/faces", "-o", run, "--resume", "--rewind", "2"]
            with Held(words, f"{run}/.leat.rewind/rewind.json", call) as process:
                self.bad(train(run, "--resume"), 1, "another process")
                self.assertIn(2, self.checkpoints(run))
                process.kill()
            self.assertIn(2, self.checkpoints(run))
            self.good("doctor", run)
            done = self.trained(run, "--resume", "--json")
            found = json.loads(done.stdout)
            self.assertEqual((found["first_step"], found["state"]), (2, state))
            self.assertIn("rewound to step 2", done.stderr)
        self.assertEqual(sorted(name for name in os.listdir(run) if "rew" in name),
                         ["rewound-2", "rewound-2-2"])

    def test_who_computed_it(self):
        """Of a run with a ledger, which is leat coordinate's; here leat train continues it."""
        run, state = self.begin()

        def shown(*words):
            if words:
                found = json.loads(self.trained(run, "--resume", "--json", *words).stdout)
                self.assertEqual(found["state"], state)
            with open(f"{run}/report.html", encoding="utf-8") as file:
                page = file.read()
            who = re.search("<h2>Who computed it</h2>.*?<p>(.*?)</p>", page, re.DOTALL)
            return (re.search(r"<title>.* - (.*)</title>", page)[1],
                    re.search(r"A run of (leat \w+)", page)[1], who and who[1])

        self.assertEqual(shown(), ("leat train", "leat train", None))
        both = ("leat coordinate", "leat coordinate")
        write_ledger(run, {"kind": "begin", "step": 0})
        self.assertEqual(shown("--rewind", "4"), (
            *both, "Units of 0 of 6 steps. Who computed steps 1 to 6 is not known."))
        write_ledger(run, *units_of("ann", 1, 2, 3))
        self.assertEqual(shown("--rewind", "4"), (
            *both, "Units of 3 of 6 steps. Who computed steps 4 to 6 is not known."))
        write_ledger(run, *units_of("bob", 4, 6))
        self.assertEqual(shown("--steps", "6"), (
            *both, "Units of 5 of 6 steps. Who computed step 5 is not known."))
        # a database that had all steps, of which these are no longer the folder's
        self.assertEqual(shown("--rewind", "2")[2],
                         "Units of 2 of 6 steps. Who computed steps 3 to 6 is not known.")
        write_ledger(run, *units_of("bob", 5))
        self.assertEqual(shown("--steps", "6")[2],
                         "Units of 3 of 6 steps. Who computed 3 of the steps 3 to 6 is not known.")
        write_ledger(run, *units_of("ann", 1, 2, 3, 4, 5, 6))
        self.assertEqual(shown("--steps", "6"), (*both, "Units of 6 of 6 steps."))
        write_ledger(run, {"kind": "unit", "step": 7})
        title, command, who = shown("--steps", "6")
        self.assertEqual((title, command), both)
        self.assertRegex(who, "Not known: .*line 1[0-9] has no valid step, unit or account")

    def test_samples_that_become_alike(self):
        """The last measurement is a real one; those before it are made up, as is D's loss."""
        run, path = self.at("run"), self.at("run", "metrics.jsonl")
        self.trained(run, "--steps", "299", "--checkpoint-every", "0", *SMALL)
        lines = lines_of(path)
        for line in lines:
            if line["step"] > 10 and "loss_g" in line:
                line.update(loss_d_images=1e-4, loss_d_fakes=2e-5)
            if line["step"] in (100, 200) and "loss_g" in line:
                line.update(score=1.0, deviation=0.1, spread=0.05, spread_data=0.3)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        done = self.trained(run, "--resume", "--steps", "300", "--sample-every", "100")
        alike = "the samples are becoming alike at step 300: "
        won = "the discriminator has won at step 210; G learns nothing any more"
        # printed when it arises, once; in the summary whenever it arose
        self.assertEqual(done.stderr.count(f"leat: warning: {alike}"), 1)
        self.assertNotIn(won, done.stderr)
        for text in (alike, won):
            self.assertIn(f"warning {text}", done.stdout)
        self.assertRegex(done.stdout, r"spread  0\.0\d+ between the samples, 0\.\d+ between the im")
        last = [line for line in lines_of(path) if "spread" in line][-1]
        self.assertLess(last["spread"], last["spread_data"] / 4)
        again = self.trained(run, "--resume", "--json")
        self.assertNotIn("warning", again.stderr)
        found = json.loads(again.stdout)
        self.assertEqual([(of["kind"], of["step"], "over" in of) for of in found["warnings"]],
                         [("alike", 300, False), ("won", 210, False)])
        self.assertEqual((found["spread"], found["spread_data"]),
                         (last["spread"], last["spread_data"]))
        with open(f"{run}/report.html", encoding="utf-8") as file:
            page = file.read()
        for text in (alike, won, "Spread between samples over time"):
            self.assertIn(text, page)
        shown = self.good("inspect", run).stdout
        for text in (f"warning      {alike}", f"warning      {won}", " 0.05         0.3\n"):
            self.assertIn(text, shown)
        inspected = json.loads(self.good("inspect", run, "--json").stdout)
        self.assertEqual(inspected["warnings"], found["warnings"])
        self.assertEqual([(of["step"], of["spread"]) for of in inspected["measurements"]],
                         [(100, 0.05), (200, 0.05), (300, last["spread"])])


if __name__ == "__main__":
    unittest.main()
