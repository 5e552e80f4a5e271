"""leat coordinate --serve-data, and leat work without --data: the weights of leat train, what is
said and sent, an upload that is killed, and runs that do not keep their data in the database.
"""
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import server
from server import Proxy, Server
from runs import Command, OnServer
from test_idle import Listener

import folder
import image_set
from command import BUILD, LIMIT, leat

server.require()

MIB = 1 << 20
IMAGES, IMAGE_BYTES, UNIT_SIZE, UNITS = 64, 64 * 64 * 3, 32, 3
SMALL = ["--width", "2", "--latent", "4", "--units", UNITS, "--unit-size", UNIT_SIZE,
         "--micro-batch", "8", "--sample-every", "0", "--codec-up", "bf16", "--codec-down", "bf16",
         "--threads", "1"]


class Killer(Proxy):
    """Kills a process when it stores a part of the data, which does not reach the server."""

    def __init__(self, port, number):
        self.left, self.process = number, None
        super().__init__(port)

    def heard(self, data, up):
        if up and b"select leat.put_data" in data:
            self.left -= 1
            if self.left == 0:
                self.process.kill()
                raise OSError


class WithoutData(folder.Folder):
    @classmethod
    def setUpClass(cls):
        cls.data = tempfile.mkdtemp(prefix="leat-crowd-")
        cls.faces = f"{cls.data}/faces"
        image_set.make(cls.faces, IMAGES, 64)
        image_set.make(f"{cls.data}/others", 3, 64)
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        shutil.rmtree(cls.data)

    def setUp(self):
        super().setUp()
        self.database = self.server.database()

    def coordinate(self, *words, url=None):
        return Command("coordinate", self.at("run"), "--db", url or self.server.url(self.database),
                       "--data", self.faces, *SMALL, "--poll-ms", "5", "--json", *words)

    def work(self, *words, url=None, poll_ms=60000):
        return Command("work", url or self.server.url(self.database, "ann"), "--key",
                       self.at("machine.key"), "--threads", "1", "--poll-ms", poll_ms, "--json",
                       "--on-battery", "work", *words)

    def alone(self, steps):
        """The state that leat train computes."""
        return json.loads(leat("train", "dcgan", self.faces, "-o", self.at("alone"), "--steps",
                               steps, *SMALL, "--json", status=0).stdout)["state"]

    def fetched(self, proxy):
        """How often samples were asked for, and the bytes of the answers."""
        marks = proxy.statements + [("", proxy.up, proxy.down)]
        asked = [(marks[i][2], marks[i + 1][2]) for i in range(len(marks) - 1)
                 if "leat.samples" in marks[i][0]]
        return len(asked), sum(after - before for before, after in asked)

    def test_fetched(self):
        """Each image of a unit is fetched once, in parts; a machine with the data fetches none."""
        steps, most = 4, 10
        alone = self.alone(steps)
        for more, calls in (["--data", self.faces], 0), ([], -(-UNIT_SIZE // most)):
            with self.subTest(more=more), \
                 self.coordinate("--steps", steps, "--serve-data", "--part-bytes",
                                 most * IMAGE_BYTES + 7) as coordinator:
                coordinator.until("is open at step 0 of 4").until("to lend a machine")
                self.assertIn(f"the database: {IMAGES} images, 0.8 MB\n", coordinator.said)
                self.assertRegex(coordinator.said, r"(?m)\?run=run&sslmode=disable'$")
                proxy = Listener(self.server.port)
                with self.work(*more, url=proxy.url(self.database, "ann")) as worker:
                    report = json.loads(worker.end())
                    self.assertEqual("come from the database" in worker.said, not more)
                state = json.loads(coordinator.end())["state"]
            proxy.stop()
            shutil.rmtree(self.at("run"))
            self.server.sql("drop schema leat cascade", database=self.database)
            self.assertEqual((state, report["accepted"]), (alone, steps * UNITS))
            count, size = self.fetched(proxy)
            claims = proxy.count("leat.claim(") + proxy.count("leat.claim_ahead(")
            print(f"{count} calls, {size} bytes for {report['accepted']} units of "
                  f"{UNIT_SIZE * IMAGE_BYTES} bytes; {claims} questions for units", flush=True)
            self.assertEqual(count, calls * report["accepted"])
            images = report["accepted"] * UNIT_SIZE * IMAGE_BYTES if calls else 0
            self.assertTrue(images <= size <= 1.01 * images, (images, size))

    def test_killed(self):
        """kill -9 while the data is stored: the next coordinator stores the rest."""
        proxy = Killer(self.server.port, 5)
        self.addCleanup(proxy.stop)
        words = ["--steps", 3, "--serve-data", "--part-bytes", 4096, "--hold-ms", 1000]
        with self.coordinate(*words, url=proxy.url(self.database)) as first:
            proxy.process = first.process
            first.end(-9)
        self.assertEqual(self.server.sql("select count(*), max(sample) from leat.data_1",
                                         database=self.database), "4|3")
        with self.coordinate(*words, "--resume") as second:
            second.until("4 of them are there").until("is open")
            with self.work() as worker:
                worker.end()
            self.assertEqual(json.loads(second.end())["state"], self.alone(3))
        self.assertEqual(self.server.sql("select count(*) from leat.data_1",
                                         database=self.database), str(IMAGES))

    def test_refused(self):
        note = "download the faces at example.org"
        with self.coordinate("--steps", 3, "--data-note", note) as coordinator:
            coordinator.until("to lend a machine")
            self.assertRegex(coordinator.said, r"(?m) --data DIR$")
            with self.work() as worker:
                worker.end(2)
            self.assertIn('the run "run" does not keep its data set in the database; use --data DIR'
                          f': {note}\n', worker.said)
            with self.work("--data", f"{self.data}/others") as worker:
                worker.end(2)
            self.assertIn("its data set (fingerprint) is", worker.said)
            self.assertIn(note, worker.said)
            coordinator.end(1, 2)
        self.server.sql("update leat.unit set unit = unit + 3", database=self.database)
        with self.work("--data", f"{self.data}/faces") as worker:
            worker.end(1)
        self.assertIn("gives unit 3 of step 1, which the run does not have", worker.said)
        self.server.sql("update leat.run set steps = 1::bigint << 41", database=self.database)
        with self.work("--data", f"{self.data}/faces") as worker:
            worker.end(2)
        self.assertIn(f"it has {1 << 41} steps, and a run with its settings and data has 1 to "
                      f"{1 << 40}\n", worker.said)
        self.server.sql("alter function leat.register rename to old", database=self.database)
        with self.work() as worker:
            worker.end(1)
        self.assertIn("is that of another version of leat", worker.said)

    def continued(self, step, steps):
        """The run continues, as its database says, with its weights as they are."""
        self.server.sql("delete from leat.unit",
                        f"update leat.run set step = {step}, steps = {steps}",
                        "insert into leat.unit (run, step, unit) "
                        f"select id, {step}, 0 from leat.run", database=self.database)

    def test_a_run_that_is_continued(self):
        """A worker learns how many steps it has by then, as far as it has counted its memory."""
        with self.coordinate("--steps", 3, "--hold-ms", 3600000) as coordinator:
            coordinator.until("is open")
            coordinator.process.kill()
            coordinator.end(-9)
        self.server.sql("delete from leat.unit", database=self.database)
        with self.work("--data", self.faces, poll_ms=5) as worker:
            worker.until("works on")
            self.continued(4, 5)
            worker.until('"run" had 3 steps; asks how many it has now')
            while worker.alive() and self.server.sql(
                    "select count(*) from leat.unit where step = 4 and state = 'done'",
                    database=self.database) == "0":
                time.sleep(0.02)
            self.continued(7, 8)
            worker.end(2)
        self.assertIn('"run" has 8 steps now, and this process has counted its memory for up to 6; '
                      "start it again to work on it\n", worker.said)

    def test_other_data(self):
        """Data that is given is used and compared, also where the run would give its own."""
        with self.coordinate("--steps", 1, "--serve-data") as coordinator:
            coordinator.until("is open")
            with self.work("--data", f"{self.data}/others") as worker:
                worker.end(2)
            self.assertIn("its data set (fingerprint) is", worker.said)
            with self.work("--memory", "1M") as worker:
                worker.end(1)
            self.assertIn("--memory 1M is too low", worker.said)
            with self.work() as worker:
                worker.end()
            coordinator.end()
        self.assertTrue(os.path.exists(self.at("run", "report.html")))


class Memory(OnServer):
    """The limit that a refusal names is enough: leat_counted counts every byte."""
    images, settings = 16, ()

    def work(self, url, memory, *words):
        counted = f"{self.data}/peak"
        done = subprocess.run(
            [f"{BUILD}/tests/leat_counted", "work", url, "--key", f"{self.data}/key", "--threads",
             "1", "--on-battery", "work", "--once", "--memory", f"{memory}M", *words],
            capture_output=True, text=True, timeout=LIMIT, check=False,
            env={**os.environ, "LEAT_COUNTED_TO": counted})
        with open(counted, encoding="ascii") as file:
            return done, int(file.read())

    @unittest.skipIf(os.environ.get("LEAT_SANITIZE"), "a sanitizer has memory of its own")
    def test_the_named_limit_is_enough(self):
        name = self.server.database()
        with Command("coordinate", f"{self.data}/run", "--db", self.server.url(name), "--data",
                     self.faces, "--width", "48", "--latent", "8", "--units", "3", "--unit-size",
                     "2", "--micro-batch", "2", "--sample-every", "0", "--steps", "5",
                     "--serve-data", "--threads", "1", "--part-bytes", "65536") as coordinator:
            coordinator.until("is open at step 0 of 5")
            url = self.server.url(name, "ann")
            run = json.loads(leat("status", "--db", url, "--json", status=0).stdout)
            self.assertEqual(run["serves_data"], True)
            for words in ((), ("--data", self.faces)):
                refused, _ = self.work(url, 1, *words)
                self.assertEqual(refused.returncode, 1, refused.stderr)
                least = int(re.search(r"use --memory (\d+)M", refused.stderr)[1])
                done, peak = self.work(url, least, *words)
                self.assertEqual(done.returncode, 0, done.stderr)
                print(f"--memory {least}M named, {peak / MIB:.1f} MiB taken", flush=True)
                self.assertLessEqual(peak, least * MIB)
                # a limit without weights and results is not
                buffers = run["weights_bytes"] + 2 * run["payload_bytes"]
                self.assertGreater(buffers, 16 * MIB)
                self.assertGreater(peak, least * MIB - buffers)


if __name__ == "__main__":
    unittest.main()
