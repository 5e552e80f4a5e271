"""leat coordinate --db local: the weights are those of leat train, whatever is killed on the way,
and no server outlives the command. What the server is, and what it refuses:
tests/crowd/test_private.c.
"""
import json
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
import folder
from server import require
from command import LIMIT, leat
from runs import Command

STEPS = 3
SMALL = ["--width", "4", "--latent", "8", "--unit-size", "8", "--micro-batch", "8", "--units", "3",
         "--steps", str(STEPS), "--codec-up", "bf16", "--codec-down", "bf16", "--threads", "1"]
CROWD = ["--poll-ms", "10", "--hold-ms", "1000"]

DATA = WANTED = None


def setUpModule():
    global DATA, WANTED
    if "TMPDIR" not in os.environ and os.access("/dev/shm", os.W_OK | os.X_OK) and \
            shutil.disk_usage("/dev/shm").free > 512 << 20:
        tempfile.tempdir = "/dev/shm"  # servers sync often, which costs nothing in memory
    DATA = tempfile.mkdtemp(prefix="leat-coordinate-")
    leat("synth", "images", "-n", "40", "-o", f"{DATA}/jpeg", status=0)
    leat("ingest", "images", f"{DATA}/jpeg", "-o", f"{DATA}/faces", status=0)
    done = leat("train", "dcgan", f"{DATA}/faces", "-o", f"{DATA}/alone", *SMALL, "--json",
                status=0)
    WANTED = json.loads(done.stdout)["state"]


def tearDownModule():
    shutil.rmtree(DATA)


class Ended:
    """Waits for the end of a process that is not a child of this one."""

    def __init__(self, number):
        self.file = os.pidfd_open(number)

    @classmethod
    def of(cls, number):
        try:
            return cls(number) if number else None
        except ProcessLookupError:
            return None

    def wait(self):
        done = select.select([self.file], [], [], LIMIT)[0]
        os.close(self.file)
        if not done:
            raise AssertionError("the server does not end")


class Coordinator(Command):
    def __init__(self, run, *more):
        super().__init__("coordinate", run, "--db", "local", "--data", f"{DATA}/faces", *SMALL,
                         *CROWD, "--json", *more)
        self.run, self.url, self.server = run, None, None

    def begin(self):
        """Until it says how to join it."""
        self.until("' --data DIR\n")
        self.url = re.search(r"leat work '(postgresql://worker:\w+@127\.0\.0\.1:\d+/leat"
                             r"\?run=.*)' --data DIR", self.said).group(1)
        self.find_server()
        return self

    def find_server(self):
        with open(f"{self.run}/database/data/postmaster.pid", encoding="utf-8") as file:
            self.server = int(file.readline())

    def work(self, *more):
        return leat("work", self.url, "--data", f"{DATA}/faces", "--key", f"{DATA}/key",
                    "--threads", "1", "--poll-ms", "10", "--on-battery", "work", *more)

    def kill_with_server(self):
        """It and its server have ended, whatever happens."""
        server = Ended.of(self.server)
        self.kill()
        if server:
            server.wait()


class Local(folder.Folder):
    def setUp(self):
        super().setUp()
        os.chmod(self.top, 0o755)  # the server's user passes through it

    def start(self, run, *more):
        process = Coordinator(run, *more)
        self.addCleanup(process.kill_with_server)
        return process.begin()

    def finish(self, process):
        """A worker ends the run; its weights are those of one machine."""
        worker = process.work()
        self.assertEqual(worker.returncode, 0, worker.stderr)
        result = json.loads(process.end())
        self.assertEqual(result["state"], WANTED)
        self.assertFalse(os.path.exists(f"/proc/{process.server}"))

    def units(self, process, count):
        for _ in range(count):
            done = process.work("--once")
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_kills_and_a_move(self):
        """The coordinator, the server, both; then the folder moves."""
        run = self.at("a run: 'quoted' $x")
        first = self.start(run)
        self.assertIn("run=a-run---quoted---x", first.url)
        self.units(first, 2)
        server = Ended(first.server)
        first.kill()
        server.wait()  # without leat it ends by itself

        second = self.start(run, "--resume")
        if "is taken by another program" not in second.said:
            self.assertEqual(second.url, first.url)  # a worker that waits finds it again
        self.units(second, 2)
        server = Ended(second.server)
        os.kill(second.server, signal.SIGKILL)
        server.wait()
        # the coordinator starts the server again, and a worker reaches it by the same line
        second.until("started again")
        self.units(second, 1)
        # both: one that is stopped does not start the other again
        second.find_server()
        server = Ended(second.server)
        second.process.send_signal(signal.SIGSTOP)
        os.kill(second.server, signal.SIGKILL)
        server.wait()
        second.kill()

        os.rename(run, self.at("moved"))
        last = self.start(self.at("moved"), "--resume", "--name", "a-run---quoted---x")
        self.finish(last)

    def test_signals_stop_the_server(self):
        """Ended by a signal, the command leaves no server; meanwhile no second one has the run."""
        run = self.at("run")
        for number, resume in ((signal.SIGTERM, []), (signal.SIGINT, ["--resume"])):
            process = self.start(run, *resume)
            second = leat("coordinate", run, "--db", "local", "--data", f"{DATA}/faces", *SMALL,
                          "--resume")
            self.assertEqual(second.returncode, 1)
            self.assertIn("another process", second.stderr)
            process.end(1, number)
            self.assertFalse(os.path.exists(f"/proc/{process.server}"))
            self.assertFalse(os.path.exists(f"{run}/database/data/postmaster.pid"))

    def test_older_schema(self):
        """A private database of another version: what is printed loses nothing."""
        run = self.at("my run")
        process = self.start(run)
        self.units(process, 4)
        with open(f"{run}/database/local.json", encoding="utf-8") as file:
            password = json.load(file)["password_owner"]
        url = re.sub("worker:[^@]*@", f"owner:{password}@", process.url).split("?")[0]
        subprocess.run([shutil.which("psql"), "-XAtq", "-c", "update leat.version set version = 3",
                        url], check=True)
        process.end(1, signal.SIGINT)
        refused = Coordinator(run, "--resume")
        self.addCleanup(refused.kill_with_server)
        refused.end(1)
        remove, line = re.search(r"version 3, this leat needs \d+; nothing is lost if you run: "
                                 r"(.*); and then continue: leat (.*)\n", refused.said).groups()
        subprocess.run(remove, shell=True, check=True)
        words = shlex.split(line)
        self.assertEqual(words, ["coordinate", run, "--db", "local", "--resume", "--data", "DIR"])
        self.finish(self.start(run, "--resume"))

    def test_refused_before_anything_is_written(self):
        """The error names a folder that is closed to the server's user, and RUN is not there."""
        if os.geteuid() != 0:
            self.skipTest("an ordinary user's server is the user's own")
        os.chmod(self.top, 0o700)
        done = leat("coordinate", self.at("run"), "--db", "local", "--data", f"{DATA}/faces",
                    *SMALL)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f'the folder "{self.top}" is closed to user', done.stderr)
        self.assertFalse(os.path.exists(self.at("run")))

    def test_wrong_data(self):
        """An error before the database is needed does not create one."""
        done = leat("coordinate", self.at("run"), "--db", "local", "--data", self.at("none"),
                    *SMALL)
        self.assertEqual(done.returncode, 1)
        self.assertFalse(os.path.exists(self.at("run")))


if __name__ == "__main__":
    require()
    unittest.main()
