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


if __name__ == "__main__":
    unittest.main(verbosity=2)
