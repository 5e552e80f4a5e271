"""leat coordinate --plan: a table without a run and without a database."""
import json
import pathlib
import unittest

import folder
import image_set
from command import leat

SMALL = ["--width", "4", "--latent", "8", "--micro-batch", "8"]
TIMED = ["--unit-seconds", "20"]
# A tenth of the data set is a step of two units of these.
TINY = ["--width", "4", "--latent", "8", "--micro-batch", "2", "--units", 2, "--unit-size", 2]


class Plan(folder.Folder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if image_set.libraries_left_out():
            raise unittest.SkipTest("leat was built without a library of images")

    def setUp(self):
        super().setUp()
        image_set.make(self.at("faces"), 40, 64)

    def plan(self, workers, *words, model=SMALL):
        return leat("coordinate", "--plan", workers, "--data", self.at("faces"), *model, *words,
                    status=0).stdout

    def document(self, *words, model=SMALL):
        return json.loads(self.plan(*words, "--json", model=model))

    def test_rows(self):
        """What was asked for, the same images in other numbers of units, and more units; the same
        each time."""
        told = self.document(2, "--units", 3, "--unit-size", 16, *TIMED)
        self.assertEqual([(row["units"], row["unit_size"], row["step_samples"])
                          for row in told["plans"]],
                         [(2, 16, 32), (2, 24, 48), (3, 16, 48), (6, 8, 48), (4, 16, 64),
                          (8, 16, 128), (20, 16, 320)])
        self.assertEqual((told["unit_seconds"], told["unit_measured"], told["unit_size"]),
                         (20, False, 16))
        self.assertEqual(told, self.document(2, "--units", 3, "--unit-size", 16, *TIMED,
                                             "--threads", 1))
        slower = self.document(2, "--units", 3, "--unit-size", 16, *TIMED, "--uplink", "8kbit")
        self.assertEqual((slower["uplink_bits"], slower["downlink_bits"]), (8000, 8000))
        down = self.document(2, "--units", 3, "--unit-size", 16, *TIMED, "--uplink", "8kbit",
                             "--downlink", "1Mbit")
        self.assertEqual((down["uplink_bits"], down["downlink_bits"]), (8000, 1000000))
        self.assertLess(down["plans"][0]["step_seconds"], slower["plans"][0]["step_seconds"])
        self.assertFalse(slower["enough"])
        self.assertTrue(all(a["step_seconds"] > b["step_seconds"] for a, b in
                            zip(slower["plans"], told["plans"], strict=True)))

    def test_data_set(self):
        """A step with more than a tenth of the data set is not recommended."""
        told = self.document(2, *TIMED, "--spread", 0, model=TINY)
        self.assertEqual([(row["units"], row["unit_size"], row["epoch_steps"], row["fits"])
                          for row in told["plans"]],
                         [(2, 2, 10, True), (4, 2, 5, False), (8, 2, 2.5, False),
                          (20, 2, 1, False)])
        self.assertEqual((told["best_units"], told["best_unit_size"], told["enough"],
                          told["data_samples"]), (2, 2, True, 40))
        told = self.document(2, *TIMED, "--spread", 0.5, model=TINY)
        self.assertEqual((told["best_units"], told["enough"]), (2, False))
        self.assertGreater(told["plans"][3]["speed_share"], told["plans"][0]["speed_share"])
        self.assertIn("\nlimit     no line with at most 4 images a step, a tenth",
                      self.plan(2, *TIMED, "--spread", 0.5, model=TINY))
        told = self.document(2, "--units", 3, "--unit-size", 16, *TIMED)
        self.assertEqual((told["best_units"], told["best_unit_size"], told["enough"]),
                         (2, 16, False))
        self.assertIn("\nlimit     every line has more than 4 images a step",
                      self.plan(2, "--units", 3, "--unit-size", 16, *TIMED))

    def test_words(self):
        """A star at the best line; a sentence on what is in the way."""
        even = [*TIMED, "--spread", 0]
        out = self.plan(2, *even, model=TINY)
        lines = [line for line in out.splitlines() if line.startswith("*")]
        self.assertEqual(len(lines), 2)
        self.assertRegex(lines[1], r"--units \d+ --unit-size \d+: as much as [0-9.]+ machines")
        self.assertIn("as given with --unit-seconds", out)
        self.assertNotIn("limit", out)
        self.assertNotIn("per image", out)
        served = self.plan(2, *even, "--serve-data", model=TINY)
        self.assertIn(" down per machine and step, 12.0 KiB per image\n", served)
        self.assertEqual(out.count("\n"), served.count("\n"))
        out = self.plan(2, *even, "--uplink", "8kbit", model=TINY)
        self.assertIn("\nlimit     sending a result takes longer than computing its unit", out)
        self.assertRegex(out, r"as much as 0\.[0-9]*[1-9][0-9]? machines that never wait")
        out = self.plan(2, *even, "--server-link", "8kbit", model=TINY)
        self.assertIn("\nlimit     the database's link is full of", out)
        self.assertIn("measured on this machine",
                      self.plan(1, "--unit-size", 8, "--threads", 1))

    def files(self, name):
        """Of all files and folders of one: size, and when it was written."""
        top = pathlib.Path(self.at(name))
        return {str(path.relative_to(top)): (path.stat().st_size, path.stat().st_mtime_ns)
                for path in [top, *top.rglob("*")]}

    def test_of_a_run(self):
        """With --resume, the settings are those of the folder, which stays as it is."""
        leat("train", "dcgan", self.at("faces"), *SMALL, "--units", 5, "--unit-size", 8, "--steps",
             1, "--sample-every", 0, "-o", self.at("run"), status=0)
        before = self.files("run")
        self.assertIn("metrics.jsonl", before)
        told = json.loads(leat("coordinate", self.at("run"), "--plan", 2, "--data",
                               self.at("faces"), "--resume", *TIMED, "--json", status=0).stdout)
        self.assertEqual(self.files("run"), before)
        self.assertEqual(told["unit_size"], 8)
        self.assertIn((5, 8), [(row["units"], row["unit_size"]) for row in told["plans"]])

    def test_wrong_usage(self):
        for words, said in ((["--plan", 2], "--plan requires --data DIR"),
                            (["--plan", 0], "1 to 1000"), (["--plan", 1001], "1 to 1000"),
                            (["--plan", 2, "--data", self.at("faces"), "--uplink", "10M"],
                             '--uplink: "10M" is not accepted'),
                            (["--plan", 2, "--data", self.at("faces"), "--unit-seconds", 0],
                             "unit-seconds"),
                            (["--plan", 2, "--data", self.at("faces"), *SMALL, "--unit-size", 12],
                             "multiple"),
                            (["run", "--db", "postgresql://a@b/c", "--data", "x", "--spread", 0.1],
                             "--spread requires --plan: add --plan WORKERS")):
            with self.subTest(words):
                done = leat("coordinate", *words, status=2)
                self.assertIn(said, done.stderr)
                self.assertEqual(done.stdout, "")
        done = leat("coordinate", "--plan", 2, "--data", self.at("none"), status=1)
        self.assertIn(self.at("none"), done.stderr)


if __name__ == "__main__":
    unittest.main()
