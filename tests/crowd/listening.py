"""leat coordinate --db local --listen, for tests: what it prints, and what follows from that."""
import os
import re
import shlex
import shutil
import signal
import socket
import tempfile

from runs import SMALL, Command

import folder
import image_set
from command import LIMIT, leat


def use_memory():
    """Temporary files are in memory: servers sync often, which costs nothing there."""
    if "TMPDIR" not in os.environ and os.access("/dev/shm", os.W_OK | os.X_OK) and \
            shutil.disk_usage("/dev/shm").free > 512 << 20:
        tempfile.tempdir = "/dev/shm"


def own_address():
    """An address of this machine that others reach; 127.0.0.2 if there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.1", 9))  # sends nothing
            return s.getsockname()[0]
        except OSError:
            return "127.0.0.2"


class Listening(folder.Folder):
    """A class on a network: its coordinator, invitations and workers."""
    def setUp(self):
        super().setUp()
        os.chmod(self.top, 0o755)  # the server's user passes through it
        self.faces, self.address = self.at("faces"), own_address()
        image_set.make(self.faces, 40, 64)

    def coordinate(self, *words, listen=None, **more):
        """Until it says how to invite; the words that do so."""
        command = Command("coordinate", self.at("a run"), "--db", "local", "--listen",
                          listen or self.address, "--data", self.faces, *SMALL, "--steps", 3,
                          "--serve-data", "--poll-ms", "5", "--json", *words, **more)
        self.addCleanup(self.stop, command)
        command.until("to invite a volunteer")
        line = re.search(r"to invite a volunteer to \S+: leat (invite NAME --db .*)\n",
                         command.said)
        return command, shlex.split(line[1])

    @staticmethod
    def stop(command):
        """With its server, which is gone afterwards."""
        if command.alive():
            command.process.send_signal(signal.SIGTERM)
            command.process.communicate(timeout=LIMIT)
        command.kill()

    def invite(self, words, login, *more):
        """The ticket."""
        done = leat(*[login if word == "NAME" else word for word in words], *more, status=0)
        self.assertNotIn("from this machine", done.stderr)
        return re.fullmatch(r"leat-worker (leat1:\S+)\n", done.stdout)[1]

    def url(self, login, more="sslmode=prefer", host=None):
        """Of the server, with the password that the printed lines do not show."""
        with open(self.at("a run", "database", "invite.url"), encoding="ascii") as file:
            port = re.search(r":(\d+)/leat", file.read())[1]
        with open(self.at("a run", "database", "local.json"), encoding="ascii") as file:
            password = re.search(rf'"password_{login}": ?"(\w+)"', file.read())[1]
        return f"postgresql://{login}:{password}@{host or self.address}:{port}/leat?{more}"

    def work(self, ticket, *words, status=0):
        return leat("work", ticket, "--key", self.at("key"), "--threads", "1", "--poll-ms", "10",
                    "--on-battery", "work", *words, status=status)
