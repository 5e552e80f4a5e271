"""leat coordinate --db local --listen: another run's tickets, an ordinary user, and a network
between two machines, each a network namespace.
"""
import os
import pwd
import re
import shutil
import signal
import subprocess
import unittest

from server import require
from listening import Listening, use_memory
from runs import Command

from command import LEAT, LIMIT, leat


def setUpModule():
    use_memory()


class Slow(Listening):
    def test_another_run(self):
        """Its server has another authority: a ticket is good for one."""
        coordinator, words = self.coordinate()
        port = re.search(r":(\d+)/leat", coordinator.said)[1]
        ann = self.invite(words, "ann")
        coordinator.end(1, signal.SIGTERM)
        shutil.rmtree(self.at("a run"))
        coordinator, words = self.coordinate(listen=f"{self.address}:{port}")
        self.assertIn(f":{port}/leat", coordinator.said)
        self.assertIn("certificate verify failed", leat("status", "--db", ann).stderr)

    def test_ordinary_user(self):
        if os.getuid() != 0:
            self.skipTest("the other tests are an ordinary user's")
        user = pwd.getpwnam("nobody")
        os.chown(self.top, user.pw_uid, user.pw_gid)
        as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [],
                   "env": os.environ | {"HOME": self.top}}
        _, words = self.coordinate(listen="127.0.0.2", **as_user)
        words = [word.replace("NAME", "ann") for word in words]
        with Command(*words, **as_user) as command:
            ticket = command.end().split()[1]
        self.work(ticket, "--once")


class Network(Listening):
    """Two network namespaces with a cable between them."""
    here, there, wanted = "10.77.13.1", "10.77.13.2", f"leat{os.getpid()}"

    @staticmethod
    def ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True, timeout=LIMIT)

    @classmethod
    def setUpClass(cls):
        if os.getuid() != 0 or not shutil.which("ip"):
            raise unittest.SkipTest("network namespaces need root and ip")
        cls.spaces = [f"{cls.wanted}-{end}" for end in "ab"]
        try:
            for space in cls.spaces:
                cls.ip("netns", "add", space)
                cls.addClassCleanup(cls.ip, "netns", "del", space)
        except subprocess.CalledProcessError as error:
            raise unittest.SkipTest(f"no network namespaces: {error.stderr}") from error
        first, second = cls.spaces
        cls.ip("-n", first, "link", "add", "cable", "type", "veth", "peer", "name", "cable",
               "netns", second)
        for space, address in ((first, cls.here), (second, cls.there)):
            cls.ip("-n", space, "addr", "add", f"{address}/24", "dev", "cable")
            cls.ip("-n", space, "link", "set", "cable", "up")
            cls.ip("-n", space, "link", "set", "lo", "up")

    def on(self, number, *words):
        """A command on one of the two machines."""
        return Command("netns", "exec", self.spaces[number], LEAT, *words, program="ip")

    def test_lan(self):
        coordinator = self.on(0, "coordinate", self.at("run"), "--db", "local", "--listen",
                              self.here, "--data", self.faces, "--width", 4, "--latent", 8,
                              "--units", 3, "--unit-size", 8, "--micro-batch", 8, "--steps", 2,
                              "--threads", 1, "--serve-data", "--poll-ms", 5)
        self.addCleanup(self.stop, coordinator)
        coordinator.until("to invite a volunteer")
        with self.on(0, "invite", "ann", "--db", f"@{self.at('run/database/invite.url')}") as made:
            ticket = made.end().split()[1]
        worker = ("--key", self.at("key"), "--threads", 1, "--poll-ms", 20, "--on-battery", "work")
        with open(self.at("run/database/local.json"), encoding="ascii") as file:
            password = re.search(r'"password_worker": ?"(\w+)"', file.read())[1]
        port = re.search(r"127.0.0.1:(\d+)/leat", coordinator.said)[1]
        for mode, said in (("disable", "no encryption"), ("require", "rejects connection")):
            url = f"postgresql://worker:{password}@{self.here}:{port}/leat?sslmode={mode}"
            with self.on(1, "work", url, *worker) as refused:
                refused.end(2)
                self.assertIn(said, refused.said)
        with self.on(1, "work", ticket, *worker) as volunteer:
            self.assertIn("6 handed in", volunteer.end())
        coordinator.end()


if __name__ == "__main__":
    require()
    unittest.main()
