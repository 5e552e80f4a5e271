"""The whole path of images: photographs and other files (data/images, golden/nn) are
ingested, inspected, listed, written as PNG and read in batches, and at every place they are the
golden pixels within one level. Runs the command named by LEAT (default: build/leat)."""
import hashlib
import json
import os
import shutil
import struct
import tempfile
import unittest

import golden_files
import pages
from command import leat

SIZE = 64


def golden():
    """{name: u8 pixels} of the reference, by the names that `leat ingest images` gives. An image
    with an EXIF orientation is wanted upright."""
    with open(golden_files.path("golden/nn/images.safetensors"), "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(size)), file.read()
    out = {}
    for name in sorted(name for name in header if name != "__metadata__"):
        begin, end = header[name]["data_offsets"]
        out[name.removesuffix("|upright")] = data[begin:end]
    return out


class Photographs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = tempfile.mkdtemp(prefix="leat-photographs-")
        cls.addClassCleanup(shutil.rmtree, cls.top)
        cls.wanted = golden()
        cls.names = sorted(cls.wanted)
        source, cls.set = os.path.join(cls.top, "source"), os.path.join(cls.top, "set")
        for name in cls.names:
            os.makedirs(os.path.join(source, os.path.dirname(name)), exist_ok=True)
            under = "data/images" if name.startswith("blood") else "golden/nn"
            shutil.copy(golden_files.path(f"{under}/{name}"), os.path.join(source, name))
        with open(os.path.join(source, cls.names[0]), "rb") as file:
            photograph = file.read()
        for name, content in (("cut.jpg", photograph[:9000]), ("notes.jpg", b"not an image\n")):
            with open(os.path.join(source, name), "wb") as file:
                file.write(content)
        done = leat("ingest", "images", source, "-o", cls.set, "--threads", "2")
        assert done.returncode == 0, done.stderr
        cls.pixels = {}  # of the data set, by `leat cat`
        for name in cls.names:
            path = os.path.join(cls.top, "one.png")
            done = leat("cat", cls.set, "--image", name, "-o", path)
            assert done.returncode == 0, done.stderr
            with open(path, "rb") as file:
                width, height, channels, cls.pixels[name] = pages.png_pixels(file.read())
            assert (width, height, channels) == (SIZE, SIZE, 3)

    def run_leat(self, *words):
        done = leat(*words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def test_pixels(self):
        for name in self.names:
            apart = max(abs(a - b) for a, b in zip(self.pixels[name], self.wanted[name]))
            self.assertLessEqual(apart, 1, name)

    def test_inspect(self):
        page = os.path.join(self.top, "page.html")
        document = json.loads(self.run_leat("inspect", self.set, "--verify", "--json", "--html",
                                            page))
        self.assertTrue(document["verification"]["ok"])
        self.assertEqual((document["images"], document["size"]), (len(self.names), SIZE))
        self.assertEqual({name: [one["file"] for one in entry["first"]]
                          for name, entry in document["rejected"].items() if entry["count"]},
                         {"not_an_image": ["notes.jpg"], "truncated": ["cut.jpg"]})
        everything = b"".join(self.pixels[name] for name in self.names)
        self.assertEqual(document["fingerprint"], hashlib.sha256(everything).hexdigest())
        with open(page, encoding="utf-8") as file:
            sheet, _ = pages.pictures(file.read())
        for number, name in enumerate(self.names):
            x, y = number % 8 * (SIZE + 2), number // 8 * (SIZE + 2)
            line = b"".join(sheet[3][((y + i) * sheet[0] + x) * 3:][:SIZE * 3]
                            for i in range(SIZE))
            self.assertEqual(line, self.pixels[name], name)

    def test_list(self):
        """The sizes are those of the files, upright, and the hashes those of other pixels."""
        entries = [json.loads(line) for line in self.run_leat("cat", self.set).splitlines()]
        self.assertEqual([entry["name"] for entry in entries], self.names)
        with open(golden_files.path("golden/nn/images.json"), encoding="utf-8") as file:
            images = json.load(file)["images"]
        for entry in entries:
            size = images[entry["name"]]["size"]
            if entry["name"] == "images/exif6.jpg":
                size = size[::-1]
            self.assertEqual([entry["width"], entry["height"]], size, entry["name"])
        self.assertEqual(len({entry["decoded"] for entry in entries}), len(entries))

    def test_batches(self):
        """An epoch of batches is every image once, as levels and as floats."""
        single = struct.Struct("<f")

        def rounded(value):
            return single.unpack(single.pack(value))[0]

        table = [single.pack(rounded(rounded(rounded(level / 255) - .5) / .5))
                 for level in range(256)]
        for form in ("u8", "float"):
            wanted = set()
            for data in self.pixels.values():
                if form == "float":
                    data = b"".join(table[level] for channel in range(3)
                                    for level in data[channel::3])
                wanted.add(hashlib.sha256(data).hexdigest())
            lines = self.run_leat("batches", self.set, "--batch", "1", "--as", form, "--steps",
                                  f"0:{len(self.names)}", "--hash=rows").splitlines()
            self.assertEqual(len(lines), len(self.names))
            self.assertEqual({line.split()[2] for line in lines}, wanted)


if __name__ == "__main__":
    unittest.main()
