"""leat dash as a process, and what a browser would ask of it."""
import contextlib
import http.client
import json
import shutil
import signal
import subprocess
import time
import urllib.parse

from command import LEAT, LIMIT, wait_for_output


def in_browser(url, is_there, folder, width=1280):
    """The page as Chromium has it, once this is true of its text; None: there is no Chromium. It
    complains of nothing. How long a page takes is not known: it is opened again until it is
    there."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    begin = time.monotonic()
    while browser is not None:
        done = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             f"--user-data-dir={folder}", f"--window-size={width},800", "--enable-logging=stderr",
             "--timeout=3000", "--dump-dom", url],
            check=False, text=True, capture_output=True, timeout=LIMIT)
        if "CONSOLE" in done.stderr:
            raise AssertionError(done.stderr)
        if is_there(done.stdout):
            return done.stdout
        if time.monotonic() - begin > LIMIT:
            raise AssertionError(f"not in {LIMIT} s: {done.stdout}{done.stderr}")
    return None


class Dash:
    """Serves at a free port; `url` is the address that it has printed."""

    def __init__(self, *words, listen="127.0.0.1:0"):
        self.process = subprocess.Popen(
            [LEAT, "dash", *map(str, words), "--listen", listen], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_for_output(self.process)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise AssertionError(self.process.communicate()[1])
        self.port = urllib.parse.urlsplit(self.url).port

    def open(self, path, method="GET", **headers):
        """An answer whose body is not read yet."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT)
        connection.request(method, path, headers={name.replace("_", "-"): value
                                                  for name, value in headers.items()})
        return connection.getresponse()

    def get(self, path, method="GET", **headers):
        """Status, headers and body."""
        answer = self.open(path, method, **headers)
        try:
            return answer.status, answer.headers, answer.read()
        finally:
            answer.close()

    def json(self, path, **headers):
        status, _, body = self.get(path, **headers)
        if status != 200:
            raise AssertionError(f"{path}: {status}: {body}")
        return json.loads(body)

    def events(self, **headers):
        """The events of a stream, as they come: name, id and document."""
        answer, event = self.open("/events", **headers), {}
        if answer.status != 200:
            raise AssertionError(f"status {answer.status}: {answer.read()}")
        with contextlib.closing(answer):
            for line in answer:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name in ("event", "id", "data"):
                    event[name] = value
                elif not line.strip() and event:
                    yield event["event"], event["id"], json.loads(event["data"])
                    event = {}

    def until(self, document, is_there, **headers):
        """The first of a stream's documents of which this is true."""
        with contextlib.closing(self.events(**headers)) as events:
            for name, _, content in events:
                if name == document and is_there(content):
                    return content
        raise AssertionError("the stream has ended")

    def end(self, status=0, number=signal.SIGINT):
        """Ends it as a user does; what it said."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=LIMIT)
        if self.process.returncode != status:
            raise AssertionError(f"status {self.process.returncode}: {said}")
        return said

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()
