"""A coordinator and workers as processes, and a server for the tests of a class."""
import itertools
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from server import Proxy, Server

import image_set
from command import BUILD, LEAT, LIMIT, leat

SMALL = ["--width", "4", "--latent", "8", "--units", "3", "--unit-size", "8", "--micro-batch", "8",
         "--sample-every", "0", "--codec-up", "bf16", "--codec-down", "bf16", "--threads", "1"]
# A process that is killed holds run and unit for a while; that is what a test waits for.
TIMES = ["--hold-ms", "1000", "--lease-ms", "1000", "--renew-ms", "300", "--silent-ms", "600",
         "--poll-ms", "5", "--part-bytes", "65536"]

# Each time that a unit is counted, a row of a table that the test adds.
COUNT = ("create table public.counted (step bigint, unit integer)",
         "create function public.count() returns trigger language plpgsql as $$ begin "
         "insert into public.counted values (new.step, new.unit); return null; end $$",
         "create trigger count after update on leat.unit for each row when (old.state <> "
         "'confirmed' and new.state = 'confirmed') execute function public.count()")


# leat work as a program of its own
WORKER = os.environ.get("LEAT_WORKER", os.path.join(BUILD, "leat-worker"))


class Command:
    """A command that goes on. Its messages are read as they come, so that no pipe is ever full."""

    def __init__(self, *words, program=LEAT, **more):
        self.process = subprocess.Popen([program, *map(str, words)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        **more)
        self.said, self.silent, self.changed = "", False, threading.Condition()
        pipe, self.process.stderr = self.process.stderr, None
        self.reader = threading.Thread(target=self.listen, args=[pipe], daemon=True)
        self.reader.start()

    def listen(self, pipe):
        with pipe:
            for line in pipe:
                with self.changed:
                    self.said += line
                    self.changed.notify_all()
        with self.changed:
            self.silent = True
            self.changed.notify_all()

    def until(self, text):
        """Waits for a message that has the text."""
        with self.changed:
            self.changed.wait_for(lambda: self.silent or text in self.said, LIMIT)
            if text not in self.said:
                raise AssertionError(f"no {text!r} in: {self.said}")
        return self

    def alive(self):
        return self.process.poll() is None

    def kill(self):
        """Ends it, unless it has ended."""
        self.process.kill()
        if not self.process.stdout.closed:
            self.process.communicate()
        self.reader.join(LIMIT)

    def end(self, status=0, number=None):
        """Waits for its end, after a signal perhaps; what it printed."""
        if number is not None:
            self.process.send_signal(number)
        try:
            out, _ = self.process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired as late:
            raise AssertionError(f"it does not end: {self.said}") from late
        self.reader.join(LIMIT)
        if self.process.returncode != status:
            raise AssertionError(f"status {self.process.returncode}, not {status}: "
                                 f"{out}{self.said}")
        return out

    def __enter__(self):
        return self

    def __exit__(self, kind=None, *_):
        self.kill()
        if kind is not None:  # what this one said may be why another one did not end
            print(f"{self.process.args[1]}: status {self.process.returncode}: {self.said}",
                  file=sys.stderr)


class OnServer(unittest.TestCase):
    """Has a PostgreSQL server and a folder with a data set, `faces`, for all tests of a class."""
    images, settings = 40, ("max_connections=100",)

    @classmethod
    def setUpClass(cls):
        cls.data = tempfile.mkdtemp(prefix="leat-crowd-")
        cls.addClassCleanup(shutil.rmtree, cls.data)
        cls.faces = f"{cls.data}/faces"
        image_set.make(cls.faces, cls.images, 64)
        cls.server = Server(*cls.settings)
        cls.addClassCleanup(cls.server.stop)


class Runs(OnServer):
    """A run in a database of its own, and the processes that work on it."""
    small, times = SMALL, TIMES

    def setUp(self):
        self.numbers, self.all = itertools.count(), []
        self.begin()
        self.addCleanup(self.end_all)

    def begin(self):
        """A database and a folder; what was there before ends."""
        self.end_all()
        self.database = self.server.database()
        self.folder = f"{self.data}/{self.database}"

    def end_all(self):
        for command in self.all:
            command.kill()
        self.all = []

    def start(self, *words, **more):
        self.all.append(Command(*words, **more))
        return self.all[-1]

    def url(self, login="owner"):
        return self.server.url(self.database, login)

    def coordinate(self, steps, *words, url=None, **more):
        return self.start("coordinate", self.folder, "--db", url or self.url(), "--data",
                          self.faces, "--steps", steps, *self.small, *self.times, "--json", *words,
                          **more)

    def work(self, *words, url=None, **more):
        key = f"{self.data}/{self.database}-{next(self.numbers)}.key"
        for name, value in (("--threads", 1), ("--poll-ms", 20), ("--on-battery", "work")):
            words = words if name in words else (*words, name, value)
        return self.start("work", url or self.url("ann"), "--data", self.faces, "--key", key,
                          *words, **more)

    def ask(self, sql):
        return self.server.sql(sql, database=self.database)

    def until(self, sql, of):
        """Waits until a statement says so, or a command has ended."""
        begin = time.monotonic()
        while of.alive():
            if self.ask(sql) == "t":
                return True
            if time.monotonic() - begin > LIMIT:
                raise AssertionError(f"not {sql!r}: {of.said}")
            time.sleep(0.02)
        return False

    def until_step(self, step, of):
        if not self.until(f"select step >= {step} from leat.run", of):
            raise AssertionError(f"it ended before step {step}: {of.said}")

    def is_open(self):
        return self.ask("select to_regclass('leat.run') is not null") == "t" and \
            self.ask("select exists (select from leat.run where step >= 0)") == "t"

    def until_open(self, of):
        while of.alive() and not self.is_open():
            pass

    def until_last(self, steps, of):
        """Waits for the last step, as long as there is progress."""
        self.until_open(of)
        at = -1
        while of.alive() and at < steps:
            at = int(self.ask("select step from leat.run"))
            self.until(f"select step > {at} or step >= {steps} from leat.run", of)

    def count_units(self):
        """From now on, for expect_counted."""
        self.server.sql(*COUNT, database=self.database)

    def expect_counted(self, steps, units=3):
        """Every unit of these steps was counted, and none twice."""
        self.assertEqual(self.ask("select count(*), count(distinct (step, unit)) from counted"),
                         f"{steps * units}|{steps * units}")

    def alone(self, steps):
        """The state that one machine computes."""
        run = f"{self.folder}-alone-{next(self.numbers)}"
        return json.loads(leat("train", "dcgan", self.faces, "-o", run, "--steps", steps,
                               *self.small, "--json", status=0).stdout)["state"]

    def expect(self, coordinator, steps):
        """It ends with that state, and nothing is left over; what it reports."""
        self.until_last(steps, coordinator)
        result = json.loads(coordinator.end())
        self.assertEqual(result["state"], self.alone(steps))
        self.assertEqual(self.ask("select state || ' ' || step || ' ' || state_hash from leat.run"),
                         f"finished {steps} {result['state']}")
        # a step whose commit was cut off when the coordinator died has no line in the history
        self.assertLessEqual(int(self.ask("select count(*) from leat.step")), steps)
        self.assertEqual(self.ask("select count(*) from leat.unit where state <> 'confirmed'"), "0")
        self.assertEqual(self.ask("select count(*) from leat.lease where state = 'live'"), "0")
        self.assertEqual(self.ask("select count(*) from leat.lease l where not exists (select from "
                                  "leat.unit u where (u.run, u.step, u.unit) = (l.run, l.step, "
                                  "l.unit))"), "0")
        # RUN has that state, whoever came to it
        run = json.loads(leat("inspect", self.folder, "--verify", "--json", status=0).stdout)
        self.assertEqual(run["checkpoints"][-1]["state"], result["state"])
        self.ledger = run["ledger"]
        self.assertEqual(self.ask("select count(*) from leat.run"), "1")
        return result


class Messages(Proxy):
    """A proxy that passes on what clients say message by message."""

    def pump(self, of, to, up):
        if not up:
            super().pump(of, to, up)
            return
        try:
            with of.makefile("rb") as file:
                length = file.read(4)  # the first message has no kind
                first = length + file.read(struct.unpack(">i", length)[0] - 4)
                self.count(first)
                to.sendall(first)
                while len(head := file.read(5)) == 5:
                    message = head + file.read(struct.unpack(">i", head[1:])[0] - 4)
                    self.count(message)
                    if not self.passes(head[:1], message, to):
                        break
        except (OSError, ValueError, struct.error):
            pass
        for each in (of, to):  # both sides hear of the end at once
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def count(self, message):
        with self.lock:
            self.up += len(message)

    def passes(self, kind, message, to):
        """Passes a message on; whether the connection goes on."""
        # pylint: disable=unused-argument
        to.sendall(message)
        return True


class Boundary(Messages):
    """Between a coordinator and its server: counts the statements of all its connections. Number
    `target` does not reach the server (its transaction is undone), or its answer does not come
    back: the connection ends, and `ended` is called first."""

    def __init__(self, port, target, after, ended):
        self.target, self.after, self.ended, self.statements = target, after, ended, 0
        super().__init__(port)

    def passes(self, kind, message, to):
        with self.lock:
            is_end = kind in (b"S", b"Q")
            self.statements += is_end
            reached = is_end and self.statements == self.target
            if not reached or self.after:
                to.sendall(message)
            if reached:
                self.ended()
        return not reached


class Statements(Messages):
    """Between a worker and its server: each statement that it sends, and the seconds until its
    answer begins. A worker waits for each answer."""

    def __init__(self, port):
        self.begun, self.answered, self.waiting = time.monotonic(), [], None
        super().__init__(port)

    def passes(self, kind, message, to):
        if kind in (b"Q", b"P"):
            text = message[5:].split(b"\0")[kind == b"P"].decode()  # a name comes first in P
            with self.lock:
                self.waiting = (text, time.monotonic())
        return super().passes(kind, message, to)

    def heard(self, data, up):
        with self.lock:
            if not up and self.waiting:
                text, begun = self.waiting
                self.answered.append((text, time.monotonic() - begun, time.monotonic()))
                self.waiting = None

    def seconds(self, words):
        """Of each answer to a statement with these words."""
        with self.lock:
            return [seconds for text, seconds, _ in self.answered if words in text]
