"""leat ingest can: which files are logs, which logs may be training data, and where a log ends and
another recording begins in the same file."""
import gzip
import json
import os
import unittest

from command import leat
from test_ingest_can import Case, content, write_log


class Files(Case):
    """What a folder holds besides logs."""
    def test_other_files_are_named(self):
        folder = self.make("logs")
        write_log(os.path.join(folder, "B.CSV"), 300)
        for name in ("README.txt", "a.arxml", "b.log.zst", "c.zip", "\N{DEGREE SIGN}.blf"):
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write("neither a log nor CSV\n")
        write_log(os.path.join(self.make("logs", "_temporary"), "part.csv"), 300)
        others = [os.path.join(folder, name) for name in
                  ("README.txt", "_temporary", "a.arxml", "b.log.zst", "c.zip",
                   "\N{DEGREE SIGN}.blf")]
        result = self.ingest(folder)
        self.assertEqual((result["files"], result["frames"]), (1, 300))
        self.assertEqual(result["not_read"], {"count": 6, "first": others})
        again = leat("ingest", "can", folder, "-o", self.path("cache"), status=0)
        self.assertIn(f"not read: {others[0]}, {others[1]}, ", again.stdout)
        for i in range(9):
            write_log(os.path.join(folder, f"{i}.dbc"), 1)
        told = leat("ingest", "can", folder, "-o", self.path("cache"), status=0)
        self.assertIn(" and 7 more\n", told.stdout)
        self.assertEqual(self.ingest(os.path.join(folder, "_temporary"))["files"], 1)

    def test_what_is_next_to_splits(self):
        for name in ("train_a", "test_b", "more"):
            write_log(os.path.join(self.make("logs", name), "x.csv"), 300)
        write_log(self.path("logs", "attacks.csv"), 300)
        result = self.ingest(self.path("logs"))
        self.assertEqual(result["files"], 2)
        self.assertEqual(result["not_read"], {"count": 2, "first": [
            self.path("logs", "attacks.csv"), self.path("logs", "more")]})

    def test_what_no_pattern_chooses(self):
        """A log that was meant is named; what is not a log, and what a pattern has, is not."""
        for name in ("ambient/a", "attacks/one_1", "attacks/one_2", "attacks/late", "signals/x",
                     "attacks/deep/d", "b"):
            os.makedirs(os.path.dirname(self.path("road", name)), exist_ok=True)
            write_log(self.path("road", name + ".log"), 300)
        for name in ("notes.md", "_part.log", ".hidden.log"):
            write_log(self.path("road", "attacks", name), 1)
        road = self.path("road")
        for folder in (road, road + "/"):
            result = self.ingest(folder, "--train", "ambient,attacks/*_1*", "--test",
                                 "attacks/*_2.log")
            self.assertEqual(result["files"], 3)
            self.assertEqual(result["not_read"]["count"], 3)
            self.assertEqual([os.path.normpath(path) for path in result["not_read"]["first"]], [
                os.path.join(road, name) for name in ("b.log", "signals", "attacks/late.log")])
        for words in ((road, "--train", "*", "--val-fraction", "0"),
                      ("--train", os.path.join(road, "b.log"))):
            missed = self.ingest(*words)["not_read"]["first"]
            self.assertFalse([name for name in missed if name.endswith("/b.log") or
                              name.endswith("late.log")])
        absolute = self.ingest(self.path("road", "ambient"), "--train",
                               self.path("road", "b.log"))
        self.assertEqual(absolute["not_read"]["first"], [self.path("road", "ambient", "a.log")])

    def test_what_no_folder_of_a_data_set_has(self):
        for name in ("train_01_attack_free", "train_02_with_attacks", "test_01_DoS",
                     "test_02_Fuzzy"):
            write_log(os.path.join(self.make("hcrl", name), "x.csv"), 300)
        result = self.ingest(self.path("hcrl"), "--dataset", "hcrl_ch")
        self.assertEqual(result["files"], 3)
        self.assertEqual(result["not_read"], {"count": 1,
                                              "first": [self.path("hcrl", "test_02_Fuzzy")]})


class Training(Case):
    """Which logs may be trained on, and whether that leaves anything."""
    def test_folders_of_tests(self):
        for name in ("test_01/day1", "test_02", "logs"):
            write_log(os.path.join(self.make("data", name), "x.csv"), 300)
        refused = "although its folder is named like a test"
        tests = self.path("data", "test_0?"), self.path("data", "test_01")
        for words in ((self.path("data"),), tests[:1], tests[1:], (tests[1] + "/",),
                      (self.path("data", "*", "day1"),), (self.path("data", "logs"), tests[1])):
            told = self.ingest(*words, status=1)
            self.assertIn(refused, told, words)
            self.assertIn("--train FOLDER without PATH", told)
        self.assertFalse(os.path.exists(self.path("cache")))
        result = self.ingest("--train", os.path.join(tests[1]))
        self.assertEqual(result["splits"]["train"]["graphs"] + result["windows_dropped"] +
                         result["splits"]["val"]["graphs"], 3)
        self.assertEqual(self.ingest(self.path("data"), "--train", "test_*")["files"], 2)
        # a file that is named, and folders above the path
        self.assertEqual(self.ingest(self.path("data", "test_02", "x.csv"))["files"], 1)
        self.assertEqual(self.ingest(self.path("data", "test_01", "day1"))["files"], 1)

    def test_one_of_each(self):
        """Numbers and nouns agree."""
        folder = self.make("logs")
        write_log(os.path.join(folder, "one.csv"), 100)
        told = leat("ingest", "can", folder, "-o", self.path("cache"), "--val-fraction", "0",
                    status=0).stdout
        self.assertRegex(told, r"\nread    100 frames of 1 file, 1 capture, ")
        self.assertRegex(told, r"\ntrain   1 graph, ")
        cache = self.path("cache")
        told = leat("batches", cache, "--epochs", "1", "--report", self.path("page.html"),
                    status=0).stdout
        self.assertIn("counted    1 batch, epoch 0 batch 0 to epoch 0 batch 0\n", told)

    def test_no_windows(self):
        folder = self.make("logs")
        write_log(os.path.join(folder, "short.csv"), 50)
        write_log(os.path.join(folder, "shorter.csv"), 40)
        told = self.ingest(folder, status=1)
        self.assertIn("there are no training windows: a window has 100 frames, and the longest of "
                      '2 training captures, "logs/short.csv", has 50; use --window 50 or '
                      "less, or logs with more frames", told)
        told = self.ingest("short.csv", status=1, cwd=folder)
        self.assertIn('1 training capture, "short.csv", has 50; use --window 50', told)
        self.assertFalse(os.path.exists(self.path("cache")))
        result = self.ingest(folder, "--window", "50")
        self.assertEqual((result["frames"], result["frames_tail"]), (90, 40))
        write_log(os.path.join(folder, "short.csv"), 2)
        os.remove(os.path.join(folder, "shorter.csv"))
        told = self.ingest(folder, status=1)
        self.assertIn("has 2; use logs with more frames", told)

    def test_no_windows_in_a_test(self):
        write_log(os.path.join(self.make("logs", "train_a"), "x.csv"), 3000)
        write_log(os.path.join(self.make("logs", "test_b"), "x.csv"), 99)
        empty = "split test_b is empty: no capture of it has the 100 frames of a window (--window)"
        for found in (False, True):
            result = self.ingest(self.path("logs"))
            self.assertEqual((result["found"], result["warnings"]), (found, [empty]))

    def pausing(self, name, counts, pause_s=1000.0):
        """Recordings of so many frames, one every ms, with pauses between them."""
        path = os.path.join(self.make(name), "drive.csv")
        with open(path, "w", encoding="ascii") as file:
            file.write("timestamp,arbitration_id,data_field,attack\n")
            begin = 0.0
            for count in counts:
                for i in range(count):
                    file.write(f"{begin + i * 0.001:.6f},{0x100 + i % 13:03X},00,0\n")
                begin += count * 0.001 + pause_s
        return self.path(name)

    def test_a_recording_that_pauses(self):
        # all but one of twenty blocks are a pause: the last one has nearly all frames, and is
        # validation for one seed in five
        drive = self.pausing("late", [2000, 18000])
        outcomes = {0: 0, 1: 0}
        for seed in range(12):
            done = leat("ingest", "can", drive, "-o", self.path("cache"), "--json", "--seed", seed)
            outcomes[done.returncode] += 1
            if done.returncode == 1:
                self.assertRegex(done.stderr, "validation has 1[78][0-9] of [12][0-9]{2} windows "
                                 "although --val-fraction is 0.2: frames are "
                                 "unevenly spread over the 20 equal time blocks ")
                self.assertIn('"late/drive.csv", spans 0.000 to 1019.999 s; the longest pause is '
                              "1000.001 s, after 1.999 s", done.stderr)
                self.assertIn("use --clock-steps split:500, which begins a new capture after it",
                              done.stderr)
        self.assertTrue(outcomes[0] and outcomes[1], outcomes)
        result = self.ingest(drive, "--val-split", "random")
        self.assertEqual(result["splits"]["val"]["graphs"], 40)
        result = self.ingest(drive, "--clock-steps", "split:500")
        self.assertEqual((result["warnings"], result["captures"]), ([], 2))

    def test_uneven_validation_is_told(self):
        # with pauses like these, validation gets none, a twentieth, or two fifths: told, also of
        # a cache that exists
        drive = self.pausing("parts", [3000, 9000, 3000, 5000], 20.0)
        told = set()
        for seed in range(8):
            result = self.ingest(drive, "--seed", str(seed))
            val = result["splits"]["val"]["graphs"]
            share = val / (val + result["splits"]["train"]["graphs"])
            says = "".join(result["warnings"])
            says = says if "validation" in says else ""
            told.add("even" if says == "" else "empty" if "split is empty" in says else "uneven")
            self.assertEqual(says == "", 0.1 <= share <= 0.4, share)
            self.assertEqual("validation has" in says and val > 0, val > 0 and says != "")
            again = self.ingest(drive, "--seed", str(seed))
            self.assertEqual((again["found"], len(again["warnings"])),
                             (True, len(result["warnings"])))
        self.assertEqual(told, {"even", "empty", "uneven"})


class Clocks(Case):
    """A log whose timestamps fall back: two recordings in one file."""
    def log(self, name, parts, bus=None):
        """Frames of several recordings, each given as (begin, frames, seconds between them)."""
        path = os.path.join(self.make(os.path.dirname(name)), os.path.basename(name))
        with open(path, "w", encoding="ascii") as file:
            for begin, frames, step in parts:
                for i in range(frames):
                    number = bus(begin, i) if bus is not None else 0
                    file.write(f"({begin + i * step:.6f}) can{number} "
                               f"{0x100 + i * i % 13:03X}#{i % 256:02X}\n")
        return self.path(name)

    def captures(self, result):
        with open(os.path.join(result["cache"], "cache_metadata.json"), encoding="utf-8") as file:
            return json.load(file)["captures"]

    def test_two_recordings_in_one_file(self):
        log = self.log("logs/glued.log", [(1000, 45670, 0.001), (500, 9000, 0.001)])
        step = {"file": log, "frame": 45671, "seconds": 545.669}
        result = self.ingest(log)
        self.assertEqual((result["files"], result["captures"], result["frames_stepped_back"]),
                         (1, 2, 0))
        self.assertEqual(result["clock_steps"]["count"], 1)
        told, = result["clock_steps"]["first"]
        self.assertAlmostEqual(told.pop("seconds"), step.pop("seconds"), places=6)
        self.assertEqual(told, step)
        found = [(one["file"], one["recording"], one["frames"], one["windows"], one["tail"],
                  one["first_s"], one["last_s"]) for one in self.captures(result)]
        self.assertEqual(found, [("glued.log", 1, 45670, 456, 70, 1000.0, 1045.669),
                                 ("glued.log", 2, 9000, 90, 0, 500.0, 508.999)])
        done = leat("ingest", "can", log, "-o", self.path("words"), status=0)
        self.assertIn("a clock fell back 1 time: a new capture begins there (--clock-steps)\n"
                      f"          by 545.669 s at frame 45,671 of {log}\n", done.stdout)
        done = leat("inspect", result["cache"], status=0)
        self.assertIn("glued.log #2 ", done.stdout)
        self.assertIn("glued.log  ", done.stdout)
        done = leat("inspect", result["cache"], "--json", status=0)
        self.assertEqual([one["recording"] for one in json.loads(done.stdout)["captures"]], [1, 2])
        # both are of one capture where captures or steps are merged, as the reference has it
        for words, setting in ((("--clock-steps", "sort"), "sort"),
                               (("--captures", "merged"), "split"),
                               (("--preset", "reference"), "sort")):
            result = self.ingest(log, *words)
            self.assertEqual((result["captures"], result["frames_stepped_back"]), (1, 1), words)
            self.assertEqual(result["clock_steps"], {"count": 0, "first": []})
            with open(os.path.join(result["cache"], "cache_metadata.json"),
                      encoding="utf-8") as file:
                text = json.load(file)
            self.assertEqual(text["settings"]["clock-steps"], setting)
            self.assertEqual(text["captures"][0]["first_s"], 500.0)

    def test_smaller_steps_are_sorted(self):
        log = self.log("logs/near.log", [(0, 3000, 0.001), (2, 3000, 0.001), (4, 1000, 0.001)])
        result = self.ingest(log)
        self.assertEqual((result["captures"], result["frames_stepped_back"],
                          result["clock_steps"]["count"]), (1, 2, 0))
        self.assertEqual(self.captures(result)[0]["recording"], 1)

    def test_the_clock_is_that_of_the_log(self):
        # bus 1 speaks every 600 frames: its own times never fall by a second, the log's do
        log = self.log("logs/buses.log", [(0, 1201, 0.001), (0.1, 1201, 0.001)],
                       bus=lambda begin, i: int(i % 600 == 0 and (begin == 0 or i > 600)))
        result = self.ingest(log, "--window", "3")
        self.assertEqual([(one["recording"], one["bus"], one["frames"])
                          for one in self.captures(result)],
                         [(1, 0, 1198), (1, 1, 3), (2, 0, 1200), (2, 1, 1)])
        self.assertEqual(result["clock_steps"]["first"][0]["frame"], 1202)
        merged = self.ingest(log, "--bus", "merge")
        self.assertEqual([(one["recording"], one["bus"], one["frames"])
                          for one in self.captures(merged)], [(1, None, 1201), (2, None, 1201)])
        only = self.ingest(log, "--bus", "1", "--window", "3")
        self.assertEqual([(one["recording"], one["frames"]) for one in self.captures(only)],
                         [(1, 3), (2, 1)])

    def test_merged_buses_count_steps(self):
        path = os.path.join(self.make("logs"), "late.log")
        with open(path, "w", encoding="ascii") as file:
            for i in range(3000):  # every tenth frame is of a bus whose clock is 35 ms behind
                late = i % 10 == 9
                file.write(f"({i * 0.001 - 0.035 * late:.6f}) can{int(late)} 0F5#00\n")
        for words, steps in (((), 0), (("--bus", "merge"), 300), (("--bus", "0"), 0),
                             (("--captures", "merged"), 300), (("--preset", "reference"), 300)):
            self.assertEqual(self.ingest(path, *words)["frames_stepped_back"], steps, words)

    def test_the_same_for_any_number_of_threads(self):
        # falls in a large file and a gzipped one
        parts = [(1000 - 50 * k, 1000 + 997 * k, 0.001) for k in range(14)]
        log = self.log("logs/long.log", parts)
        with open(log, "rb") as file, gzip.open(self.path("logs", "also.LOG.GZ"), "wb") as other:
            other.write(file.read())
        wanted = None
        for threads in ("1", "2", "3", "8"):
            result = self.ingest(self.path("logs"), "--threads", threads, out=f"cache{threads}")
            told = result["captures"], result["clock_steps"], content(result["cache"])
            self.assertEqual(result["captures"], 28)
            self.assertEqual(result["clock_steps"]["count"], 26)
            self.assertEqual(len(result["clock_steps"]["first"]), 8)
            self.assertEqual([step["frame"] for step in result["clock_steps"]["first"]][:3],
                             [1001, 2998, 5992])
            wanted = wanted or told
            self.assertEqual(told, wanted)
        frames = [one["frames"] for one in self.captures(result)]
        self.assertEqual(frames, 2 * [frames for _, frames, _ in parts])
        done = leat("ingest", "can", self.path("logs"), "-o", self.path("cache"), status=0)
        self.assertIn("and 18 more\n", done.stdout)

    def test_a_log_in_no_order(self):
        log = self.log("logs/shuffled.log", [(i * 7919 % 3001, 1, 0) for i in range(3001)])
        told = self.ingest(log, status=1)
        self.assertRegex(told, "[0-9]{4} of its 3001 times are earlier than the one before")
        self.assertIn("or --clock-steps sort if they are times of a clock in no order", told)
        self.assertEqual(self.ingest(log, "--clock-steps", "sort")["frames_windowed"] > 2000, True)


if __name__ == "__main__":
    unittest.main()
