#!/usr/bin/env python3
"""The page of leat dash as a picture: scripts/page_picture.py URL FILE.png [--width N] [--dark]

Opens the page in a Chromium (the program CHROMIUM, or one on PATH), waits until its events and
pictures are there, and takes all of it, at a width of 1280 pixels if none is given. A browser's own
--screenshot takes it before its events have come, because their stream has no end. Exits with
status 3 if there is no Chromium.
"""
import argparse
import base64
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WAIT_SECONDS = 120
HEIGHT, HEIGHT_MOST = 800, 8000
# The last element that a first event fills, and whether each picture is loaded.
IS_THERE = "document.getElementById('state').textContent === 'Live.' && " \
    "document.getElementById('steps').textContent !== '' && " \
    "[...document.images].every((of) => of.complete)"


def find_browser():
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """Speaks the DevTools protocol over two pipes, which Chromium has as 3 and 4."""

    def __init__(self, program, folder):
        there, self.out = os.pipe()
        self.back, here = os.pipe()
        words = [program, "--headless", "--disable-gpu", "--no-first-run", "--disable-sync",
                 "--disable-background-networking", "--disable-component-update",
                 "--hide-scrollbars", "--force-color-profile=srgb", "--remote-debugging-pipe",
                 f"--user-data-dir={folder}"]
        if os.getuid() == 0:
            words.append("--no-sandbox")  # it has none as root
        # the shell puts the two where Chromium looks for them, whatever they are here
        move = f'exec "$@" 3<&{there} 4>&{here}'
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            ["/bin/sh", "-c", move, "sh", *words], pass_fds=(there, here),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(there)
        os.close(here)
        self.number, self.rest = 0, b""

    def read(self):
        """The next message."""
        while b"\0" not in self.rest:
            if not select.select([self.back], [], [], WAIT_SECONDS)[0]:
                raise SystemExit(f"page_picture: no answer of the browser for {WAIT_SECONDS} s")
            part = os.read(self.back, 1 << 16)
            if not part:
                raise SystemExit("page_picture: the browser has ended")
            self.rest += part
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        with contextlib.suppress(BrokenPipeError):  # then there is no answer
            os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                break
        if "error" in answer:
            raise SystemExit(f"page_picture: {method}: {answer['error']['message']}")
        return answer["result"]

    def end(self):
        """With the processes that it has started, which are in its group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def take(browser, words):
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(method, **parameters):
        return browser.call(method, session, **parameters)

    def value(script):
        return call("Runtime.evaluate", expression=script).get("result", {}).get("value")

    def resize(height):
        call("Emulation.setDeviceMetricsOverride", width=words.width, height=height,
             deviceScaleFactor=1, mobile=words.width < 600)

    resize(HEIGHT)
    call("Emulation.setEmulatedMedia", features=[{
        "name": "prefers-color-scheme", "value": "dark" if words.dark else "light"}])
    call("Page.navigate", url=words.url)
    begun = time.monotonic()
    while value(IS_THERE) is not True:
        if time.monotonic() - begun > WAIT_SECONDS:
            raise SystemExit(f"page_picture: nothing on the page at {words.url}")
        time.sleep(0.1)
    resize(min(max(value("document.documentElement.scrollHeight"), HEIGHT), HEIGHT_MOST))
    picture = call("Page.captureScreenshot", format="png")["data"]
    with open(words.file, "wb") as file:
        file.write(base64.b64decode(picture))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("file")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--dark", action="store_true")
    words = parser.parse_args()
    program = find_browser()
    if program is None:
        return 3
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the browser ends with this script
    folder = tempfile.mkdtemp(prefix="leat-page-")
    try:
        browser = Browser(program, folder)
        try:
            take(browser, words)
        finally:
            browser.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
