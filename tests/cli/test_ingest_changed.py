"""Inputs that change while leat ingest reads them: the run waits in its scan, a file is changed,
and the run continues. It must refuse what it read, by name, and leave nothing of it.

Runs the command with fault points, build/tests/leat_held (held.py), and the one named by LEAT
(default: build/leat).
"""
import glob
import itertools
import json
import os
import shutil
import sys
import tempfile
import time
import unittest

from command import LEAT, leat
from held import Held

ROWS = 400000


def append(path):
    with open(path, "rb") as file:
        file.seek(-200, os.SEEK_END)
        line = file.read().splitlines()[-1]
    with open(path, "ab") as file:
        file.write(line + b"\n")


def cut(path):
    os.truncate(path, os.path.getsize(path) - 1000)


def overwrite(path):
    """The last digit of all becomes another; then nothing but the file's ctime tells."""
    facts = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(-2, os.SEEK_END)
        last = file.read(1)
        file.seek(-2, os.SEEK_END)
        file.write(b"1" if last != b"1" else b"2")
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def replace(path):
    facts = os.stat(path)
    shutil.copyfile(path, path + ".new")
    os.utime(path + ".new", ns=(facts.st_atime_ns, facts.st_mtime_ns))
    os.rename(path + ".new", path)


def protect(path):
    os.chmod(path, 0o444)


CHANGES = ((append, "and now has"), (cut, "and now has"), (overwrite, "later change time"),
           (replace, "different file"), (os.remove, "was removed"), (protect, None))


class Changed(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="leat-changed-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def good(self, *words):
        done = leat(*words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def run_changed(self, words, source, out, scanning, scanned, change, opened):
        """Runs the command, and `change` while a file `scanning` is there and none `scanned`:
        before the source is opened, or while it is read."""
        shutil.rmtree(out, ignore_errors=True)
        with Held([*words, "-o", out, "--threads", "1"], os.path.join(out, scanning),
                  call=12 if opened else 1) as process:
            self.assertEqual(glob.glob(os.path.join(out, scanned)), [])
            files = [os.readlink(path) for path in glob.glob(f"/proc/{process.pid}/fd/*")]
            self.assertEqual(source in files, opened)
            change(source)
            told = process.rest()
        return process.returncode, *told

    def check(self, words, source, out, scanning, scanned):
        shutil.copyfile(source, source + ".kept")
        for (change, says), opened in itertools.product(CHANGES, (False, True)):
            if os.path.exists(source):
                os.chmod(source, 0o644)
            shutil.copy2(source + ".kept", source)
            time.sleep(0.02)  # the clock of files may be that coarse
            status, _, stderr = self.run_changed(words, source, out, scanning, scanned, change,
                                                 opened)
            if says is None:
                self.assertEqual((status, stderr), (0, ""))
                continue
            self.assertEqual(status, 1, change)
            self.assertRegex(stderr, r"\Aleat: .*while it was read")
            for word in (says, source, "run again once nothing writes to it, or on a copy",
                         str(os.path.getsize(source + ".kept"))):
                self.assertIn(word, stderr)
            self.assertEqual(glob.glob(os.path.join(out, "*")) +
                             glob.glob(os.path.join(out, ".*")), [], change)

    def test_probes(self):
        source = self.path("x.csv")
        self.good("synth", "probes", "-n", str(ROWS), "-p", "400", "-o", source)
        words, out = ("ingest", "probes", source), self.path("data")
        self.check(words, source, out, ".leat/temp/spill_000_00", ".leat/state.json")
        # nothing of a run that was refused is resumed
        done = leat(*words, "-o", self.path("again"), "--resume", status=0)
        self.assertIn("nothing to resume", done.stderr)
        with open(os.path.join(out, "manifest.json"), encoding="ascii") as one:
            with open(self.path("again", "manifest.json"), encoding="ascii") as other:
                self.assertEqual(json.load(one), json.load(other))

    def test_can(self):
        self.good("synth", "can", "--vehicles", "1", "--frames", str(ROWS), "--attacks", "dos",
                  "-o", self.path("logs"))
        source = sorted(glob.glob(self.path("logs", "train_*", "*.csv")))[0]
        self.check(("ingest", "can", self.path("logs")), source, self.path("caches"),
                   ".leat-*/temp/*", ".leat-*/scan.state")


if __name__ == "__main__":
    if not os.access(LEAT, os.X_OK):
        print(f"skipped: {LEAT} is not built")
        sys.exit(77)
    unittest.main()
