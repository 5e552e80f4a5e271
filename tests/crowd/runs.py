"""A coordinator and workers as processes, for tests that end them."""
import json
import socket
import struct
import subprocess

from server import Proxy

from command import LEAT, LIMIT, leat

SMALL = ["--width", "4", "--latent", "8", "--units", "3", "--unit-size", "8", "--micro-batch", "8",
         "--sample-every", "0", "--codec-up", "bf16", "--codec-down", "bf16", "--threads", "1"]
# A process that is killed holds run and unit for a while; that is what a test waits for.
TIMES = ["--hold-ms", "1000", "--lease-ms", "1000", "--renew-ms", "300", "--silent-ms", "600",
         "--poll-ms", "5", "--part-bytes", "65536"]


def alone(faces, run, steps):
    """The state that one machine computes."""
    return json.loads(leat("train", "dcgan", faces, "-o", run, "--steps", steps, *SMALL, "--json",
                           status=0).stdout)["state"]


class Command:
    """A command that goes on. Its messages go to a file, so that no pipe is ever full."""

    def __init__(self, log, *words):
        with open(log, "ab") as file:
            self.process = subprocess.Popen([LEAT, *map(str, words)], stdin=subprocess.DEVNULL,
                                            stdout=subprocess.PIPE, stderr=file, text=True)
        self.log = log

    def kill(self):
        """Ends it, unless it has ended."""
        self.process.kill()
        if not self.process.stdout.closed:
            self.process.communicate()

    def alive(self):
        return self.process.poll() is None

    def end(self):
        """Waits for its success; what it printed."""
        out, _ = self.process.communicate(timeout=LIMIT)
        if self.process.returncode != 0:
            with open(self.log, encoding="utf-8") as file:
                raise AssertionError(f"status {self.process.returncode}: {file.read()}")
        return out


def coordinate(run, url, faces, steps, *more):
    return Command(run + ".log", "coordinate", run, "--db", url, "--data", faces, "--steps", steps,
                   *SMALL, *TIMES, "--json", *more)


def work(folder, number, url, faces):
    return Command(f"{folder}/worker-{number}.log", "work", url, "--data", faces, "--key",
                   f"{folder}/{number}.key", "--threads", "1", "--poll-ms", "20")


class Boundary(Proxy):
    """Between a coordinator and its server: counts the statements of all its connections. Number
    `target` does not reach the server (its transaction is undone), or its answer does not come
    back: the connection ends, and `ended` is called first."""

    def __init__(self, port, target, after, ended):
        self.target, self.after, self.ended, self.statements = target, after, ended, 0
        super().__init__(port)

    def pump(self, of, to, up):
        if not up:
            super().pump(of, to, up)
            return
        try:
            with of.makefile("rb") as file:
                length = file.read(4)  # the first message has no kind
                to.sendall(length + file.read(struct.unpack(">i", length)[0] - 4))
                while len(head := file.read(5)) == 5:
                    body = file.read(struct.unpack(">i", head[1:])[0] - 4)
                    if not self.passes(head[:1] in (b"S", b"Q"), to, head + body):
                        break
        except (OSError, ValueError, struct.error):
            pass
        for each in (of, to):  # both sides hear of the end at once
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def passes(self, is_end, to, message):
        """Whether the connection goes on."""
        with self.lock:
            self.statements += is_end
            reached = is_end and self.statements == self.target
            if not reached or self.after:
                to.sendall(message)
            if reached:
                self.ended()
        return not reached
