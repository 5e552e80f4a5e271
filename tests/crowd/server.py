"""A PostgreSQL server of a test's own, and a pgbouncer before it: on free ports of the loopback
interface, in a folder that goes with them, and ended with this program, however that is. Neither
runs as root: they then run as "postgres" or "nobody".
"""
import ctypes
import glob
import gzip
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))

from command import LIMIT, leat  # pylint: disable=wrong-import-position

STARTS = 5  # tries to get a port that another program does not take at the same moment
LINES_KEPT = 50  # of a program's messages
DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


def find_server():
    """The folder of the newest server's programs, or None."""
    found = glob.glob("/usr/lib/postgresql/*/bin/initdb")
    version = lambda path: int(path.split("/")[4])
    return os.path.dirname(max(found, key=version)) if found else None


def find_pooler():
    return shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/bin")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def require(*programs):
    """Ends this program with status 77 if what it needs is not installed."""
    if "built without libpq" in leat("doctor", "--db", "postgresql://x@127.0.0.1:1/x").stderr:
        skip("leat was built without libpq")
    if not find_server():
        skip("no PostgreSQL server (scripts/install.sh --gate installs it)")
    if "pgbouncer" in programs and not find_pooler():
        skip("no pgbouncer (scripts/install.sh --gate installs it)")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Program:
    """A program that runs beside the test, as another user if this one is root."""

    def __init__(self, prefix):
        self.folder, self.process = tempfile.mkdtemp(prefix=prefix), None
        self.user = None
        if os.getuid() == 0:
            names = [user.pw_name for user in pwd.getpwall()]
            self.user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)

    def become(self):
        """In the child, before the program."""
        if self.user:
            os.setgroups([])
            os.setgid(self.user.pw_gid)
            os.setuid(self.user.pw_uid)
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGQUIT)

    def start(self, words, ready):
        """Starts it and waits for a line with `ready`. False: it ended before."""
        # pylint: disable=consider-using-with,subprocess-popen-preexec-fn
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, cwd="/", text=True,
                                        preexec_fn=self.become)
        self.lines = []
        for line in self.process.stderr:
            self.lines.append(line)
            if ready in line:
                threading.Thread(target=self.drain, args=[self.process.stderr, self.lines],
                                 daemon=True).start()
                return True
        self.process.stderr.close()
        self.process.wait(LIMIT)
        return False

    @staticmethod
    def drain(pipe, lines):
        """Reads on, so that the program never waits for us; the last lines are kept."""
        with pipe:
            for line in pipe:
                lines.append(line)
                del lines[:-LINES_KEPT]

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(LIMIT)
            self.process = None
        shutil.rmtree(self.folder, ignore_errors=True)


class Server(Program):
    """PostgreSQL; its superuser is "owner", and every login is let in without a password."""

    def __init__(self, *settings):
        super().__init__("leat-server-")
        self.bin, self.data, self.databases = find_server(), f"{self.folder}/data", 0
        subprocess.run([f"{self.bin}/initdb", "-D", self.data, "-A", "trust", "-U", "owner", "-E",
                        "UTF8", "--locale=C", "--no-sync"], check=True, stdout=subprocess.DEVNULL,
                       timeout=LIMIT, cwd="/", preexec_fn=self.become)
        words = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off",
                 "shared_buffers=16MB", *settings]
        self.words = [f"{self.bin}/postgres", "-D", self.data,
                      *[word for setting in words for word in ("-c", setting)]]
        for _ in range(STARTS):
            self.port = free_port()
            if self.serve():
                return
        raise AssertionError("".join(self.lines))

    def serve(self):
        return self.start([*self.words, "-p", str(self.port)], "ready to accept connections")

    def end(self, number=signal.SIGQUIT):
        """Ends it at once: without a word to its clients or the disk; with SIGINT, in order."""
        self.process.send_signal(number)
        self.process.wait(LIMIT)

    def begin(self):
        """Starts it again."""
        assert self.serve(), self.lines

    def crash(self):
        self.end()
        self.begin()

    def copy(self, number=signal.SIGQUIT):
        """Copies its files while it is ended for a moment."""
        self.end(number)
        shutil.rmtree(f"{self.folder}/copy", ignore_errors=True)
        subprocess.run(["cp", "-a", self.data, f"{self.folder}/copy"], check=True, timeout=LIMIT)
        self.begin()

    def put_back(self):
        """Its files are again those of the copy."""
        self.end()
        shutil.rmtree(self.data)
        os.rename(f"{self.folder}/copy", self.data)
        self.begin()

    def database(self):
        """The name of a new one; "ann" and "bob" have no rights in it."""
        self.databases += 1
        name = f"python{self.databases}"
        self.sql(f"create database {name}")
        if self.databases == 1:
            self.sql("create role ann login", "create role bob login")
        return name

    def url(self, database, login="owner", more=""):
        return f"postgresql://{login}@127.0.0.1:{self.port}/{database}?sslmode=disable{more}"

    def sql(self, *statements, database="postgres", login="owner"):
        """Runs each in a transaction of its own; the output of the last."""
        for statement in statements:
            done = subprocess.run([f"{self.bin}/psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c",
                                   statement, self.url(database, login)], check=False, text=True,
                                  capture_output=True, timeout=LIMIT)
            if done.returncode != 0:
                raise AssertionError(f"{statement}: {done.stderr}")
        return done.stdout.strip()

    def run_script(self, path, database):
        """Runs a packed file of statements, such as a dump."""
        with gzip.open(path) as file:
            subprocess.run([f"{self.bin}/psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-o", "/dev/null",
                            "-f", "-", self.url(database)], input=file.read(), check=True,
                           timeout=LIMIT)

    def session(self, database, login="owner"):
        """A psql that reads statements from its stdin."""
        return subprocess.Popen([f"{self.bin}/psql", "-XAtq", self.url(database, login)], text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)


class Pooler(Program):
    """pgbouncer before a server, in one of its modes."""

    def __init__(self, server, mode, logins, *settings):
        super().__init__("leat-pooler-")
        with open(f"{self.folder}/users.txt", "w", encoding="ascii") as file:
            file.write("".join(f'"{login}" ""\n' for login in logins))
        for _ in range(STARTS):
            self.port = free_port()
            lines = ["[databases]", f"* = host=127.0.0.1 port={server.port}", "[pgbouncer]",
                     "listen_addr = 127.0.0.1", f"listen_port = {self.port}", "unix_socket_dir =",
                     "auth_type = trust", f"auth_file = {self.folder}/users.txt",
                     f"pool_mode = {mode}", *settings, ""]
            with open(f"{self.folder}/pooler.ini", "w", encoding="ascii") as file:
                file.write("\n".join(lines))
            if (self.start([find_pooler(), f"{self.folder}/pooler.ini"], "process up") and
                    any("listening on" in line for line in self.lines)):
                return
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait(LIMIT)
        raise AssertionError("".join(self.lines))

    def url(self, database, login="owner"):
        return f"postgresql://{login}@127.0.0.1:{self.port}/{database}"


class Proxy:
    """Passes bytes on to a server, one thread a direction, and counts them; `change` may alter what
    the server says."""

    def __init__(self, port, change=None):
        self.to, self.change = port, change
        self.up = self.down = self.connections = 0
        self.lock, self.open = threading.Lock(), []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.accepting = threading.Thread(target=self.accept, daemon=True)
        self.accepting.start()

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.to))
            except OSError:  # the server is down: its client hears so, as without a proxy
                client.close()
                continue
            for each in (client, server):  # as libpq and the server do: nothing waits to be sent
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.connections += 1
                self.open += [client, server]
            for of, to, up in ((client, server, True), (server, client, False)):
                threading.Thread(target=self.pump, args=[of, to, up], daemon=True).start()

    def pump(self, of, to, up):
        try:
            while data := of.recv(1 << 16):
                if not up and self.change:
                    data = self.change(data)
                with self.lock:
                    if up:
                        self.up += len(data)
                    else:
                        self.down += len(data)
                self.heard(data, up)
                self.send(data, of, to, up)
            to.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def heard(self, data, up):
        """Bytes that are about to be passed on, for subclasses."""

    def send(self, data, of, to, up):
        """Passes them on, for subclasses: from a socket to another."""
        # pylint: disable=unused-argument
        to.sendall(data)

    def url(self, database, login="owner"):
        return f"postgresql://{login}@127.0.0.1:{self.port}/{database}?sslmode=disable"

    def stop(self):
        self.listener.shutdown(socket.SHUT_RDWR)  # close alone does not end an accept() under way
        self.accepting.join(LIMIT)
        self.listener.close()
        with self.lock:
            for each in self.open:
                each.close()
