"""scripts/demo-class.sh in a short form: a class of two lessons on one machine, and what is left of
it when it is stopped in the middle, which is nothing. A class that still runs is not disturbed.
"""
import glob
import os
import re
import signal
import stat
import subprocess
import unittest

from server import require
from listening import use_memory

import folder
from command import LEAT, LIMIT, leat

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/demo-class.sh")
STEPS = 40  # so many that none of the thresholds is missed


def setUpModule():
    use_memory()


class Class(folder.Folder):
    def setUp(self):
        super().setUp()
        os.chmod(self.top, 0o755)  # the server's user passes through it
        self.photos, self.out = self.at("photos.zip"), self.at("out")
        leat("synth", "images", "--count", 40, "-o", self.photos, status=0)

    def start(self):
        return subprocess.Popen(
            [SCRIPT, str(STEPS)], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True,
            env={**os.environ, "LEAT": os.path.abspath(LEAT), "PHOTOS": self.photos,
                 "OUT": self.out})

    def left(self):
        """Processes, the server's included, that were started for it."""
        words = []
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                with open(path, "rb") as file:
                    words.append(file.read().replace(b"\0", b" ").decode(errors="replace"))
            except OSError:
                pass
        return [line for line in words if self.out in line]

    def test_two_lessons(self):
        with self.start() as demo:
            said = demo.communicate(timeout=5 * LIMIT)[0]
        self.assertEqual(demo.returncode, 0, said)
        states = re.findall(r"^of (?:the class|one machine) +([0-9a-f]{64})$", said, re.MULTILINE)
        self.assertEqual(len(states), 2, said)
        self.assertEqual(states[0], states[1])
        self.assertRegex(said, rf"stopped after step \d+ of {STEPS}; workers are left running\n")
        self.assertIn("== lesson 2: the coordinator", said)
        self.assertIn("between lessons nobody can be invited", said)
        for name in ("ann", "bob", "carol", "dave"):
            ticket = f"{self.out}/{name}.txt"
            self.assertEqual(stat.S_IMODE(os.stat(ticket).st_mode), 0o600)
            with open(f"{self.out}/{name}.log", encoding="utf-8") as file:
                words = file.read()
            # who was killed has begun twice, with one ticket; carol perhaps too late
            most = 1 + (name in ("bob", "carol"))
            self.assertIn(words.count('works on "run"'), (most, 1 if name == "carol" else most))
        self.assertTrue(os.path.getsize(f"{self.out}/samples.png"))
        pages = glob.glob(f"{self.out}/page.png") + glob.glob(f"{self.out}/page/facts.json")
        self.assertEqual(len(pages), 1, said)
        self.assertEqual(self.left(), [])

    def test_stopped(self):
        """By a signal to the script alone, while all of them run."""
        with self.start() as demo:
            lines = []
            for line in demo.stdout:
                lines.append(line)
                if line.startswith("http://") or "no page" in line:
                    break
            self.assertTrue(any("demo" not in line and self.out in line for line in self.left()))
            demo.send_signal(signal.SIGTERM)
            lines += demo.communicate(timeout=LIMIT)[0]
        self.assertEqual(demo.returncode, 143, "".join(lines))
        self.assertEqual(self.left(), [])

    def until(self, demo, text):
        lines = []
        while not lines or text not in lines[-1]:
            lines.append(demo.stdout.readline())
            self.assertNotEqual(lines[-1], "", "".join(lines))

    def refused(self):
        """A second class in the folder: what it says."""
        with self.start() as other:
            said = other.communicate(timeout=LIMIT)[0]
        self.assertEqual(other.returncode, 1, said)
        self.assertIn(f'a class in the folder "{self.out}" is still running', said)
        return [int(number) for number in re.search(r"\(kill((?: \d+)+)\)", said)[1].split()]

    def test_nobody_reads(self):
        """As with | head. Before it ends, and for what is left of one that was killed, the lock."""
        with self.start() as demo:
            self.until(demo, "four machines")
            self.assertIn(demo.pid, self.refused())
            self.assertEqual(demo.poll(), None)
            self.assertTrue(os.path.exists(f"{self.out}/run/database/invite.url"))
            demo.stdout.close()
            self.assertEqual(demo.wait(timeout=2 * LIMIT), 141)
        self.assertEqual(self.left(), [])
        with self.start() as demo:
            self.until(demo, "to invite a volunteer")
            demo.kill()
        numbers = self.refused()
        self.assertNotIn(demo.pid, numbers)
        self.assertTrue(os.path.exists(f"{self.out}/run/database/invite.url"))
        for number in numbers:
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                pass
        with self.start() as demo:  # waits for the server of the coordinator that was killed
            self.until(demo, "ingest images")
            demo.send_signal(signal.SIGTERM)
            demo.communicate(timeout=LIMIT)
        self.assertEqual(self.left(), [])

    def test_refused(self):
        for words in (["11"], ["x"], ["20", "20"]):
            done = subprocess.run([SCRIPT, *words], capture_output=True, text=True, check=False,
                                  timeout=LIMIT)
            self.assertEqual(done.returncode, 2, words)
        # a folder with files of somebody else, which stay
        os.mkdir(self.out)
        kept = f"{self.out}/mine.png"
        with open(kept, "wb"):
            pass
        with self.start() as demo:
            said = demo.communicate(timeout=LIMIT)[0]
        self.assertEqual(demo.returncode, 1)
        self.assertIn("has files that this script did not write; name another one", said)
        self.assertTrue(os.path.exists(kept))


if __name__ == "__main__":
    require()
    unittest.main()
