"""The first signal stops a command at any moment from its first call into the file system on, the
second ends it at once; what a stopped run says, and what it leaves out.

Runs the command with fault points, build/tests/leat_held (held.py), and the one named by LEAT
(default: build/leat).
"""
import os
import shutil
import signal
import sys
import tempfile
import unittest

from command import LEAT, LIMIT, leat
from folder import Folder
from held import Held

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
DATA = None  # a folder with files to ingest, and what leat makes of them
AT_ONCE = "/"  # is there from the first call into the file system on


def setUpModule():
    global DATA
    DATA = tempfile.mkdtemp(prefix="leat-stopped-")
    for words in ("synth probes -n 3000 -o pings.csv", "ingest probes pings.csv -o set",
                  "synth can --frames 20000 --vehicles 1 -o logs",
                  "ingest can logs -o caches", "synth images --count 80 -o photos",
                  "ingest images photos -o faces"):
        leat(*words.split(), cwd=DATA, status=0)
    (cache,) = os.listdir(os.path.join(DATA, "caches"))
    os.rename(os.path.join(DATA, "caches", cache), os.path.join(DATA, "cache"))


def tearDownModule():
    shutil.rmtree(DATA)


class Stopped(Folder):
    def stopped(self, *words, at=AT_ONCE, number=signal.SIGINT):
        """What a command says that knows of a signal before the call at which `at` is there."""
        with Held(words, at, cwd=DATA) as process:
            process.stop(number)
            out, err = process.rest()
        self.assertEqual(process.returncode, 1, (words, out, err))
        return out, err

    def test_before_anything_is_opened(self):
        out = self.at("out")
        for line, says in (
                (f"ingest probes pings.csv -o {out}", "while reading; the scan is not complete"),
                (f"ingest can logs -o {out}", "while hashing inputs; there is no complete scan"),
                (f"ingest images photos -o {out}", "while reading after 0 of 80 files"),
                (f"train dcgan faces -o {out} --epochs 1", "while measuring images"),
                ("batches set --hash", "before step 0 of 0:10"),
                ("batches cache --hash", "before step 0 of 0:10"),
                ("batches faces --hash", "before step 0 of 0:10"),
                (f"batches cache --stage {out}", "while staging"),
                (f"batches set --report {out}", "while counting"),
                (f"batches cache --report {out}", "while counting batches"),
                ("inspect set", "while reading rows"), ("inspect set --verify", "while verifying"),
                ("inspect cache", "while reading labels"), ("inspect faces", "while reading")):
            for number in SIGNALS:
                with self.subTest(line=line, number=number):
                    told, said = self.stopped(*line.split(), number=number)
                    self.assertEqual(told, "")
                    self.assertRegex(said, rf"(?m)^leat: stopped {says}.*\n\Z")
                    shutil.rmtree(out, ignore_errors=True)

    def test_state_of_a_run_that_made_no_step(self):
        for source in ("set", "cache", "faces"):
            state = self.at(f"{source}.json")
            told, said = self.stopped("batches", source, "--steps", "0:10", "--save-state", state,
                                      number=signal.SIGTERM)
            self.assertRegex(told, "(?m)^steps      ")
            self.assertEqual(said, "leat: stopped before step 0 of 0:10; use --resume to "
                                   f"continue from the state in {state}\n")
            self.assertEqual(leat("batches", source, "--resume", state, "--steps", ":3", "--hash",
                                  cwd=DATA, status=0).stdout,
                             leat("batches", source, "--steps", "0:3", "--hash", cwd=DATA).stdout)

    def test_no_hash(self):
        """A hash of fewer steps must not pass for that of all."""
        for source in ("set", "cache"):
            for more in ((), ("--json",)):
                told, said = self.stopped("batches", source, "--steps", "0:1000000000", "--hash",
                                          *more)
                self.assertEqual(told, "")
                self.assertRegex(said, r"\Aleat: stopped before step \d+ of 0:1000000000\n\Z")

    def test_an_ingest_says_how_to_go_on(self):
        out = self.at("data")
        words = ("ingest", "probes", "pings.csv", "-o", out, "--threads", "1", "--spill", "always")
        for at, says in (("temp", "the scan is not complete, so --resume starts from the "
                                  "beginning"),
                         ("state.json", "use --resume to continue after the scan, or --replace to "
                                        "start over")):
            told, said = self.stopped(*words, "--replace", at=f"{out}/.leat/{at}")
            self.assertEqual(told, "")
            self.assertRegex(said, rf"\Aleat: stopped while \w+; {says}\n\Z")
        leat(*words, "--resume", cwd=DATA, status=0)

    def test_second_signal_ends_at_once(self):
        draft = self.at(".x.csv.leat-*.tmp")
        for number in SIGNALS:
            with Held(["synth", "probes", "-n", "3000", "-o", self.at("x.csv")], draft) as process:
                process.stop(signal.SIGTERM)
                process.send_signal(number)
                process.wait(timeout=LIMIT)
            self.assertEqual(process.returncode, -number)
            self.assertFalse(os.path.exists(self.at("x.csv")))


if __name__ == "__main__":
    if not os.access(LEAT, os.X_OK):
        print(f"skipped: {LEAT} is not built")
        sys.exit(77)
    unittest.main()
