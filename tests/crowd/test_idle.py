"""What coordinators and workers say while there is nothing to do: a statement for each look, and
nothing else; and that a new step wakes a worker, which would otherwise ask a day later.
"""
import re
import signal
import threading
import unittest

from server import Proxy, require
from runs import Command, OnServer
from command import LIMIT, leat

require()

SMALL = ["--width", "2", "--latent", "4", "--unit-size", "4", "--micro-batch", "4", "--units", "2",
         "--sample-every", "0"]
DAY_MS = 86400000


class Listener(Proxy):
    """A proxy that counts the statements of its connections, and tells when enough have passed."""

    def __init__(self, port):
        self.statements, self.changed = [], threading.Condition()
        super().__init__(port)

    def heard(self, data, up):
        if up:
            with self.changed:
                # Parse: the name of the statement, which is empty, and its text; Query: the text
                found = re.findall(rb"(?:P....\0|Q....)([a-z][^\0]+)\0", data, re.S)
                self.statements += [(text.decode("latin-1"), self.up, self.down)
                                    for text in found]
                self.changed.notify_all()

    def wait(self, words, count):
        """Until that many statements with these words have passed."""
        with self.changed:
            if not self.changed.wait_for(lambda: self.count(words) >= count, LIMIT):
                raise AssertionError(f"no {count} statements with {words}: {self.statements}")

    def count(self, words):
        return sum(words in statement[0] for statement in self.statements)

    def between(self, words, first, last):
        """The statements from one with these words to another, and bytes up and down."""
        with self.changed:
            at = [i for i, statement in enumerate(self.statements) if words in statement[0]]
            chosen = self.statements[at[first]:at[last]]
            end = self.statements[at[last]]
        return [s[0] for s in chosen], end[1] - chosen[0][1], end[2] - chosen[0][2]


class Idle(OnServer):
    images, settings = 16, ()

    def start(self, *words):
        """Starts a command; it is killed at the end of the test if it still runs."""
        command = Command(*words)
        self.addCleanup(command.kill)
        return command

    def coordinate(self, url, name, *words):
        return self.start("coordinate", f"{self.data}/{name}", "--db", url, "--data", self.faces,
                          "--poll-ms", "10", *SMALL, *words)

    def listen(self):
        proxy = Listener(self.server.port)
        self.addCleanup(proxy.stop)
        return proxy

    def tell(self, who, seconds, looks, up, down):
        print(f"idle {who}: {up / looks:.0f} bytes up and {down / looks:.0f} down for each look; "
              f"one each {seconds} s: {(up + down) / looks / seconds:.0f} bytes/s", flush=True)

    def test_coordinator(self):
        name, proxy = self.server.database(), self.listen()
        self.coordinate(proxy.url(name), name, "--steps", "5")
        looks = 64
        proxy.wait("leat.arrived", looks + 10)
        said, up, down = proxy.between("leat.arrived", 4, 4 + looks)
        self.tell("coordinator", 0.5, looks, up, down)
        self.assertEqual(sum("leat.arrived" in s for s in said), looks)
        self.assertEqual(sum("leat.hopeless" in s for s in said), looks // 8)
        self.assertEqual(sum("'confirmed'" in s for s in said), looks // 8)
        others = [s for s in said if not re.search(r"leat\.arrived|leat\.hopeless|'confirmed'", s)]
        # its hold is renewed, and blockers are looked for, over another connection, by the clock
        self.assertEqual([s for s in others if not re.search(r"leat\.(renew_hold|blockers)", s)],
                         [])

    def test_no_machine(self):
        """A coordinator whom nobody helps says so; and the run goes on as soon as somebody does."""
        name = self.server.database()
        coordinator = self.coordinate(self.server.url(name), name, "--steps", "2", "--silent-ms",
                                      "200", "--renew-ms", "50")
        coordinator.until("no machine works on the run; it waits until one does")
        leat("work", self.server.url(name, "ann"), "--data", self.faces, "--key",
             f"{self.data}/n.key", "--threads", "1", "--on-battery", "work", status=0)
        coordinator.end()

    def test_worker(self):
        """A run without a coordinator, which has paused: the worker has nothing to do."""
        name, proxy, first = self.server.database(), self.listen(), self.listen()
        coordinator = self.coordinate(first.url(name), name, "--steps", "5")
        first.wait("leat.arrived", 1)
        coordinator.end(1, signal.SIGTERM)
        self.server.sql("update leat.run set state = 'paused'", database=name)
        self.start("work", proxy.url(name, "ann"), "--data", self.faces, "--key",
                   f"{self.data}/w.key", "--poll-ms", "10", "--threads", "1", "--on-battery",
                   "work")
        proxy.wait("leat.claim", 25)
        said, up, down = proxy.between("leat.claim", 4, 24)
        self.tell("worker", 2.5, 20, up, down)
        self.assertEqual(len(said), 20, said)

    def test_woken(self):
        """All steps and the end of the run reach a worker that asks once a day by itself."""
        name, first = self.server.database(), self.listen()
        coordinator = self.coordinate(first.url(name), name, "--steps", "6")
        first.wait("leat.arrived", 1)
        done = leat("work", self.server.url(name, "ann"), "--data", self.faces, "--key",
                    f"{self.data}/d.key", "--poll-ms", DAY_MS, "--threads", "1", "--on-battery",
                    "work", status=0)
        self.assertIn("12 handed in", done.stdout)
        coordinator.end()


if __name__ == "__main__":
    unittest.main()
