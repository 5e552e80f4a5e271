"""A server that speaks PostgreSQL's protocol and answers as none does: with other columns or rows
than were asked for, with COPY, or with nothing. Commands end with an error, whatever it is. Also
files of URLs that are not what they seem.
"""
import contextlib
import os
import re
import socket
import struct
import tempfile
import threading
import unittest

import server
from command import ROOT, leat

with open(os.path.join(ROOT, "src", "crowd", "database.h"), encoding="utf-8") as header:
    VERSION = re.search(r"^#define LEAT_CROWD_SCHEMA_VERSION (\d+)$", header.read(), re.M)[1]
TEXT = 25
SCHEMA = r"^select to_regclass\('leat.version'"
NUMBER = "^select version from leat.version"
POOLER = r"^select pg_backend_pid\(\)"
MACHINES = r"^select r\.rolname, case"
NEVER = "^nothing"


def message(kind, content=b""):
    return kind + struct.pack("!i", len(content) + 4) + content


READY = message(b"Z", b"I")
COMPLETE = message(b"C", b"SELECT 1\0")


def rows(columns, count):
    """An answer in which every value is 1."""
    field = b"a\0" + struct.pack("!ihihih", 0, 0, TEXT, -1, -1, 0)
    row = struct.pack("!h", columns) + columns * (struct.pack("!i", 1) + b"1")
    return (message(b"T", struct.pack("!h", columns) + columns * field)
            + count * message(b"D", row) + COMPLETE)


# What it says to a statement -> what of that is in the error.
ANSWERS = {rows(1, 0): "columns: 1, rows: 0", rows(2, 1): "columns: 2, rows: 1",
           rows(40, 3): "columns: 40, rows: 3", COMPLETE: "columns: 0, rows: 0",
           b"": "columns: 0, rows: 0", message(b"G", b"\0\0\0"): "waiting for an answer",
           message(b"H", b"\0\0\0"): "waiting for an answer",
           message(b"E", b"SFATAL\0C57P01\0\0"): "the server reports an error",
           message(b"E", b"\0"): "waiting for an answer"}


class Hostile:
    """Answers the statements that match `honest` as a server does, and others with `answer`."""

    def __init__(self, answer, honest=NEVER):
        self.answer, self.honest = answer, honest
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()
        self.url = f"postgresql://a:b@127.0.0.1:{self.socket.getsockname()[1]}/d?sslmode=disable"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                threading.Thread(target=self.talk, args=(connection,)).start()

    def talk(self, connection):
        with connection, connection.makefile("rb") as stream:
            with contextlib.suppress(OSError, struct.error):
                self.answer_all(connection, stream)

    def answer_all(self, connection, stream):
        length, = struct.unpack("!i", stream.read(4))
        stream.read(length - 4)
        connection.sendall(message(b"R", b"\0\0\0\0")
                           + message(b"S", b"server_version\0" + b"15.0\0") + READY)
        sql = b""
        while kind := stream.read(1):
            length, = struct.unpack("!i", stream.read(4))
            content = stream.read(length - 4)
            if kind == b"Q":  # a script, which has no answer
                connection.sendall(COMPLETE + READY)
            elif kind == b"P":
                sql = content.split(b"\0")[1]
            elif kind == b"S":
                said = self.said(sql.decode(), connection.getpeername()[1])
                connection.sendall(message(b"1") + message(b"2") + said + READY)

    def said(self, sql, backend):
        if not re.search(self.honest, sql):
            return self.answer
        values = (["a", "0", "0", "1"] if re.search(MACHINES, sql) else
                  [VERSION if re.search(NUMBER, sql) else
                   str(backend) if re.search(POOLER, sql) else "t"])
        row = b"".join(struct.pack("!i", len(value)) + value.encode() for value in values)
        return (rows(len(values), 0).replace(COMPLETE, b"")
                + message(b"D", struct.pack("!h", len(values)) + row) + COMPLETE)


class Answers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="leat-hostile-")
        self.addCleanup(folder.cleanup)
        self.top = folder.name

    def test_status(self):
        """At once, and where the server was what it should be so far."""
        for honest in (NEVER, SCHEMA, f"{SCHEMA}|{NUMBER}"):
            for answer, words in ANSWERS.items():
                with self.subTest(words, honest=honest), Hostile(answer, honest) as other:
                    done = leat("status", "--db", other.url, status=1)
                    self.assertEqual(done.stdout, "")
                    self.assertIn(words, done.stderr)

    def test_work(self):
        """A worker that has begun would connect again and again: it ends."""
        known = f"{SCHEMA}|{NUMBER}|{POOLER}"
        for honest, columns in ((known, 4), (f"{known}|{MACHINES}", 20)):
            for answer in (rows(1, 1), rows(columns, 0)):
                with self.subTest(answer), Hostile(answer, honest) as other:
                    done = leat("work", other.url, "--key", os.path.join(self.top, "key"), status=1)
                    self.assertRegex(
                        done.stderr, f"the server's answer has .*leat needs columns: {columns}, "
                                     "rows: at least 1; check that the URL leads to a")

    def test_doctor(self):
        """What is not known is a note."""
        for answer in ANSWERS:
            with self.subTest(answer), Hostile(answer) as other:
                done = leat("doctor", "--db", other.url)
                self.assertIn(done.returncode, (0, 1), done.stderr)
                self.assertRegex(done.stdout + done.stderr, "not known: |waiting for an answer|"
                                                            "the server reports an error")


class Urls(unittest.TestCase):
    def test_nul(self):
        """A URL is not cut where the file has a NUL: the rest may be what protects it."""
        with tempfile.NamedTemporaryFile(prefix="leat-url-") as file:
            file.write(b"postgresql://a:b@127.0.0.1:1/d\0?sslmode=verify-full\n")
            file.flush()
            for words in (("status", "--db"), ("work",)):
                done = leat(*words, "@" + file.name)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(f'"{file.name}": the first line has a NUL byte', done.stderr)
            file.seek(0)
            done = leat("status", "--db", "-", stdin=file)
            self.assertIn("the first line has a NUL byte", done.stderr)


if __name__ == "__main__":
    if "built without libpq" in leat("doctor", "--db", "postgresql://x@127.0.0.1:1/x").stderr:
        server.skip("leat was built without libpq")
    unittest.main()
