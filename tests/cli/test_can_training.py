"""What leat ingest can says of training: frames that validation shares, pauses, identifiers that
tests do not share. Runs the command named by LEAT (default: build/leat)."""
import json
import os
import re
import shutil
import tempfile
import unittest

from command import leat
from test_ingest_can import content, read_tensors


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="leat-can-training-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, times, line="({time:.6f}) can0 {id:03X}#{data:04X}\n", ids=7, head=""):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(head)
            for i, time in enumerate(times):
                file.write(line.format(time=time, id=0x110 + 3 * (i % ids), data=i * 40503 % 65536))

    def ingest(self, *words, out="cache", status=0):
        """The summary, or the error; with the settings and the scaler of the cache."""
        done = leat("ingest", "can", *words, "-o", self.path(out), "--json")
        self.assertEqual(done.returncode, status, done.stderr)
        if status != 0:
            return done.stderr
        result = json.loads(done.stdout)
        for key, name in (("settings", "cache_metadata"), ("scale", "scaler")):
            with open(os.path.join(result["cache"], name + ".json"), encoding="utf-8") as file:
                result[key] = json.load(file)
        result["captures"] = result["settings"]["captures"]
        result["settings"] = result["settings"]["settings"]
        return result


class Overlap(Case):
    def test_refused(self):
        """Each remedy is taken; and what shares no frames is not refused."""
        self.write("a b's.log", (1 + i * 0.001 for i in range(3000)))
        log = self.path("a b's.log")
        for words in (("--val-split", "random"), ("--preset", "reference")):
            error = self.ingest(log, *words, "--stride", "30", status=2)
            self.assertIn("(--stride 30, --window 100)", error)
            remedies = re.search("use (--val-split blocks) or (--stride 100), or (--allow-overlap)",
                                 error)
            for remedy in remedies.groups():
                given = {words[0]: words[1], "--stride": "30"}
                option, *value = remedy.split()
                given.pop(option, None)
                result = self.ingest(log, *(word for pair in given.items() for word in pair),
                                     option, *value)
                allowed = option == "--allow-overlap"
                self.assertEqual(result["settings"].get("allow-overlap"),
                                 "true" if allowed else None)
                self.assertEqual(len(result["warnings"]), allowed, result["warnings"])
            self.ingest(log, *words, "--stride", "30", "--val-fraction", "0")

    def test_told(self):
        """The metadata keep it, where it decides something, and the number of frames is right."""
        self.write("drive.log", (1 + i * 0.001 for i in range(3000)))
        words = (self.path("drive.log"), "--allow-overlap", "--val-split", "random", "--stride",
                 "30", "--window", "80", "--val-fraction", "0.3")
        result, again = (self.ingest(*words, "--threads", threads, "--replace", out=threads)
                         for threads in ("1", "3"))
        self.assertEqual(content(result["cache"]), content(again["cache"]))
        frames = {}
        for split in ("train", "val"):
            starts = read_tensors(os.path.join(result["cache"], f"{split}.safetensors"))
            frames[split] = {at + i for at in starts["window_start"][1] for i in range(80)}
        both = frames["train"] & frames["val"]
        self.assertTrue(both)
        self.assertIn(f"{len(both)} of the {len(frames['val'])} frames of validation are in "
                      "training windows as well", result["warnings"][0])
        found = self.ingest(*words, out="1")
        self.assertTrue(found["found"])
        self.assertEqual(found["warnings"], result["warnings"])
        plain = self.ingest(self.path("drive.log"))
        self.assertEqual(self.ingest(self.path("drive.log"), "--allow-overlap")["digest"],
                         plain["digest"])


def paused(frames, pauses, begin=100.0):
    """Times about 1 ms apart, with pauses before some frames."""
    time = begin
    for i in range(frames):
        time += pauses.get(i, 0.0008 + i * 7919 % 100 * 4e-6)
        yield time


class Pauses(Case):
    OPTION = re.compile("use ((?:--captures separate )?--clock-steps split:[0-9.]+) to begin")

    def deviation(self, result, skip=None):
        """Of the time from frame to frame, of training windows; without one of them."""
        tensors = read_tensors(os.path.join(result["cache"], "train.safetensors"))
        pointers, values = tensors["edge_ptr"][1], tensors["edge_attr"][1][::11]
        kept = [value for g, start in enumerate(tensors["window_start"][1]) if start != skip
                for value in values[pointers[g]:pointers[g + 1]]]
        mean = sum(kept) / len(kept)
        return (sum((value - mean) ** 2 for value in kept) / len(kept)) ** 0.5

    def check(self, log, option, captures, *words):
        """The advice of a pause is followed: nothing is told any more, and no window is across."""
        results = [self.ingest(log, *words, *option.split(), "--threads", threads, out=threads)
                   for threads in ("1", "3")]
        self.assertEqual(*(content(result["cache"]) for result in results))
        self.assertEqual(results[0]["warnings"], [])
        self.assertEqual(len(results[0]["captures"]), captures)
        self.assertLess(self.deviation(results[0]), 0.001)
        return results[0]

    def test_figures(self):
        self.write("a b's.log", paused(6000, {3050: 61.5}))
        log = self.path("a b's.log")
        result = self.ingest(log, "--val-fraction", "0")
        told, = result["warnings"]
        self.assertRegex(told, "a b's.log\": a pause of 61.500 s after 103.0[0-9]* s makes the "
                         "scaler's deviation of iat [0-9.]+ instead of [0-9.]+, and the mean "
                         "interval of [0-9A-F]{3} [0-9.]+ s instead of [0-9.]+ s; use ")
        numbers = [float(one) for one in re.findall("([0-9.]+)(?: s)? instead of ([0-9.]+)",
                                                    told)[0]]
        for number, wanted in zip(numbers, (result["scale"]["edge_scale"][0],
                                            self.deviation(result, 3000))):
            self.assertAlmostEqual(number / wanted, 1, delta=0.01)
        self.assertEqual(self.ingest(log, "--val-fraction", "0")["warnings"], [told])
        option = self.OPTION.search(told)[1]
        self.assertEqual(option, "--clock-steps split:30")
        split = self.check(log, option, 2, "--val-fraction", "0")
        self.assertEqual(split["pauses"]["count"], 1)
        self.assertEqual((split["pauses"]["first"][0]["frame"],
                          round(split["pauses"]["first"][0]["seconds"], 3)), (3051, 61.5))
        self.assertEqual(split["settings"]["clock-steps"], "split:30")
        self.assertEqual(self.ingest(log, "--clock-steps", "split")["digest"],
                         self.ingest(log)["digest"])
        # as long, not longer
        self.assertNotIn("pauses", self.ingest(log, "--clock-steps", "split:61.5"))

    def test_uneven_blocks(self):
        """What validation is told of a pause is the same option, and not random windows."""
        self.write("drive.log", paused(8000, {5050: 900}))
        log = self.path("drive.log")
        done = [leat("ingest", "can", log, "-o", self.path("x"), "--seed", seed).stderr
                for seed in range(3)]
        for told in done:
            self.assertNotIn("random", told)
            self.assertEqual(set(re.findall("--clock-steps split:[0-9]+", told)),
                             {"--clock-steps split:450"})
        self.check(log, "--clock-steps split:450", 2)

    def test_other_pauses(self):
        # as ordinary ones are; several; and one of a second in a slow log
        for number, (pauses, captures) in enumerate(((
                {i: 0.06 for i in range(150, 6000, 600)}, 0), ({1050: 20, 2050: 30, 4050: 16}, 4),
                ({3050: 0.5}, 2))):
            self.write("drive.log", paused(6000, pauses))
            result = self.ingest(self.path("drive.log"), "--val-fraction", "0", out=str(number))
            self.assertEqual(len(result["warnings"]), captures > 0, result["warnings"])
            if captures:
                self.check(self.path("drive.log"), self.OPTION.search(result["warnings"][0])[1],
                           captures, "--val-fraction", "0")

    def test_merged(self):
        for name, begin in (("a.log", 100.0), ("b.log", 5000.0)):
            self.write("logs/" + name, paused(3000, {1550: 1000}, begin))
        log, words = self.path("logs"), ("--val-fraction", "0")
        result = self.ingest(log, *words, "--preset", "reference")
        option = self.OPTION.search(result["warnings"][0])[1]
        self.assertTrue(option.startswith("--captures separate "))
        result = self.ingest(log, *words, "--preset", "reference", *option.split())
        if result["warnings"]: # the pause between the two was longer
            option = "--captures separate " + self.OPTION.search(result["warnings"][0])[1]
        self.check(log, option, 4, *words, "--preset", "reference")
        error = self.ingest(log, "--captures", "merged", "--clock-steps", "split:5", status=2)
        self.assertIn("add --captures separate", error)

    def test_one_of_two_buses(self):
        """No option ends the pause of a bus while others go on; of both, it does."""
        for name, silent, told in (("one.log", (1,), "put what this bus has before and after it"),
                                   ("both.log", (0, 1), "use --clock-steps split:")):
            with open(self.path(name), "w", encoding="ascii") as file:
                for i in range(80000):
                    time, bus = i * 0.0005, i % 2
                    if bus in silent and 10 < time < 30:
                        continue
                    file.write(f"({time:.6f}) can{bus} {0x100 + i % 7:03X}#00\n")
            told_of, = self.ingest(self.path(name), "--val-fraction", "0")["warnings"]
            self.assertIn(told, told_of)

    def test_values(self):
        self.write("drive.log", paused(300, {}))
        for value in ("split:0", "split:-1", "split:", "split:x", "split:nan", "split:inf", "both"):
            error = self.ingest(self.path("drive.log"), "--clock-steps", value, status=2)
            self.assertIn("clock-steps", error)
        error = self.ingest(self.path("drive.log"), "--clock-steps", "split:0.0001", status=1)
        self.assertIn("a larger number in --clock-steps split:0.0001: new captures "
                      "begin at 299 pauses", error)


class Identifiers(Case):
    """Of a test, in the vocabulary of training."""
    ASC = "   {time:.6f} 1  {id:03X}             Rx   d 2 00 01\n"
    ASC_HEAD = "date Mon Sep 30 15:06:13.191 2019\nbase hex  timestamps absolute\n"

    def told(self, *words):
        result = self.ingest(self.path("logs"), "--val-fraction", "0", *words)
        return result["warnings"], result["vocabulary"]

    def test_other_buses(self):
        """The notations of two tools, and the option that makes them the same."""
        times = [1 + i * 0.001 for i in range(600)]
        self.write("logs/train_a/drive.log", times)
        self.write("logs/test_b/drive.asc", times, self.ASC, head=self.ASC_HEAD)
        (told,), known = self.told()
        self.assertRegex(told, 'test_b: 0 of its 7 identifiers are in the vocabulary, which has '
                         '"0:(1[0-9A-F]{2})" where this test has "1:\\1"; use --bus merge to ')
        option = re.search("use (--bus merge) to", told)[1]
        result = self.ingest(self.path("logs"), "--val-fraction", "0")
        self.assertEqual(result["warnings"], [told])  # found
        warnings, merged = self.told(*option.split())
        self.assertEqual((warnings, merged, known), ([], 7, 7))
        tensors = read_tensors(os.path.join(self.ingest(
            self.path("logs"), "--val-fraction", "0", *option.split())["cache"],
            "test_b.safetensors"))
        self.assertNotIn(0, tensors["node_id"][1])

    def test_other_digits(self):
        times = [1 + i * 0.001 for i in range(600)]
        self.write("logs/train_a/drive.log", times)
        self.write("logs/test_b/drive.csv", times, "{time:.6f},0{id:03X},{data:04X},0\n",
                   head="timestamp,arbitration_id,data_field,attack\n")
        (told,), _ = self.told("--identifiers", "written")
        self.assertRegex(told, '"(1[0-9A-F]{2})" where this test has "0\\1"')
        option = re.search("use (--identifiers canonical) to", told)[1]
        self.assertEqual(self.told(*option.split())[0], [])

    def test_other_vehicle(self):
        """Named; but not a test in which most frames, or most identifiers, are known."""
        times = [1 + i * 0.001 for i in range(600)]
        self.write("logs/train_a/drive.log", times)
        self.write("logs/test_b/drive.log", times, "({time:.6f}) can0 18FF0{id:03X}#{data:04X}\n")
        (told,), _ = self.told()
        self.assertIn("they may be of another vehicle", told)
        self.assertEqual(self.told("--vocab", "all")[0], [])
        self.write("logs/test_b/drive.log", times)
        with open(self.path("logs", "test_b", "drive.log"), "a", encoding="ascii") as file:
            file.writelines(f"({2 + i * 0.001:.6f}) can0 {0x400 + i:03X}#00\n" for i in range(600))
        self.assertEqual(self.told()[0], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
