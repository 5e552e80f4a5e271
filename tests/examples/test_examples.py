"""The programs of examples/, built as a stranger builds them: against an installed copy, by
pkg-config and by find_package. What they print is what the installed command says of the same data.
"""
import fcntl
import glob
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "tests", "cli"))
from command import BUILD, LIMIT  # noqa: E402

EXAMPLES = os.path.join(ROOT, "examples")
NAMES = sorted(os.path.basename(path)[:-2] for path in glob.glob(os.path.join(EXAMPLES, "*.c")))
STRICT = ["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror"]


class FullPipe:
    """A pipe with only so much room left: who writes more waits until the rest is read."""

    def __init__(self, room):
        self.out, self.into = os.pipe()
        fcntl.fcntl(self.into, fcntl.F_SETPIPE_SZ, 4096)
        self.filled = fcntl.fcntl(self.into, fcntl.F_GETPIPE_SZ) - room
        os.write(self.into, b" " * self.filled)

    def size(self):
        return struct.unpack("i", fcntl.ioctl(self.out, termios.FIONREAD, b"    "))[0]

    def rest(self):
        """All that is written into it by others."""
        os.close(self.into)
        self.into = None
        with open(self.out, encoding="utf-8", closefd=False) as file:
            return file.read()[self.filled:]

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        os.close(self.out)
        if self.into is not None:
            os.close(self.into)


def wait_until(happened, process, what):
    end = time.monotonic() + LIMIT
    try:
        while not happened():
            if process.poll() is not None:
                raise AssertionError(f"status {process.returncode} before this: {what}")
            if time.monotonic() > end:
                raise AssertionError(f"waited {LIMIT} s for this: {what}")
            time.sleep(0.001)
    except BaseException:
        process.kill()  # it may wait for its reader, who is gone
        raise


def facts(process):
    """The lines of /proc/PID/status, those of its first thread."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        return dict(line.split(":\t", 1) for line in file if ":\t" in line)


def catches(process, number):
    return int(facts(process)["SigCgt"], 16) >> number - 1 & 1 == 1


def sleeps(process):
    return facts(process)["State"].startswith("S")


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="leat-examples-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.prefix = os.path.join(cls.folder, "prefix")
        cls.environment = {**os.environ, "PKG_CONFIG_PATH": f"{cls.prefix}/lib/pkgconfig"}
        cls.run_in("cmake", "--install", BUILD, "--prefix", cls.prefix)
        shutil.copytree(EXAMPLES, os.path.join(cls.folder, "source"))
        words = cls.run_in("pkg-config", "--cflags", "--libs", "leat").split()
        words += ["-Wl,-rpath," + cls.run_in("pkg-config", "--variable=libdir", "leat").strip()]
        for name in NAMES:
            cls.run_in("cc", *STRICT, f"source/{name}.c", *words, "-o", name)
        cls.leat("synth", "probes", "-n", "20000", "-p", "100", "--seed", "2", "-o", "pings.csv")
        cls.leat("synth", "can", "--frames", "20000", "--seed", "2", "-o", "logs")
        cls.leat("ingest", "probes", "pings.csv", "-o", "probes")
        cls.leat("ingest", "can", "logs", "-o", "cache")
        cls.leat("synth", "images", "--count", "80", "--seed", "2", "-o", "photos")
        cls.leat("ingest", "images", "photos", "-o", "faces")

    @classmethod
    def run_in(cls, *words, status=0):
        """What a program prints, all of it; it must end with this status."""
        done = subprocess.run(words, cwd=cls.folder, env=cls.environment, text=True, timeout=LIMIT,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode != status:
            raise AssertionError(f"{words}: status {done.returncode}\n{done.stdout}")
        return done.stdout

    @classmethod
    def leat(cls, *words):
        return cls.run_in(f"{cls.prefix}/bin/leat", *words)

    def test_build_lines(self):
        """The lines in each program's first comment work as printed, after a plain make install,
        whose folder pkg-config searches by itself; only then come those for another prefix."""
        for name in NAMES:
            with open(os.path.join(EXAMPLES, f"{name}.c"), encoding="utf-8") as file:
                comment = file.read().split("*/")[0]
            lines = re.findall(r"^ \*   (.*)$", comment, re.M)
            build = "\n".join(lines).split("\n./")[0]
            self.assertRegex(build, rf"^cc {name}\.c ")
            folder = os.path.join(self.folder, "lines")
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(EXAMPLES, folder)
            self.run_in("sh", "-ec", f"cd lines\n{build}\nunset PKG_CONFIG_PATH\n"
                                     f"! ./{name} >usage 2>&1; grep -q '^usage: {name} ' usage")
            self.assertLess(comment.index("cc "), comment.index("export PKG_CONFIG_PATH"))

    def test_pages_are_installed(self):
        """And what they link to, programs and schemas among them."""
        doc = os.path.join(self.prefix, "share", "doc", "leat")
        pages = [os.path.join(doc, "README.md"), *glob.glob(os.path.join(doc, "docs", "*.md"))]
        self.assertGreater(len(pages), 20)
        for page in pages:
            with open(page, encoding="utf-8") as file:
                links = re.findall(r"\]\((?!https?:)([^)#]+)", file.read())
            for link in links:
                at = os.path.join(os.path.dirname(page), link)
                elsewhere = not os.path.relpath(at, doc).startswith(("docs", "examples"))
                with self.subTest(page=os.path.basename(page), link=link):
                    self.assertTrue(elsewhere or os.path.exists(at))
        self.assertTrue(os.path.exists(os.path.join(doc, "examples", "batches.c")))

    def test_open_dataset(self):
        said = json.loads(self.leat("inspect", "probes", "--json"))
        self.assertEqual(self.run_in("./open_dataset", "probes"), "".join(
            f"{split}: {said[split]['measurements']} measurements in {said[split]['rows']} rows\n"
            for split in ("train", "test")))

    def test_batches(self):
        lines = self.run_in("./batches", "probes", "5").splitlines()
        self.assertEqual([line.split(",")[0:2] for line in lines[:-1]],
                         [[f"step {step}: [4", " 256]"] for step in range(5)])
        self.assertEqual(lines[-1], self.leat(
            "batches", "probes", "--batch", "4", "--length", "256", "--seed", "1", "--steps", "0:5",
            "--hash").strip())

    def test_graphs(self):
        said = json.loads(self.leat("inspect", "cache", "--json"))["splits"]
        train = said["train"]
        lines = self.run_in("./graphs", "cache").splitlines()
        self.assertEqual(lines[:len(said)], [f"{name}: {split['graphs']} graphs"
                                             for name, split in said.items()])
        batches = [line.replace(",", "").split() for line in lines[len(said):-1]]
        self.assertEqual(sum(int(words[4]) for words in batches), train["graphs"])
        self.assertEqual(sum(int(words[6]) for words in batches), train["graphs_with_attack"])
        self.assertEqual(lines[-1], self.leat("batches", "cache", "--max-nodes", "2000", "--seed",
                                              "1", "--epochs", "1", "--hash").strip())

    def test_ingest(self):
        text = self.run_in("./ingest", "again", "pings.csv")
        self.assertIn("reading: 0 of ", text)
        self.assertIn("\n20000 records read = 20000 written + 0 rejected\n", text)
        first, second = (json.loads(self.leat("inspect", path, "--json"))["fingerprint"]
                         for path in ("probes", "again"))
        self.assertEqual(first, second)

    def test_interrupt_and_resume(self):
        with FullPipe(room=24) as pipe:
            with subprocess.Popen(["./ingest", "stopped", "pings.csv"], cwd=self.folder,
                                  env=self.environment, stderr=pipe.into,
                                  stdout=subprocess.DEVNULL) as process:
                # in its first report, whose rest has no room: its handler is in place
                wait_until(lambda: pipe.size() > pipe.filled, process, "it reports")
                process.send_signal(signal.SIGINT)
                # the handler is for one signal: it was called, and its thread sleeps again
                wait_until(lambda: not catches(process, signal.SIGINT) and sleeps(process),
                           process, "its handler has run")
                text = pipe.rest()
        self.assertEqual(process.returncode, 130, text)
        self.assertIn("interrupted; the same command resumes it", text)
        self.assertFalse(os.path.exists(f"{self.folder}/stopped/manifest.json"))
        self.assertIn("20000 written", self.run_in("./ingest", "stopped", "pings.csv"))
        self.leat("inspect", "stopped", "--verify")

    def test_train(self):
        text = self.run_in("./train", "faces", "run", "3")
        self.assertRegex(text, r"step 3 of 3: loss of D \d\.\d{4}, of G \d\.\d{4}\n")
        self.assertIn("grid.png shows 64 images of step 3", text)
        self.run_in("./train", "faces", "run", "4")
        said = json.loads(self.leat("train", "dcgan", "faces", "-o", "same", "--width", "16",
                                    "--steps", "4", "--sample-every", "0", "--json"))
        with open(f"{self.folder}/run/checkpoints/step-000000004.json", encoding="utf-8") as file:
            self.assertEqual(json.load(file)["state"], said["state"])

    def test_train_loop(self):
        self.leat("train", "dcgan", "faces", "-o", "loop", "--width", "8", "--steps", "4")
        with open(f"{self.folder}/loop/metrics.jsonl", encoding="utf-8") as file:
            steps = [json.loads(line) for line in file]
        wanted = [[line[name] for name in ("loss_d_images", "loss_d_fakes", "loss_g")]
                  for line in steps if "loss_g" in line]
        found = [[float(number) for number in re.findall(r"\d\.\d+(?:e-\d+)?", line)]
                 for line in self.run_in("./train_loop", "faces", "4").splitlines()]
        self.assertEqual((found, len(found)), (wanted, 4))

    def test_errors(self):
        """Every program says what is wrong, and fails."""
        for words in (["open_dataset", "nowhere"], ["batches", "nowhere", "1"],
                      ["graphs", "nowhere"], ["ingest", "out", "nowhere"],
                      ["train", "nowhere", "none", "1"], ["train_loop", "nowhere", "1"]):
            text = self.run_in(f"./{words[0]}", *words[1:], status=1)
            self.assertRegex(text.strip(), f"^{words[0]}: .*nowhere")
        for name in NAMES:
            self.assertRegex(self.run_in(f"./{name}", status=2), f"^usage: {name} ")

    def test_one_header_includes_all(self):
        with open(f"{self.prefix}/include/leat/leat.h", encoding="utf-8") as file:
            included = set(re.findall(r'#include "leat/(\w+\.h)"', file.read()))
        self.assertEqual(included | {"leat.h"}, set(os.listdir(f"{self.prefix}/include/leat")))

    def test_find_package(self):
        self.run_in("cmake", "-S", "source", "-B", "cmake", "-G", "Ninja",
                    f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.run_in("cmake", "--build", "cmake")
        for name in NAMES:
            self.assertRegex(self.run_in(f"cmake/{name}", status=2), f"^usage: {name} ")

    def test_find_package_of_another_version(self):
        os.mkdir(f"{self.folder}/newer")
        with open(f"{self.folder}/newer/CMakeLists.txt", "w", encoding="utf-8") as file:
            file.write("cmake_minimum_required(VERSION 3.16)\nproject(newer LANGUAGES C)\n"
                       "find_package(leat 0.2 REQUIRED)\n")
        text = self.run_in("cmake", "-S", "newer", "-B", "cmake-newer",
                           f"-DCMAKE_PREFIX_PATH={self.prefix}", status=1)
        self.assertIn("leatConfig.cmake, version: 0.1", text)


if __name__ == "__main__":
    if os.environ.get("LEAT_SANITIZE"):
        print("skipped: a sanitizer's library needs its runtime first")
        sys.exit(77)
    unittest.main()
