"""leat-worker: leat work as a program of its own, and whom it trusts to be the server. LEAT_WORKER
names another one than that of the build, such as the one of a wheel."""
import base64
import hashlib
import os
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

import server
from server import Server
from runs import WORKER, Command, Runs

from command import LIMIT, leat

server.require()


def worker(*words, status=0, **environment):
    done = subprocess.run([WORKER, *words], check=False, text=True, capture_output=True,
                          timeout=LIMIT, env=os.environ | environment)
    if done.returncode != status:
        raise AssertionError(f"{words}: status {done.returncode}: {done.stdout}{done.stderr}")
    return done


def ticket(port, host="localhost", check=1, certificate=b"", run=b""):
    """As src/crowd/ticket.h describes it."""
    texts = [host.encode(), b"postgres", run, b"ann", b"SECRET"]
    record = bytes([1, check]) + port.to_bytes(2, "little")
    record += b"".join(bytes([len(text)]) + text for text in texts)
    record += len(certificate).to_bytes(2, "little") + certificate
    record += hashlib.sha256(record).digest()[:4]
    return "leat1:" + base64.urlsafe_b64encode(record).decode().rstrip("=")


class Words(unittest.TestCase):
    def test_as_leat_work(self):
        """The same help, but for the name."""
        self.assertEqual(worker("--help").stdout, re.sub(
            r"\bleat work\b", "leat-worker", leat("work", "--help", status=0).stdout))
        self.assertIn("\nUsage: leat-worker version [--json]\n",
                      worker("version", "--help").stdout)
        named = leat("--version", status=0).stdout
        self.assertEqual(worker("--version").stdout, named.replace("leat", "leat-worker"))

    def test_wrong_usage(self):
        for words, said in (([], "see leat-worker --help"), (["x", "y"], "see leat-worker --help"),
                            (["version", "x"], "see leat-worker version --help"),
                            (["--no"], "unknown option --no"), (["x"], "postgresql://USER"),
                            (["x"], "or by a ticket, leat1:..."),
                            (["leat-worker", "leat1:SECRET"], "without a command before it"),
                            (["leat-worker", "leat23:SECRET"], "without a command before it"),
                            (["x", "postgresql://a:SECRET@b/c"], "a URL or a ticket"),
                            (["leat-worker leat1:SECRET"], "the end of the ticket")):
            with self.subTest(words):
                done = worker(*words, status=2)
                self.assertIn(said, done.stderr)
                self.assertNotIn("SECRET", done.stderr)
                self.assertEqual(done.stdout, "")

    def test_without_a_command(self):
        done = leat("leat1:SECRET", status=2)
        self.assertIn("leat work TICKET", done.stderr)
        self.assertNotIn("SECRET", done.stderr)

    def test_not_reached(self):
        """Who has no more than a ticket asks whoever sent it; the key is below HOME."""
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        with tempfile.TemporaryDirectory() as home:
            with Command(ticket(port, "127.0.0.1", 0), program=WORKER,
                         env=os.environ | {"HOME": home}) as command:
                command.until("trying again until it succeeds")
            self.assertIn("; if this lasts, ask whoever sent the ticket", command.said)
            self.assertTrue(os.path.exists(f"{home}/.local/state/leat/machine.key"))


class Worker(Runs):
    def test_weights(self):
        """Three steps with it are those of one machine."""
        steps = 3
        coordinator = self.coordinate(steps)
        self.until_open(coordinator)
        key = f"{self.data}/{self.database}.key"
        self.all.append(Command(self.url("ann"), "--data", self.faces, "--key", key, "--threads", 1,
                                "--poll-ms", 20, "--on-battery", "work", program=WORKER))
        self.expect(coordinator, steps)
        self.assertRegex(self.all[-1].end(), r"units 9 handed in")


class Certificates(unittest.TestCase):
    """A server with a certificate for localhost, which an authority has signed."""
    @classmethod
    def setUpClass(cls):
        if not shutil.which("openssl"):
            raise unittest.SkipTest("no openssl")
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)
        cls.server.sql("create role ann login")
        os.chmod(cls.server.folder, 0o755)
        for name in ("authority", "another"):
            cls.openssl("req", "-x509", *cls.key(name), "-subj", f"/CN={name}", "-out",
                        cls.at(f"{name}.pem"))
        cls.openssl("req", "-x509", *cls.key("server"), "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE",
                    "-CA", cls.at("authority.pem"), "-CAkey", cls.at("authority.key"), "-out",
                    cls.at("server.pem"))
        if cls.server.user:
            os.chown(cls.at("server.key"), cls.server.user.pw_uid, cls.server.user.pw_gid)
        cls.server.end()
        cls.server.words += ["-c", "ssl=on", "-c", f"ssl_cert_file={cls.at('server.pem')}", "-c",
                             f"ssl_key_file={cls.at('server.key')}"]
        cls.server.begin()

    @classmethod
    def at(cls, name):
        return os.path.join(cls.server.folder, name)

    @classmethod
    def key(cls, name):
        return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                cls.at(f"{name}.key"), "-days", "3650")

    @staticmethod
    def openssl(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, timeout=LIMIT)

    def says(self, more, said, host="localhost", root=None, url=None, **environment):
        """The worker says so of a server without a run; with another root folder, if root."""
        url = url or (f"postgresql://ann@{host}:{self.server.port}/postgres?hostaddr=127.0.0.1&"
                      f"{more}")
        environment = {"SSL_CERT_FILE": "", "SSL_CERT_DIR": ""} | environment
        words = [root, "/leat-worker"] if root else []
        with Command(*words, url, "--key", "/machine.key" if root else self.at("machine.key"),
                     program="chroot" if root else WORKER,
                     env=os.environ | environment) as command:
            command.until(said)
            self.assertNotIn("SECRET", command.said)
            return command.said

    def test_given_authority(self):
        mode = "sslmode=verify-full&sslrootcert="
        self.says(f"{mode}{self.at('authority.pem')}", "no run was coordinated")
        self.says(f"{mode}{self.at('another.pem')}", "certificate verify failed")
        self.says(f"{mode}{self.at('authority.pem')}", "does not match host name", "db.example.org")
        self.says(f"{mode}{self.at('none.pem')}", "does not exist")

    def certificate(self, name):
        """In DER."""
        self.openssl("x509", "-in", self.at(f"{name}.pem"), "-outform", "DER", "-out",
                     self.at(f"{name}.der"))
        with open(self.at(f"{name}.der"), "rb") as file:
            return file.read()

    def test_tickets(self):
        """The authority of a ticket is the only one, and the name is verified."""
        own, another = self.certificate("authority"), self.certificate("another")
        port, there = self.server.port, "no run was coordinated"
        # what ~/.postgresql has for other servers is left alone
        os.makedirs(self.at("home/.postgresql"))
        with open(self.at("home/.postgresql/postgresql.crt"), "w", encoding="ascii") as file:
            file.write("of another server")
        self.says("", there, url=ticket(port, certificate=own), HOME=self.at("home"))
        said = self.says("", "certificate verify failed", url=ticket(port, certificate=another),
                         SSL_CERT_FILE=self.at("authority.pem"))
        self.assertIn("postgresql://ann:***@localhost:", said)
        self.says("", "does not match host name", url=ticket(port, "127.0.0.1", certificate=own))
        self.says("", there, url=ticket(port, check=2), SSL_CERT_FILE=self.at("authority.pem"))
        self.says("", "certificate verify failed", url=ticket(port, check=2),
                  SSL_CERT_FILE=self.at("another.pem"))
        self.says("", "no run was coordinated", url=ticket(port, "127.0.0.1", check=0))
        self.says("", "only on the server's own machine", url=ticket(port, "10.0.0.1", check=0))
        self.says("", "copy the whole line again", url=ticket(port, certificate=own)[:-4])

    def test_tickets_in_files(self):
        """A file with the line that a volunteer was sent; and nothing of it is in the list of
        processes."""
        word = ticket(self.server.port, certificate=self.certificate("authority"))
        for line in (word, f"leat-worker {word} --data DIR\n"):
            with open(self.at("ticket"), "w", encoding="ascii") as file:
                file.write(line)
            self.says("", "no run was coordinated", url=f"@{self.at('ticket')}")
        with socket.create_server(("127.0.0.1", 0)) as silent:
            word = ticket(silent.getsockname()[1], "127.0.0.1", check=0)
            with Command(word, "--key", self.at("machine.key"), program=WORKER) as command:
                with silent.accept()[0]:
                    with open(f"/proc/{command.process.pid}/cmdline", "rb") as file:
                        self.assertRegex(file.read(), rb"\0leat1\*+\0")

    def test_authorities_of_the_system(self):
        """Those of SSL_CERT_FILE, with and without a mode; the name is verified, too."""
        own, another = self.at("authority.pem"), self.at("another.pem")
        for more in ("sslrootcert=system", "sslmode=verify-full&sslrootcert=system"):
            with self.subTest(more):
                self.says(more, "no run was coordinated", SSL_CERT_FILE=own)
                self.says(more, "certificate verify failed", SSL_CERT_FILE=another)
                self.says(more, "does not match host name", "db.example.org", SSL_CERT_FILE=own)
        self.says("sslrootcert=system", f'SSL_CERT_FILE is "{own}.no", which cannot be read',
                  SSL_CERT_FILE=own + ".no")
        self.says("sslrootcert=system", "SSL_CERT_DIR is set", SSL_CERT_DIR="/etc/ssl/certs")
        self.says("sslrootcert=system&sslmode=require", "requires sslmode=verify-full, not require",
                  SSL_CERT_FILE=own)

    def test_authorities_of_this_system(self):
        """Its own list of authorities does not have the one of the test."""
        if not os.path.exists("/etc/ssl/certs/ca-certificates.crt"):
            self.skipTest("no list of authorities where Debian has it")
        self.says("sslrootcert=system", "certificate verify failed")

    def test_bare_root(self):
        """The worker of a wheel, where there is only glibc: no libpq, OpenSSL or authorities."""
        if "kind          wheel" not in worker("version").stdout or os.getuid() != 0:
            self.skipTest("only of a wheel, as root")
        root = tempfile.mkdtemp(prefix="leat-bare-")
        self.addCleanup(shutil.rmtree, root)
        needs = subprocess.run(["ldd", WORKER], check=True, text=True, capture_output=True).stdout
        for path in re.findall(r"(/\S+) \(0x", needs):
            os.makedirs(os.path.dirname(root + path), exist_ok=True)
            shutil.copy(path, root + path)
        shutil.copy(WORKER, f"{root}/leat-worker")
        shutil.copy(self.at("authority.pem"), root)
        self.says("sslrootcert=system", "no list of certificate authorities", root=root)
        self.says("sslrootcert=system", "no run was coordinated", root=root,
                  SSL_CERT_FILE="/authority.pem")
        self.says("sslmode=verify-full&sslrootcert=/authority.pem", "no run was coordinated",
                  root=root)
        for name, said in (("another", "certificate verify failed"),
                           ("authority", "no run was coordinated")):
            os.makedirs(f"{root}/etc/pki/tls/certs", exist_ok=True)
            shutil.copy(self.at(f"{name}.pem"), f"{root}/etc/pki/tls/certs/ca-bundle.crt")
            self.says("sslrootcert=system", said, root=root)


if __name__ == "__main__":
    unittest.main()
