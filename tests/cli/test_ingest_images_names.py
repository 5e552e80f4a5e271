"""leat ingest images: which files are read, by their names and what they are; which are rejected or
skipped; what the summary counts; and the share of rejected files that ends a run.

Only Python's standard library is needed.
"""
import hashlib
import json
import os
import shutil
import stat
import struct
import subprocess
import sys
import unittest
import warnings
import zipfile
import zlib

from command import LEAT, leat
from image_set import libraries_left_out
from test_ingest_images import Images, content, png


def clear_red(alpha):
    """One pixel of red with this alpha."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(
            ">I", zlib.crc32(name + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 6, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(bytes([0, 255, 0, 0, alpha]))) + chunk(b"IEND", b""))


class Case(Images):
    def write(self, name, data, top="in"):
        path = os.path.join(self.at(top), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)

    def zip(self, members, path="in.zip"):
        """Of (name or ZipInfo, bytes)."""
        with zipfile.ZipFile(self.at(path), "w") as archive:
            for name, data in members:
                archive.writestr(name, data)
        return self.at(path)

    def facts(self, source, *words, out="set"):
        return json.loads(self.ingest(source, *words, "--json", "--replace", out=out).stdout)

    def names(self, out="set"):
        with open(self.at(out, "images.json"), encoding="utf-8") as file:
            return [entry[0] for entry in json.load(file)["images"]]

    def inspect(self, out="set"):
        """What leat inspect prints, as JSON and as text."""
        return (json.loads(leat("inspect", self.at(out), "--json", status=0).stdout),
                leat("inspect", self.at(out), status=0).stdout)

    def page(self, out="set"):
        leat("inspect", self.at(out), "--html", self.at("page.html"), status=0)
        with open(self.at("page.html"), encoding="utf-8") as file:
            return file.read()

    def rejected(self, out="set"):
        if not os.path.exists(self.at(out, "rejected.csv")):
            return []
        with open(self.at(out, "rejected.csv"), encoding="utf-8") as file:
            return [line.split(",")[:2] for line in file.read().splitlines()[1:]]


class Names(Case):
    def test_backslashes(self):
        """They separate parts, in archives and in a folder that was unpacked without care: the
        same list, in the same order, from both."""
        members = [("b\\2.png", png(8, 8, 1)), ("b/1.png", png(8, 8, 2)), ("b-.png", png(8, 8, 3)),
                   ("a\\c\\3.png", png(8, 8, 4)), ("empty\\", b"")]
        info = [zipfile.ZipInfo("x") for _ in members]
        for one, (name, _) in zip(info, members):
            one.filename = name  # its constructor would replace nothing here, but elsewhere
        archive = self.zip([(one, data) for one, (_, data) in zip(info, members)])
        for name, data in members:
            if data:
                self.write(name, data)
        self.ingest(archive)
        self.assertEqual(self.names(), ["a/c/3.png", "b-.png", "b/1.png", "b/2.png"])
        self.assertEqual(self.digest(self.at("in")), content(self.at("set")))
        with open(self.at("in", "b\\2.png"), "rb") as file:  # it was that file
            self.assertEqual(file.read(), png(8, 8, 1))

    def test_twice(self):
        """The first of a name is read, the others are rejected; also if only a backslash made
        them the same."""
        archive = self.zip([("y.png", png(8, 8, 9))])
        with warnings.catch_warnings(), zipfile.ZipFile(archive, "a") as file:
            warnings.simplefilter("ignore")  # Python warns of two equal names
            for name, level in (("a/x.png", 10), ("a/x.png", 20), ("a\\x.png", 30)):
                file.writestr(name, png(8, 8, level))
        self.ingest(archive)
        self.assertEqual(self.names(), ["a/x.png", "y.png"])
        self.assertEqual(self.rejected(), [["a/x.png", "bad_name"]] * 2)
        with open(self.at("set", "images.safetensors"), "rb") as file:
            file.seek(4096)
            self.assertEqual(file.read(1), b"\x0a")
        done = self.ingest(archive, "--resume")
        self.assertIn("already holds the images", done.stdout)

    def test_parts_that_say_nothing(self):
        """Empty parts and "." are dropped, so that a folder and an archive, and two members, have
        the same names; no file vanishes for a backslash at the end of its name."""
        data = {"a.png": png(8, 8, 1), "b/c.png": png(8, 8, 2), "d.png": png(8, 8, 3)}
        for name, one in data.items():
            self.write(name, one)
        archive = self.zip(list(zip(("./a.png", "b//./c.png", "d.png"), data.values())))
        want = self.digest(self.at("in"))
        self.assertEqual(self.digest(archive), want)
        archive = self.zip([("a.png", png(8, 8, 1)), ("./a.png", png(8, 8, 2)),
                            ("b/c.png", png(8, 8, 3)), ("b//c.png", png(8, 8, 4)),
                            ("./__MACOSX/d.png", b"x"), (".//.d.png", b"x")], "twice.zip")
        self.facts(archive)
        self.assertEqual(self.names(), ["a.png", "b/c.png"])
        self.assertEqual(self.rejected(), [["a.png", "bad_name"], ["b/c.png", "bad_name"]])
        for name in ("e.png\\", "C:/f.png", "g\\\\h.png"):
            self.write(name, png(8, 8, 9))
        facts = self.facts(self.at("in"))
        self.assertEqual(facts["files"], 6)
        self.assertEqual(self.names(), ["C:/f.png", "a.png", "b/c.png", "d.png", "e.png",
                                        "g/h.png"])

    def test_names_that_leave_the_archive(self):
        names = ("../up.png", "a/../../b.png", "/etc/x.png", "C:\\x.png", "..\\x.png")
        archive = self.zip([(name, png(8, 8)) for name in names] +
                           [("ok..png", png(8, 8)), ("..a/hidden.png", png(8, 8))])
        self.ingest(archive, "--max-rejected", "0.9")
        self.assertEqual(self.names(), ["ok..png"])
        self.assertEqual(sorted(self.rejected()), sorted(
            [name.replace("\\", "/"), "bad_name"] for name in names))

    def test_links_and_archives_in_archives(self):
        members = [("good.png", png(8, 8)), ("good2.png", png(8, 8)), ("good3.png", png(8, 8))]
        for name, kind in (("link.png", stat.S_IFLNK), ("pipe.png", stat.S_IFIFO)):
            info = zipfile.ZipInfo(name)
            info.create_system = 3
            info.external_attr = (kind | 0o644) << 16
            members.append((info, b"good.png"))
        inner = self.zip([("x.png", png(8, 8))], "inner.zip")
        with open(inner, "rb") as file:
            members.append(("inner.zip", file.read()))
        self.ingest(self.zip(members))
        self.assertEqual(self.names(), ["good.png", "good2.png", "good3.png"])
        self.assertEqual(self.rejected(), [["inner.zip", "not_an_image"],
                                           ["link.png", "unsupported"],
                                           ["pipe.png", "unsupported"]])
        with open(self.at("set", "rejected.csv"), encoding="utf-8") as file:
            text = file.read()
        for words in ("link.png,unsupported,a zip member that is a symbolic link",
                      "pipe.png,unsupported,a zip member that is a device or a pipe",
                      "inner.zip,not_an_image,\"a zip archive; unpack it"):
            self.assertIn(words, text)

    def test_archive_after_a_program(self):
        """Offsets that do not count the program before the archive, as `cat` leaves them."""
        archive = self.zip([("a.png", png(8, 8, 1)), ("b.png", png(8, 8, 2))])
        want = self.digest(archive)
        with open(archive, "rb") as file:
            data = file.read()
        for name, prefix in (("sfx.zip", b"#!/bin/sh\necho unpacking\n" * 9), ("one.zip", b"x")):
            with open(self.at(name), "wb") as file:
                file.write(prefix + data)
            self.assertEqual(self.digest(self.at(name)), want)
        with open(self.at("cut.zip"), "wb") as file:
            file.write(prefix + data[:-9])
        done = self.ingest(self.at("cut.zip"), out="cut", status=1)
        self.assertIn("cannot be read as a zip archive", done.stderr)

    def test_bomb(self):
        """50 MB of one byte, deflated: refused by its ratio, before any of it is unpacked."""
        with zipfile.ZipFile(self.at("in.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.png", bytes(50 << 20))
            archive.writestr("b.png", png(8, 8))
        self.ingest(self.at("in.zip"))
        with open(self.at("set", "rejected.csv"), encoding="utf-8") as file:
            self.assertRegex(file.read(), r"a\.png,too_large,a zip member of 52428800 bytes in "
                             r"\d+; at most 1000:1 is unpacked")


class Skipped(Case):
    def test_skipped_in_one_line(self):
        """What is beside images is not rejected; a text in the place of an image is."""
        skipped = {"__MACOSX/a.png": b"x", "a/__MACOSX/b.png": b"x", "._a.png": b"x",
                   ".DS_Store": b"x", "a/Thumbs.db": b"\xd0\xcf", ".ipynb_checkpoints/c.png": b"x",
                   "a/README.txt": b"about\n", "labels.csv": b"name,label\n", "LICENSE": b"text\n"}
        rejected = {"fake.jpg": b"404 not found\n", "page": b"<!doctype html><title>Quota",
                    "pointer.png": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"}
        images = {f"a/{i}.png": png(8, 8, i) for i in range(3)}
        for name, data in {**skipped, **rejected, **images}.items():
            self.write(name, data)
        self.zip({**skipped, **rejected, **images}.items())
        for source in ("in", "in.zip"):
            facts = self.facts(self.at(source), out=source + ".set")
            self.assertEqual((facts["files"], facts["images"], facts["rejected"]), (6, 3, 3))
            self.assertEqual(self.rejected(source + ".set"), [
                [name, "not_an_image"] for name in sorted(rejected)])
        self.assertEqual(content(self.at("in.set")), content(self.at("in.zip.set")))
        self.assertEqual(facts["not_read"]["count"], len(skipped))
        done = self.ingest(self.at("in.zip"), "--resume", out="in.zip.set")
        self.assertIn("already holds the images", done.stdout)
        self.assertRegex(done.stdout, r"^read    6 files = 3 images \+ 3 rejected")
        with open(self.at("in.set", "rejected.csv"), encoding="utf-8") as file:
            text = file.read()
        for words in ("an HTML page instead of the file", "run `git lfs pull`"):
            self.assertIn(words, text)

    def test_texts_that_may_be_images(self):
        """Formats that are written as text, and names that do not say that they are texts."""
        rejected = {"a.fits": b"SIMPLE  =                    T\n", "b.eps": b"%!PS-Adobe-3.0\n",
                    "c.pgm": b"P2\n2 1\n255\n7 9\n", "d.xpm": b"/* XPM */\n",
                    "e.nrrd": b"NRRD0004\n",
                    "f.txt": b"P1\n1 1\n0\n", "1234": b"Too many requests\n",
                    "README.html": b"<html>", "x.mat": b"text\n"}
        for i in range(9):
            self.write(f"{i}.png", png(8, 8, i))
        for name, data in {**rejected, "labels.TXT": b"1\n", "a/readme": b"about\n"}.items():
            self.write(name, data)
        facts = self.facts(self.at("in"))
        self.assertEqual(self.rejected(), [[name, "not_an_image"] for name in sorted(rejected)])
        self.assertEqual(facts["not_read"]["count"], 2)
        seen, text = self.inspect()
        self.assertEqual(seen["texts"], 2)
        self.assertIn("\n  skipped      2 texts\n", text)
        self.assertIn("texts skipped", self.page())

    def test_pipes_are_not_opened(self):
        self.write("a.png", png(8, 8))
        os.mkfifo(self.at("in", "b.png"))
        self.ingest(self.at("in"))
        self.assertEqual(self.rejected(), [["b.png", "unreadable"]])

    def test_include_and_exclude(self):
        for name in ("train/a.png", "train/a_mask.png", "test/b.png", "masks/c.png", "d.png",
                     "old/train/e.png"):
            self.write(name, png(8, 8, len(name)))
        every = sorted(["train/a.png", "train/a_mask.png", "test/b.png", "masks/c.png", "d.png",
                        "old/train/e.png"])
        for words, names in (
                ((), every),
                (("--include", "train"), ["old/train/e.png", "train/a.png", "train/a_mask.png"]),
                (("--include", "train/*"), ["train/a.png", "train/a_mask.png"]),
                (("--include", "masks/"), ["masks/c.png"]),
                (("--exclude", "*_mask.png"), [n for n in every if "_mask" not in n]),
                (("--exclude", "*mask*"), [n for n in every if "mask" not in n]),
                (("--include", "train", "--exclude", "old"), ["train/a.png", "train/a_mask.png"])):
            with self.subTest(words):
                facts = self.facts(self.at("in"), *words)
                self.assertEqual(self.names(), names)
                self.assertEqual(facts["excluded"], 6 - len(names))
        done = self.ingest(self.at("in"), "--include", "*.jpeg", out="none", status=1)
        self.assertIn("contains no files to read (6 excluded by --include or --exclude)",
                      done.stderr)
        done = self.ingest(self.at("in"), "--resume", status=1)  # of other files
        self.assertIn("complete data set", done.stderr)


class Counts(Case):
    def test_folders_and_duplicates(self):
        for i in range(7):
            self.write(f"cats/{i}.png", png(8, 8, i % 3))
        self.write("dogs/old/x.png", png(9, 9, 50))
        self.write("dogs-1.png", png(9, 9, 51))  # between the two, by its name
        self.write("dogs.png", png(3, 27, 50))  # the bytes of another, in another shape
        done = self.ingest(self.at("in"))
        self.assertIn("        4 exact duplicates: cats/0.png = cats/3.png, ...\n", done.stdout)
        self.assertIn("folders (none) 2, cats 7, dogs 1\n", done.stdout)
        facts = self.facts(self.at("in"))
        self.assertEqual(facts["folders"], [{"name": "", "images": 2},
                                            {"name": "cats", "images": 7},
                                            {"name": "dogs", "images": 1}])
        self.assertEqual((facts["duplicates"], facts["folder_count"]), (4, 3))
        again = json.loads(self.ingest(self.at("in"), "--resume", "--json").stdout)
        self.assertEqual((again["folders"], again["duplicates"]), (facts["folders"], 4))

    def test_sorted_hash(self):
        """images.json has a hash that does not depend on the names."""
        documents = []
        for names in ("ab", "ba"):
            for name, level in zip(names, (1, 2)):
                self.write(f"{name}.png", png(8, 8, level), names)
            self.ingest(self.at(names), out=names + ".set")
            with open(self.at(names + ".set", "images.json"), encoding="utf-8") as file:
                documents.append(json.load(file))
        one, two = documents
        self.assertNotEqual(one["decoded_sha256"], two["decoded_sha256"])
        self.assertEqual(one["sorted_sha256"], two["sorted_sha256"])
        hashes = sorted(int(entry[3], 16) for entry in one["images"])
        raw = b"".join(value.to_bytes(8, "little") for value in hashes)
        self.assertEqual(one["sorted_sha256"], hashlib.sha256(raw).hexdigest())
        seen, text = self.inspect("ab.set")
        self.assertEqual(seen["sorted_sha256"], one["sorted_sha256"])
        self.assertEqual((seen["background"], seen["texts"]), ("drop", 0))
        self.assertIn(f"\n  sorted       {one['sorted_sha256']}\n", text)
        self.assertNotIn("background", text)
        self.assertNotIn("skipped", text)

    def test_max_rejected(self):
        """More than the share fails, with nothing published; half is not more than half."""
        for i in range(3):
            self.write(f"{i}.png", png(8, 8))
            self.write(f"x{i}.png", b"\0")
        self.ingest(self.at("in"))
        self.write("y.png", b"\0")
        done = self.ingest(self.at("in"), out="other", status=1)
        self.assertIn('4 of 7 files were rejected, a share of 0.571, and --max-rejected is 0.5; '
                      'the first is "x0.png": not_an_image: neither JPEG nor PNG', done.stderr)
        self.assertIn("--resume --max-rejected 0.572", done.stderr)
        self.assertFalse(os.path.exists(self.at("other", ".complete")))
        done = self.ingest(self.at("in"), "--resume", "--max-rejected", "0.572", out="other")
        self.assertIn("resumed", done.stdout)
        self.assertEqual(len(self.rejected("other")), 4)
        done = self.ingest(self.at("in"), "--resume", out="other", status=1)  # complete by now
        self.assertIn("4 of 7 files were rejected", done.stderr)
        self.assertIn("--max-rejected 0.572", done.stderr)
        self.ingest(self.at("in"), "--resume", "--max-rejected", "0.572", out="other")
        self.ingest(self.at("in"), "--max-rejected", "0", out="none", status=1)
        self.ingest(self.at("in"), "--max-rejected", "1.5", out="none", status=2)

    def test_resume_with_another_decoder(self):
        """libwebp is found when leat runs: another one than that of the interrupted run."""
        if "libwebp" not in leat("version").stdout or shutil.which("cc") is None:
            self.skipTest("leat was built without libwebp, or there is no cc")
        self.write("a.png", png(8, 8))
        for name in ("b.png", "c.png"):
            self.write(name, b"\0")
        self.ingest(self.at("in"), status=1)
        with open(self.at("webp.c"), "w", encoding="ascii") as file:
            file.write("int WebPGetDecoderVersion(void) { return 0x990102; }\n"
                       "int WebPDecodeRGBAInto, WebPGetFeaturesInternal;\n")
        os.mkdir(self.at("lib"))
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.at("lib", "libwebp.so.7"),
                        self.at("webp.c")], check=True)
        more = ["--resume", "--max-rejected", "1"]
        done = leat("ingest", "images", self.at("in"), "-o", self.at("set"), *more, status=2,
                    env={**os.environ, "LD_LIBRARY_PATH": self.at("lib")})
        self.assertIn("another version of leat or of a decoder; use --replace", done.stderr)
        self.assertIn("resumed", self.ingest(self.at("in"), *more).stdout)

    def test_max_rejected_ends_early(self):
        """Once even good files could not mend the share, the rest is not read; what was read is
        kept, and the result is that of one run."""
        for i in range(300):
            self.write(f"a{i:03}.png", b"\0")
        for i in range(100):
            self.write(f"b{i:03}.png", png(8, 8, i))
        done = self.ingest(self.at("in"), status=1)
        self.assertIn("201 of the first 201 files were rejected", done.stderr)
        self.assertIn("--resume --max-rejected SHARE", done.stderr)
        done = self.ingest(self.at("in"), "--resume", status=1)
        self.assertRegex(done.stderr, r"20\d of the first 20\d files were rejected")
        self.ingest(self.at("in"), "--resume", "--max-rejected", "0.8")
        self.ingest(self.at("in"), "--max-rejected", "0.8", out="once")
        self.assertEqual(content(self.at("set")), content(self.at("once")))


class Background(Case):
    def pixel(self, *words):
        self.facts(self.at("in"), *words)
        with open(self.at("set", "images.safetensors"), "rb") as file:
            file.seek(4096)
            return tuple(file.read(3))

    def test_background(self):
        self.write("a.png", clear_red(51))  # a fifth
        for words, want in (((), (255, 0, 0)), (("--background", "drop"), (255, 0, 0)),
                            (("--background", "white"), (255, 204, 204)),
                            (("--background", "black"), (51, 0, 0)),
                            (("--background", "#00FF0a"), (51, 204, 8))):
            self.assertEqual(self.pixel(*words), want, words)
        with open(self.at("set", "images.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["background"], "#00ff0a")
        seen, text = self.inspect()
        self.assertEqual(seen["background"], "#00ff0a")
        self.assertIn("\n  background   #00ff0a, under transparent pixels\n", text)
        done = self.ingest(self.at("in"), "--background", "#00ff0a", "--resume")
        self.assertIn("already holds the images", done.stdout)
        done = self.ingest(self.at("in"), "--resume", status=1)
        self.assertIn("complete data set", done.stderr)
        for wrong in ("red", "#fff", "#00ff0g", ""):
            self.ingest(self.at("in"), "--background", wrong, "--replace", status=2)
        self.write("b.png", clear_red(255))
        facts = self.facts(self.at("in"))
        self.assertEqual(facts["remarks"], {"transparent": 1})
        done = self.ingest(self.at("in"), "--background", "white", "--replace")
        self.assertIn("        1 with transparent pixels (--background white)\n", done.stdout)


if __name__ == "__main__":
    if not os.access(LEAT, os.X_OK):
        print(f"skipped: {LEAT} is not built")
        sys.exit(77)
    if libraries_left_out():
        print("skipped: leat was built without an image library")
        sys.exit(77)
    unittest.main()
