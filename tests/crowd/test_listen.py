"""leat coordinate --db local --listen: a class on a network, from the printed lines alone.
Volunteers come from an address of this machine that is not its loopback interface, where it has
one; what the server asks of whom is the same there. Other users and networks: test_listen_slow.py.
"""
import os
import re
import signal
import socket
import stat
import unittest

from server import require
from listening import Listening, use_memory
from runs import SMALL, Command

from command import leat


def setUpModule():
    use_memory()


class Listen(Listening):
    def test_a_class(self):
        coordinator, words = self.coordinate()
        ann = self.invite(words, "ann")
        self.work(ann, "--once")
        # the file names the authority, and only this user may read what is secret
        for name in ("local.json", "invite.url", "authority.key", "server.key"):
            mode = os.stat(self.at("a run", "database", name)).st_mode
            self.assertEqual(stat.S_IMODE(mode), 0o600, name)
        if not self.address.startswith("127."):
            for url, said in ((self.url("worker", "sslmode=disable"), "no encryption"),
                              (self.url("worker"), "pg_hba.conf rejects connection"),
                              (self.url("owner"), "pg_hba.conf rejects connection"),
                              (self.url("admin"), "pg_hba.conf rejects connection")):
                done = leat("status", "--db", url)
                self.assertIn(said, done.stderr)
                self.assertEqual(done.returncode, 2)
        leat("status", "--db", self.url("worker", host="127.0.0.1"), status=0)
        said = leat("doctor", "--db", ann, status=0).stdout
        self.assertRegex(said, r"TLS: TLSv1.3, \S+, certificate verified")
        # between lessons there is no server
        coordinator.end(1, signal.SIGTERM)
        db = words[words.index("--db") + 1]
        for command in (["invite", "eve"], ["revoke", "ann"], ["status"]):
            done = leat(*command, "--db", db, status=1)
            self.assertRegex(done.stderr, "--db: Connection refused; the server of a run runs only "
                             "while leat coordinate does; to start it: leat coordinate "
                             rf"'{self.top}/a run' --db local --listen {self.address}:\d+ --resume "
                             "--data DIR\n")
        # the same ticket after a restart, whose certificate is a new one of the same authority
        coordinator, words = self.coordinate("--resume")
        self.assertNotIn("tickets name that address", coordinator.said)
        self.work(ann)
        coordinator.end()

    def test_another_address(self):
        """Tickets are good where it listened before, which is said."""
        coordinator, _ = self.coordinate(listen="127.0.0.2")
        before = re.search(r"to invite a volunteer to (127\.0\.0\.2:\d+): ", coordinator.said)[1]
        coordinator.end(1, signal.SIGTERM)
        said = f"this run listened on {before} before, and tickets name that address: use " \
               f"--listen {before}, or give"
        coordinator, _ = self.coordinate("--resume", listen="127.0.0.3")
        self.assertIn(said, coordinator.said)
        coordinator.end(1, signal.SIGTERM)
        command = Command("coordinate", self.at("a run"), "--db", "local", "--data", self.faces,
                          *SMALL, "--steps", 3, "--serve-data", "--poll-ms", "5", "--resume")
        self.addCleanup(self.stop, command)
        command.until("to lend this machine")
        self.assertIn("this run listened on 127.0.0.3:", command.said)

    def test_refused(self):
        """Before anything is written."""
        words = ["coordinate", self.at("run"), "--data", self.faces, *SMALL, "--db"]
        for listen, said in (("0.0.0.0", "name the address at which volunteers reach"),
                             ("::", "name the address at which volunteers reach"),
                             ("192.0.2.77", "this machine does not have that address"),
                             ("no.such.name.invalid", "finds no address for that name"),
                             ("a b", "must be an address"), ("127.0.0.2:80", "must be an address"),
                             ("127.0.0.2:x", "must be an address"), ("[::1", "must be an address"),
                             ("127.0.0.2:", "must be an address"), ("", "--listen")):
            with self.subTest(listen):
                done = leat(*words, "local", "--listen", listen, status=2)
                self.assertIn(said, done.stderr)
        done = leat(*words, "postgresql://a@127.0.0.1:1/x", "--listen", "127.0.0.2", status=2)
        self.assertIn("--listen needs --db local", done.stderr)
        self.assertFalse(os.path.exists(self.at("run")))
        with socket.create_server(("127.0.0.2", 0)) as taken:
            port = taken.getsockname()[1]
            done = leat(*words, "local", "--steps", 1, "--listen",
                        f"127.0.0.2:{port}", status=1)
            self.assertIn(f"port {port} is taken by another program", done.stderr)


if __name__ == "__main__":
    require()
    unittest.main()
