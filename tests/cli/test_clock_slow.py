"""Clocks that are set back under a running leat: the time of day by hours, as when a clock is put
right, and, which no machine should do, the clock for durations too. Output is what it is
without, numbers are numbers, and nothing waits for the old time to come again. And files from times
before 1970 and far ahead.

Builds clock_steps.c with cc; skipped where there is none.
"""
import hashlib
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LEAT = os.environ.get("LEAT", os.path.join(ROOT, "build", "leat"))
SHIM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clock_steps.c")
CLOCKS = (None, "wall", "steady")


def not_a_number(text):
    raise AssertionError(f"{text} in JSON")


def durations(value, name=""):
    """Every number of a JSON value whose name has seconds in it."""
    if isinstance(value, dict):
        return [each for key, item in value.items() for each in durations(item, key)]
    return [value] if "seconds" in name and isinstance(value, (int, float)) else []


class Clocks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="leat-clock-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.shim = cls.path("clock_steps.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", cls.shim, SHIM], check=True)
        cls.good(None, "synth", "probes", "-n", "60000", "-o", cls.path("x.csv"))
        cls.good(None, "synth", "probes", "-n", "60000", "-o", cls.path("x.parquet"))
        cls.good(None, "synth", "probes", "-n", "600000", "-o", cls.path("long.csv"))
        cls.good(None, "synth", "can", "--vehicles", "2", "--frames", "60000", "-o",
                 cls.path("logs"))

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    @classmethod
    def environment(cls, clocks):
        return dict(os.environ, **{"LD_PRELOAD": cls.shim, "LEAT_CLOCKS": clocks} if clocks else {})

    @classmethod
    def good(cls, clocks, *words):
        done = subprocess.run([LEAT, *words], capture_output=True, text=True, timeout=100,
                              check=False, env=cls.environment(clocks))
        if done.returncode != 0:
            raise AssertionError(f"{clocks}: {words}: {done.stderr}")
        return done.stdout

    def json(self, clocks, *words):
        """What a command says in JSON; with a clock that only goes forward no time is negative."""
        found = json.loads(self.good(clocks, *words, "--json"), parse_constant=not_a_number)
        if clocks != "steady":
            self.assertTrue(all(each >= 0 for each in durations(found)), found)
        return found

    def digest(self, *names):
        """Of all files of a folder that clocks have no part in."""
        digest = hashlib.sha256()
        for at, folders, files in os.walk(self.path(*names)):
            folders.sort()
            for name in sorted(set(files) - {"run.json"}):
                with open(os.path.join(at, name), "rb") as file:
                    digest.update(name.encode() + file.read())
        return digest.hexdigest()

    def test_probes(self):
        for source in ("x.csv", "x.parquet"):
            found = []
            for clocks in CLOCKS:
                self.json(clocks, "ingest", "probes", self.path(source), "-o", self.path("data"),
                          "--replace", "--memory", "256M")
                self.json(clocks, "inspect", "--verify", self.path("data"))
                made = self.json(clocks, "batches", self.path("data"), "--time", "--batch", "8",
                                 "--steps", "0:40")
                rate = made["time"]["tokens_per_second"]
                self.assertGreaterEqual(rate, 0)
                text = self.good(clocks, "batches", self.path("data"), "--hash", "--steps", "0:40")
                found.append((self.digest("data"), text, made["counters"]["tokens"]))
            self.assertEqual(found[0], found[1], source)
            self.assertEqual(found[0], found[2], source)

    def test_graphs(self):
        found = []
        for clocks in CLOCKS:
            name = f"caches-{clocks}"
            self.json(clocks, "ingest", "can", self.path("logs"), "-o", self.path(name))
            made = self.json(clocks, "batches", self.path(name), "--time", "--steps", "0:40")
            text = self.good(clocks, "batches", self.path(name), "--hash", "--steps", "0:40")
            found.append((self.digest(name), text, made["counters"]["graphs"]))
        self.assertEqual(found[0], found[1])
        self.assertEqual(found[0], found[2])

    def test_progress(self):
        """The line on a terminal has no rate that is none."""
        for clocks in CLOCKS:
            ours, theirs = pty.openpty()
            env = dict(self.environment(clocks), TERM="xterm")
            with subprocess.Popen([LEAT, "ingest", "probes", self.path("long.csv"), "-o",
                                   self.path("shown"), "--replace"], stdout=theirs, stderr=theirs,
                                  env=env) as process:
                os.close(theirs)
                text = b""
                try:
                    while chunk := os.read(ours, 65536):
                        text += chunk
                except OSError:  # how a terminal ends
                    pass
                self.assertEqual(process.wait(60), 0)
            os.close(ours)
            text = text.decode()
            self.assertIn("reading: ", text)
            self.assertIn("600,000 records of 1 file", text)
            self.assertIsNone(re.search(r"\bnan\b|\binf|-[\d,.]+ \w*/s|-[\d,.]+ \w+ left", text),
                              text)

    def test_progress_in_a_log(self):
        """A line a minute where stderr is not a terminal, unless --quiet."""
        words = [LEAT, "ingest", "probes", self.path("long.csv"), "-o", self.path("logged"),
                 "--replace", "--threads", "1"]
        for clocks, more, shown in (("fast", (), True), ("fast", ("--quiet",), False),
                                    (None, (), False)):
            done = subprocess.run([*words, *more], capture_output=True, text=True, timeout=100,
                                  check=False, env=self.environment(clocks))
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = re.findall(r"^leat: (?:reading|writing): .*memory .*$", done.stderr, re.M)
            self.assertEqual(lines != [], shown, done.stderr)
            self.assertEqual(len(lines), done.stderr.count("\n"), done.stderr)

    def test_ages_of_files(self):
        """Inputs older than 1970, or from the future, are inputs like others."""
        for age in (-5000, 0, 1 << 33):
            os.utime(self.path("x.csv"), (age, age))
            self.json(None, "ingest", "probes", self.path("x.csv"), "-o", self.path("aged"),
                      "--replace")
            again = self.json(None, "ingest", "probes", self.path("x.csv"), "-o",
                              self.path("aged"), "--resume")
            self.assertTrue(again["was_complete"])
            for at, _, names in os.walk(self.path("logs")):
                for name in names:
                    os.utime(os.path.join(at, name), (age, age))
            cache = self.json(None, "ingest", "can", self.path("logs"), "-o",
                              self.path("aged-cache"))
            self.assertEqual(cache["found"], age != -5000)
        self.assertEqual(len(os.listdir(self.path("aged-cache"))), 1)


if __name__ == "__main__":
    if not os.access(LEAT, os.X_OK) or shutil.which("cc") is None:
        print(f"skipped: {LEAT} or cc is not there")
        sys.exit(77)
    if os.environ.get("LEAT_SANITIZE"):
        print("skipped: a sanitizer wants to be loaded first")
        sys.exit(77)
    unittest.main()
