"""leat ingest images and leat synth images: the same bytes from a folder and from archives of any
kind, what the summary and --json say, wrong usage, and runs that are stopped.

Only Python's standard library is needed; tests/oracle/test_images.py compares with Pillow.
"""
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import unittest
import zipfile
import zlib

import command
from command import LEAT, LIMIT, ROOT
from folder import Folder
from held import Held
from image_set import libraries_left_out

GOLDEN = os.path.join(ROOT, "tests", "golden")
SANITIZED = bool(os.environ.get("LEAT_SANITIZE"))


def leat(*words, status=0):
    return command.leat(*words, status=status)


def content(folder):
    """Every file of a data set by its bytes."""
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = hashlib.sha256(file.read()).hexdigest()
    return found


def png(width, height, level=128):
    """A picture of one grey level, as 8-bit grey."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(
            ">I", zlib.crc32(name + data))
    rows = (b"\0" + bytes([level]) * width) * height
    return (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class Images(Folder):
    def ingest(self, source, *words, out="set", status=0):
        return leat("ingest", "images", source, "-o", self.at(out), *words, status=status)

    def digest(self, source, *words):
        out = self.at("digest")
        shutil.rmtree(out, ignore_errors=True)
        self.ingest(source, *words, out="digest")
        return content(out)


class Synth(Images):
    def test_folder_and_archives(self):
        """A folder, leat's archive of stored members, a deflated one in another order, and one with
        a comment, data before it and a member of another name: the same images."""
        leat("synth", "images", "-n", "40", "--seed", "9", "-o", self.at("faces"))
        leat("synth", "images", "-n", "40", "--seed", "9", "-o", self.at("faces.zip"))
        names = sorted(os.listdir(self.at("faces")))
        self.assertEqual((names[0], names[-1], len(names)), ("000001.jpg", "000040.jpg", 40))
        with zipfile.ZipFile(self.at("faces.zip")) as archive:
            self.assertIsNone(archive.testzip())
            self.assertEqual(archive.namelist(), names)
        with open(self.at("odd.zip"), "wb") as file:
            file.write(b"#!/bin/sh\n" * 50)
        for path, mode in (("deflated.zip", "w"), ("odd.zip", "a")):
            with zipfile.ZipFile(self.at(path), mode, zipfile.ZIP_DEFLATED) as archive:
                for name in reversed(names):
                    archive.write(self.at("faces", name), name)
                archive.comment = b"a comment"
                archive.writestr("folder/", b"")
        want = self.digest(self.at("faces"))
        self.assertEqual(len(want), 4)
        for path in ("faces.zip", "deflated.zip", "odd.zip"):
            self.assertEqual(self.digest(self.at(path)), want, path)
        self.assertEqual(self.digest(self.at("faces") + "/", "--threads", "3", "--memory", "64M"),
                         want)

    def test_synth_words(self):
        done = leat("synth", "images", "-n", "3", "-o", self.at("x.zip"), "--json")
        facts = json.loads(done.stdout)
        self.assertEqual((facts["images"], facts["out"]), (3, self.at("x.zip")))
        self.assertEqual(facts["bytes_written"], os.path.getsize(self.at("x.zip")))
        done = leat("synth", "images", "-n", "3", "-o", self.at("x.zip"), status=1)
        self.assertIn("already exists; use --replace", done.stderr)
        done = leat("synth", "images", "-n", "2", "-o", self.at("x.zip"), "--replace")
        self.assertRegex(done.stdout, r"^wrote 2 images to .*x\.zip: [\d.]+ KiB\nin .* images/s, ")
        for words in (("-o", self.at("y")), ("-n", "0", "-o", self.at("y")),
                      ("-n", "1", "-o", self.at("y"), "x")):
            leat("synth", "images", *words, status=2)
        self.assertFalse(os.path.exists(self.at("y")))


class Ingest(Images):
    def test_golden_folder(self):
        """The words of a run over every kind of file, and the same as JSON."""
        # whether leat reads WebP depends on how it was built
        every = ("--exclude", "*.webp")
        done = self.ingest(os.path.join(GOLDEN, "images"), *every)
        self.assertEqual(done.stderr, "")
        self.assertRegex(done.stdout,
                         r"(?s)^read    109 files = 71 images \+ 38 rejected \(34.9 %\)\n"
                         r"        rejected: 9 not_an_image\n        rejected: 1\d damaged\n"
                         r"        rejected: 7 truncated\n        rejected: 4 too_large\n"
                         r"        rejected: 2 too_small\n        rejected: 5 unsupported\n"
                         r"        see .*/rejected.csv\n"
                         r"        not read: .*/index.json, .*/make.py\n"
                         r"        excluded: 11\n"
                         r"images  64 x 64 pixels, fingerprint [0-9a-f]{16}\n"
                         r"        1 complete, but without the marker of the end\n"
                         r"        2 with bytes after the end, which were ignored\n"
                         r"        1 with bytes between segments, which were ignored, but may be "
                         r"what a damaged scan has left\n"
                         r"        14 with transparent pixels \(--background drop\)\n"
                         r"        35 exact duplicates: 420.jpg = exif_9.jpg, ...\n"
                         r"bytes   .* in .*, from .*\ntime    .* files/s, .* pixels/s\n"
                         r"memory  peak .*, limit 512 MiB\n$")
        facts = json.loads(self.ingest(os.path.join(GOLDEN, "images"), "--json", *every,
                                       out="two").stdout)
        self.assertEqual(content(self.at("two")), content(self.at("set")))
        self.assertEqual(facts["files"], facts["images"] + facts["rejected"])
        self.assertEqual(sum(facts["rejected_reasons"].values()), facts["rejected"])
        self.assertEqual((facts["size"], facts["was_complete"], facts["warnings"]), (64, False, []))
        with open(self.at("two", "images.json"), encoding="utf-8") as file:
            document = json.load(file)
        self.assertEqual(document["fingerprint"], facts["fingerprint"])
        self.assertEqual((document["count"], document["rejected"]),
                         (facts["images"], facts["rejected"]))
        self.assertEqual(facts["bytes_written"],
                         os.path.getsize(self.at("two", "images.safetensors")))
        done = self.ingest(os.path.join(GOLDEN, "images"), "--resume", *every)
        self.assertIn("already holds the images of these files", done.stdout)
        with open(self.at("set", "rejected.csv"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual((lines[0], len(lines) - 1), ("file,reason,what", facts["rejected"]))
        self.assertIn("arithmetic.jpg,unsupported,a JPEG that is arithmetic-coded", lines)

    def test_archive_of_every_kind(self):
        """Members that cannot be read are rejected with the reason."""
        with zipfile.ZipFile(self.at("x.zip"), "w") as archive:
            archive.writestr("good.png", png(9, 9))
            archive.writestr("bz.png", png(9, 9), zipfile.ZIP_BZIP2)
            archive.writestr("sub/../up.png", png(8, 12))
            archive.writestr("zzz.png", png(7, 7), zipfile.ZIP_DEFLATED)
        with open(self.at("x.zip"), "rb") as file:
            data = bytearray(file.read())
        at = data.rindex(zlib.compress((b"\0" + b"\x80" * 9) * 9), 0, data.index(b"bz.png"))
        data[at + 9] ^= 4  # of the first member
        with open(self.at("x.zip"), "wb") as file:
            file.write(data)
        facts = json.loads(self.ingest(self.at("x.zip"), "--json", "--max-rejected", "1").stdout)
        self.assertEqual(facts["rejected_reasons"],
                         {"damaged": 1, "unsupported": 1, "bad_name": 1})
        self.assertEqual(facts["rejected_share"], 0.75)
        with open(self.at("set", "rejected.csv"), encoding="utf-8") as file:
            self.assertRegex(file.read(), r"^file,reason,what\nbz\.png,unsupported,a zip "
                             r"member that uses a compression method other than deflate\n"
                             r"good\.png,damaged,zip member: .*\n"
                             r'sub/\.\./up\.png,bad_name,"the name has a part ""\.\."".*"\n$')
        with open(self.at("set", "images.json"), encoding="utf-8") as file:
            names = [entry[0] for entry in json.load(file)["images"]]
        self.assertEqual(names, ["zzz.png"])
        self.assertEqual(sorted(os.listdir(self.top)), ["set", "x.zip"])  # nothing was unpacked

    def test_links(self):
        """Links are followed; those that lead nowhere are rejected, and loops refused."""
        for name in ("photos/a", "elsewhere"):
            os.makedirs(self.at(name))
        for name in ("photos/a/1.png", "elsewhere/2.png"):
            with open(self.at(name), "wb") as file:
                file.write(png(8, 8))
        os.symlink(self.at("elsewhere"), self.at("photos/b"))
        os.symlink("loop", self.at("photos/loop"))
        os.symlink("nowhere.png", self.at("photos/none.png"))
        self.ingest(self.at("photos"))
        with open(self.at("set/rejected.csv"), encoding="utf-8") as file:
            rejected = file.read()
        self.assertIn("loop,", rejected)
        self.assertIn("none.png,", rejected)
        self.assertIn("leads nowhere", rejected)
        with open(self.at("set/images.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["count"], 2)
        for target in (".", "..", "../photos", self.top):
            with self.subTest(target):
                os.symlink(target, self.at("photos/again"))
                done = self.ingest(self.at("photos"), out="other", status=1)
                self.assertIn("contains itself", done.stderr)
                os.remove(self.at("photos/again"))
        done = self.ingest(self.at("photos/a/1.png"), out="other", status=1)
        self.assertIn("give a folder of images or a zip archive", done.stderr)

    def test_wrong_usage(self):
        os.mkdir(self.at("in"))
        for words, status, text in (
                ((), 2, "DIR or ZIP"), ((self.at("in"), self.at("in")), 2, "too many"),
                ((self.at("none"),), 1, "does not exist"),
                ((self.at("in"),), 1, "contains no files to read"),
                ((self.at("in"), "--size", "7"), 2, "--size"),
                ((self.at("in"), "--size", "1025"), 2, "--size"),
                ((self.at("in"), "--resume", "--replace"), 2, "exclude each other"),
                ((self.at("in"), "--memory", "1M"), 2, "at least 32M")):
            done = leat("ingest", "images", *words, "-o", self.at("out"), status=status)
            self.assertIn(text, done.stderr, words)
        leat("ingest", "images", self.at("in"), status=2)  # no -o
        self.assertEqual(os.listdir(self.top), ["in"])

    def test_strict(self):
        os.mkdir(self.at("in"))
        for name, data in (("b.png", png(9, 9)), ("c.png", b"x"), ("d.png", b"")):
            with open(self.at("in", name), "wb") as file:
                file.write(data)
        done = self.ingest(self.at("in"), "--strict", status=1)
        self.assertEqual(done.stderr, 'leat: "c.png": not_an_image: text (run without --strict to '
                         'reject such files and continue)\n')
        self.assertEqual(os.listdir(self.top), ["in"])


class Stopped(Images):
    def begin(self, call):
        """A run that waits before a call into the file system, once it has begun its output."""
        return Held(["ingest", "images", self.at("in.zip"), "-o", self.at("set"), "--size", "128",
                     "--threads", "1"], self.at("set", ".leat", "out", "images.safetensors"), call)

    def test_stopped_and_resumed(self):
        """Killed or interrupted anywhere, again and again: in the end the bytes of one run."""
        leat("synth", "images", "-n", "150", "-o", self.at("in.zip"))
        want = self.digest(self.at("in.zip"), "--size", "128")
        for call, interrupt in ((1, False), (70, False), (200, False), (1, True), (200, True)):
            with self.subTest(call=call, interrupt=interrupt), self.begin(call) as process:
                if interrupt:
                    process.stop()
                    self.assertRegex(process.rest()[1],
                                     r"after \d+ of 150 files; use --resume to continue")
                    self.assertEqual(process.returncode, 1)
                else:
                    process.kill()
                    process.communicate(timeout=LIMIT)
            facts = json.loads(self.ingest(self.at("in.zip"), "--size", "128", "--json",
                                           "--resume").stdout)
            self.assertEqual(content(self.at("set")), want)
            self.assertLess(facts["files_resumed"], 150 + interrupt)  # which may be noticed late
            self.assertGreaterEqual(facts["files_resumed"], 20 if call > 1 else 0)
            shutil.rmtree(self.at("set"))

    def test_two_at_once(self):
        """One of them writes, the others are told."""
        leat("synth", "images", "-n", "100", "-o", self.at("in.zip"))
        runs = []
        for _ in range(3):
            runs.append(subprocess.Popen([LEAT, "ingest", "images", self.at("in.zip"), "-o",
                                          self.at("set")], stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE, text=True))
        results = []
        for run in runs:
            _, words = run.communicate(timeout=LIMIT)
            results.append((run.returncode, words))
        good = [words for status, words in results if status == 0]
        self.assertEqual(len(good), 1, results)
        for status, words in results:
            if status != 0:
                self.assertRegex(words, "another ingest is running|interrupted ingest|complete "
                                 "data set")
        self.assertEqual(content(self.at("set")), self.digest(self.at("in.zip")))
        shutil.rmtree(self.at("set"))
        with self.begin(50) as process:  # surely beside each other
            for words in ((), ("--resume",), ("--replace",)):
                done = self.ingest(self.at("in.zip"), "--size", "128", *words, status=1)
                self.assertIn("another ingest is running", done.stderr)
            process.rest()
        self.assertEqual(process.returncode, 0)
        self.assertEqual(content(self.at("set")), self.digest(self.at("in.zip"), "--size", "128"))


if __name__ == "__main__":
    if not os.access(LEAT, os.X_OK):
        print(f"skipped: {LEAT} is not built")
        sys.exit(77)
    if libraries_left_out():
        print("skipped: leat was built without an image library")
        sys.exit(77)
    unittest.main()
