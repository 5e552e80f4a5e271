"""The promise of --memory for images: inputs made to break it, at the least limit that is accepted.

Each input is ingested with the limit that the refusals of smaller ones name, and memory_peak_bytes
must stay under it. leat_counted counts the bytes that the command and its libraries have taken:
with one thread that is the same number in every run. The resident set, with more threads, is in
test_images_memory_slow.py; with CelebA's number of files it is in bench/images.py.
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile
import zlib

from image_set import libraries_left_out
from test_memory import COUNTED, MIB
from test_memory import main as run

LEAST = 32  # MiB; the least that the options accept
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
         (0, 1, 1, 2))


def png(width, height, interlaced=False, padding=0):
    """A grey picture, packed to almost nothing, with so many bytes in a chunk that nobody reads."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(
            ">I", zlib.crc32(name + data))
    pack = zlib.compressobj(1)
    data = b""
    for x0, y0, dx, dy in ADAM7 if interlaced else ((0, 0, 1, 1),):
        columns = len(range(x0, width, dx))
        for _ in range(y0, height, dy):
            data += pack.compress(b"\0" + bytes(columns)) if columns else b""
    data += pack.flush()
    return (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, interlaced)) +
            (chunk(b"paDd", os.urandom(padding)) if padding else b"") + chunk(b"IDAT", data) +
            chunk(b"IEND", b""))


class Promise(unittest.TestCase):
    command, count = COUNTED, 20000
    few = some = many = "1"  # threads
    large, named = 30, range(LEAST + 1, 60)  # MiB of files, and the limit that they require

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="leat-memory-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "in.zip")

    def write(self, members, method=zipfile.ZIP_STORED):
        with zipfile.ZipFile(self.path, "w", method) as archive:
            for name, data in members:
                archive.writestr(name, data)

    def run_leat(self, memory, *words):
        return subprocess.run([self.command, "ingest", "images", self.path, "-o",
                               os.path.join(self.folder, "set"), "--json", "--memory",
                               f"{memory}M", "--replace", *words], capture_output=True, text=True,
                              timeout=500, check=False)

    def check(self, images, memory, *words):
        """Ingests within so many MiB, or the least that is accepted above them: one number before
        the files are read, and one when those that do not fit are known."""
        done = self.run_leat(memory, *words)
        for pattern in (r"at least (\d+) MiB", r"(\d+)M is enough for all files"):
            named = re.search(pattern, done.stderr)
            if named is None:
                continue
            self.assertGreater(int(named.group(1)), memory)
            memory = int(named.group(1))
            done = self.run_leat(memory, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        result = json.loads(done.stdout)
        self.assertEqual(result["images"], images)
        self.assertLessEqual(result["memory_peak_bytes"], memory * MIB, (memory, words))
        return memory

    def test_many_files(self):
        """Names and entries are in memory, and an archive's directory for each thread."""
        small = png(1, 1)
        self.write((f"a/folder/with/a/rather/long/name/{i:09}.png", small)
                   for i in range(self.count))
        for threads in sorted({"1", self.many}):
            self.check(self.count, LEAST, "--threads", threads, "--size", "8")
        self.assertLess(self.check(self.count, 64, "--threads", self.many, "--size", "8"), 65)

    def test_whole_pictures(self):
        """Pictures that are in memory once, of many megapixels, read by threads in turn."""
        self.write(((f"{i}.png", png(3000, 2500, interlaced=True)) for i in range(4)),
                   zipfile.ZIP_DEFLATED)
        for threads in sorted({"1", self.some}):
            memory = self.check(4, LEAST, "--threads", threads)
            self.assertLess(memory, 64)  # not all four at once

    def test_large_files(self):
        """Files of many bytes; the limit is known only when their beginning is read."""
        self.write((f"{i}.png", png(100, 100, padding=self.large * MIB)) for i in range(3))
        memory = self.check(3, LEAST, "--threads", self.few)
        self.assertIn(memory, self.named)

    def test_wide_pictures(self):
        """Rows as long as possible."""
        self.write((f"{i}.png", png(*size)) for i, size in enumerate(
            ((65500, 20), (20, 65500), (65500, 1000), (1000, 65500))))
        for size in ("8", "64"):
            self.check(4, LEAST, "--threads", self.some, "--size", size)

    def test_large_results(self):
        """1024 x 1024 pixels are 3 MiB for each thread."""
        self.write((f"{i}.png", png(40 + i, 30)) for i in range(20))
        self.check(20, LEAST, "--threads", self.many, "--size", "1024")


def main(command):
    if libraries_left_out():
        print("skipped: leat was built without an image library")
        sys.exit(77)
    run(command)


if __name__ == "__main__":
    main(COUNTED)
