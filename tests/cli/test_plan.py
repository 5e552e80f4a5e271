"""leat coordinate --plan: a table without a run and without a database."""
import json
import unittest

import folder
import image_set
from command import leat

SMALL = ["--width", "4", "--latent", "8", "--micro-batch", "8"]
TIMED = ["--unit-seconds", "20"]


class Plan(folder.Folder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if image_set.libraries_left_out():
            raise unittest.SkipTest("leat was built without a library of images")

    def setUp(self):
        super().setUp()
        image_set.make(self.at("faces"), 40, 64)

    def plan(self, workers, *words, **more):
        return leat("coordinate", "--plan", workers, "--data", self.at("faces"), *SMALL, *words,
                    **more)

    def document(self, *words):
        return json.loads(self.plan(*words, "--json", status=0).stdout)

    def test_rows(self):
        """What was asked for, the same images in more units, and more units; the same each time."""
        told = self.document(2, "--units", 3, "--unit-size", 16, *TIMED)
        self.assertEqual([(row["units"], row["unit_size"], row["step_samples"])
                          for row in told["plans"]],
                         [(2, 16, 32), (2, 24, 48), (3, 16, 48), (6, 8, 48), (4, 16, 64),
                          (8, 16, 128), (20, 16, 320)])
        self.assertEqual((told["unit_seconds"], told["unit_measured"], told["unit_size"]),
                         (20, False, 16))
        best, = (row for row in told["plans"]
                 if (row["units"], row["unit_size"]) == (told["best_units"],
                                                         told["best_unit_size"]))
        self.assertTrue(told["enough"] and best["speed_share"] >= 0.85)
        self.assertTrue(all(row["speed_share"] < 0.85 or row["step_samples"] >= best["step_samples"]
                            for row in told["plans"]))
        self.assertEqual(told, self.document(2, "--units", 3, "--unit-size", 16, *TIMED,
                                             "--threads", 1))
        slower = self.document(2, "--units", 3, "--unit-size", 16, *TIMED, "--uplink", "8kbit")
        self.assertEqual(slower["uplink_bits"], 8000)
        self.assertFalse(slower["enough"])
        self.assertTrue(all(a["step_seconds"] > b["step_seconds"] for a, b in
                            zip(slower["plans"], told["plans"], strict=True)))

    def test_words(self):
        """A star at the best line; a sentence on what is in the way."""
        out = self.plan(2, "--units", 3, "--unit-size", 16, *TIMED, status=0).stdout
        lines = [line for line in out.splitlines() if line.startswith("*")]
        self.assertEqual(len(lines), 2)
        self.assertRegex(lines[1], r"--units \d+ --unit-size \d+: as much as [0-9.]+ machines")
        self.assertIn("as given with --unit-seconds", out)
        self.assertNotIn("limit", out)
        self.assertNotIn("per image", out)
        served = self.plan(2, "--units", 3, "--unit-size", 16, *TIMED, "--serve-data",
                           status=0).stdout
        self.assertIn(" down per step, 12.0 KiB per image\n\n", served)
        self.assertEqual(out.count("\n"), served.count("\n"))
        out = self.plan(2, *TIMED, "--unit-size", 16, "--uplink", "8kbit", status=0).stdout
        self.assertIn("\nlimit     a result is sent for about as long", out)
        out = self.plan(2, *TIMED, "--unit-size", 16, "--server-link", "8kbit", status=0).stdout
        self.assertIn("\nlimit     the link of the database is full", out)
        self.assertIn("measured on this machine",
                      self.plan(1, "--unit-size", 8, "--threads", 1, status=0).stdout)

    def test_of_a_run(self):
        """With --resume, the settings are those of the folder, which stays as it is."""
        leat("train", "dcgan", self.at("faces"), *SMALL, "--units", 5, "--unit-size", 8, "--steps",
             1, "--sample-every", 0, "-o", self.at("run"), status=0)
        told = json.loads(leat("coordinate", self.at("run"), "--plan", 2, "--data",
                               self.at("faces"), "--resume", *TIMED, "--json", status=0).stdout)
        self.assertEqual(told["unit_size"], 8)
        self.assertIn((5, 8), [(row["units"], row["unit_size"]) for row in told["plans"]])

    def test_wrong_usage(self):
        for words, said in ((["--plan", 2], "--plan needs --data DIR"),
                            (["--plan", 0], "1 to 1000"), (["--plan", 1001], "1 to 1000"),
                            (["--plan", 2, "--data", self.at("faces"), "--uplink", "10M"],
                             '--uplink: "10M" is not accepted'),
                            (["--plan", 2, "--data", self.at("faces"), "--unit-seconds", 0],
                             "unit-seconds"),
                            (["--plan", 2, "--data", self.at("faces"), *SMALL, "--unit-size", 12],
                             "multiple"),
                            (["run", "--db", "postgresql://a@b/c", "--data", "x", "--spread", 0.1],
                             "--spread is of a plan: add --plan WORKERS")):
            with self.subTest(words):
                done = leat("coordinate", *words, status=2)
                self.assertIn(said, done.stderr)
                self.assertEqual(done.stdout, "")
        done = leat("coordinate", "--plan", 2, "--data", self.at("none"), status=1)
        self.assertIn(self.at("none"), done.stderr)


if __name__ == "__main__":
    unittest.main()
