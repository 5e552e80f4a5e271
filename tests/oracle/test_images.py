"""Images as leat decodes and resizes them, compared with Pillow: the pipeline of torchvision's
Resize and CenterCrop in all its steps, on pictures of drawn sizes, modes and encodings; and the
golden results of golden/nn."""
import hashlib
import io
import json
import os
import random
import shutil
import struct
import sys
import tempfile
import unittest
import zlib

try:
    import numpy as np
    from PIL import Image, ImageOps, PngImagePlugin
    from safetensors.numpy import load_file
except ImportError as reason:
    print(f"skipped: no Pillow ({reason}; scripts/python-env.sh)")
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "tests", "cli"))
import golden_files  # noqa: E402
from command import BUILD, LEAT, leat  # noqa: E402

COUNTED = os.path.join(BUILD, "tests", "leat_counted")
Image.MAX_IMAGE_PIXELS = None


def resized(image, size):
    """What torchvision.transforms.Resize(size) and CenterCrop(size) give for a Pillow image."""
    width, height = image.size
    shorter = min(width, height)
    whole = (int(size * width / shorter), int(size * height / shorter))
    left, top = (int(round((side - size) / 2.0)) for side in whole)
    one = image.resize(whole, Image.BILINEAR)
    # horizontally first, as Pillow always did before version 13, which begins with the height of
    # some tall images
    two = image.resize((whole[0], height), Image.BILINEAR).resize(whole, Image.BILINEAR)
    box = (left, top, left + size, top + size)
    one, two = np.array(one.crop(box)), np.array(two.crop(box))
    assert np.abs(one.astype(int) - two.astype(int)).max() <= 1
    return two


def rgb_of(path):
    return ImageOps.exif_transpose(Image.open(path)).convert("RGB")


class Folder(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.top)
        self.images = os.path.join(self.top, "in")
        os.mkdir(self.images)

    def ingest(self, size, *words, source=None, status=0):
        """The images [N, S, S, 3] and their names."""
        out = os.path.join(self.top, "set")
        done = leat("ingest", "images", source or self.images, "-o", out, "--size", size,
                    "--replace", *words, status=status)
        if status:
            return done.stderr
        with open(os.path.join(out, "images.json"), encoding="utf-8") as file:
            self.document = json.load(file)
        tensors = load_file(os.path.join(out, "images.safetensors"))
        return tensors["images"], [entry[0] for entry in self.document["images"]]

    def compare(self, size, exact=True):
        """Every image with Pillow's: equal, or where decoders may differ within one level."""
        images, names = self.ingest(size, "--strict")
        self.assertEqual(names, sorted(os.listdir(self.images), key=os.fsencode))
        differ = 0
        for image, entry in zip(images, self.document["images"]):
            picture = rgb_of(os.path.join(self.images, entry[0]))
            self.assertEqual(tuple(entry[1:3]), picture.size)
            expected = resized(picture, size)
            far = np.abs(image.astype(int) - expected.astype(int))
            self.assertLessEqual(far.max(), 0 if exact else 1, entry[0])
            differ += np.count_nonzero(far)
        self.assertLessEqual(differ, images.size // 1000)
        return len(names)


def picture(random_, mode, size):
    """Smooth colours and noise."""
    width, height = size
    bands = {"1": 1, "L": 1, "LA": 2, "P": 3, "RGB": 3, "RGBA": 4, "CMYK": 4}[mode]
    y, x = np.mgrid[0:height, 0:width]
    layers = []
    for _ in range(bands):
        a, b = random_.uniform(-0.12, 0.12), random_.uniform(-0.12, 0.12)
        c = random_.uniform(0, 7)
        wave = 128 + 110 * np.sin(a * x + b * y + c)
        noise = np.random.default_rng(random_.getrandbits(32)).integers(-16, 17, (height, width))
        layers.append(np.clip(wave + noise, 0, 255).astype(np.uint8))
    data = layers[0] if bands == 1 else np.dstack(layers)
    if mode == "1":
        return Image.fromarray(data).convert("1")
    if mode == "P":
        return Image.fromarray(data).convert("P", palette=Image.ADAPTIVE, colors=random_.choice(
            (2, 4, 16, 256)))
    return Image.fromarray(data, mode)


def drawn_size(random_):
    shape = random_.randrange(5)
    if shape == 0:
        return random_.randint(1, 20), random_.randint(1, 20)
    if shape == 1:
        return random_.randint(300, 900), random_.randint(1, 40)
    if shape == 2:
        return random_.randint(1, 40), random_.randint(300, 900)
    return random_.randint(30, 400), random_.randint(30, 400)


class Pillow(Folder):
    def test_png(self):
        """All modes that PNG has in Pillow; equal in every value."""
        random_ = random.Random(1)
        for i in range(120):
            mode = random_.choice(("1", "L", "LA", "P", "RGB", "RGBA"))
            image = picture(random_, mode, drawn_size(random_))
            image.save(os.path.join(self.images, f"{i:03}.png"), compress_level=1)
        for size in (8, 64, 100):
            self.assertEqual(self.compare(size), 120)

    def test_jpeg(self):
        """Grey, colour and CMYK, all subsamplings, baseline and progressive, turned by EXIF."""
        random_ = random.Random(2)
        for i in range(150):
            mode = random_.choice(("L", "RGB", "RGB", "RGB", "CMYK"))
            exif = Image.Exif()
            if random_.random() < 0.5:
                exif[0x0112] = random_.randint(1, 8)
            options = {"quality": random_.randint(5, 100), "exif": exif,
                       "progressive": random_.random() < 0.4, "optimize": random_.random() < 0.5}
            if mode == "RGB" and random_.random() < 0.1:
                options["keep_rgb"] = True
            elif mode == "RGB":
                options["subsampling"] = random_.randint(0, 2)
            image = picture(random_, mode, drawn_size(random_))
            image.save(os.path.join(self.images, f"{i:03}.jpg"), "JPEG", **options)
        for size in (8, 64, 100):
            self.assertEqual(self.compare(size, exact=False), 150)

    def test_xmp(self):
        """Orientations that XMP has, as it is written; EXIF counts before it."""
        image = picture(random.Random(6), "RGB", (40, 25))
        forms = ('<x tiff:Orientation="{}"/>', "<tiff:Orientation>{}</tiff:Orientation>",
                 'tiff:Orientation=tiff:Orientation="{}"', 'tiff:Orientation="1{}', "{}",
                 'tiff:Orientation="')
        for i in range(54):
            text, exif = forms[i // 9].format(i % 9), Image.Exif()
            if i % 5 == 0:
                exif[0x0112 if i % 2 else 0x0131] = (3, 0, 9)[i % 3] if i % 2 else "leat"
            options = {"exif": exif}
            name = os.path.join(self.images, f"{i:02}.")
            image.save(name + "webp", lossless=True, xmp=text.encode(), **options)
            image.save(name + "jpg", xmp=text.encode(), **options)
            info = PngImagePlugin.PngInfo()
            info.add_itxt("XML:com.adobe.xmp", text, "en" * (i % 2), "XMP" * (i % 2))
            image.save(name + "png", pnginfo=info, **options)
            info = PngImagePlugin.PngInfo()
            info.add_text("XML:com.adobe.xmp", text)
            image.save(name + "text.png", pnginfo=info, **options)
        turned = {rgb_of(os.path.join(self.images, name)).size
                  for name in os.listdir(self.images)}
        self.assertEqual(len(turned), 2)
        self.assertEqual(self.compare(16, exact=False), 216)

    def test_several_texts(self):
        """Of several texts of a PNG the one counts that is Pillow's: compressed ones, profiles of
        ImageMagick, damaged ones, and packets of XMP of a JPEG."""
        image = picture(random.Random(7), "RGB", (40, 25))
        drawn = random.Random(8)

        def profile(name, content):
            lines = [content.hex()[i:i + 72] for i in range(0, 2 * len(content), 72)]
            return "\n".join(["", name, f"{len(content):8}", *lines, ""]).encode()

        def chunk(kind, number):
            xmp = drawn.choice((b'<x tiff:Orientation="%d"/>' % number, b"<x/>", b"",
                                b"\xff tiff:Orientation>%d" % number))
            exif = Image.Exif()
            exif[0x0112] = number
            key, text = drawn.choice(((b"XML:com.adobe.xmp", xmp), (b"XML:com.adobe.xmp", xmp),
                                      (b"Raw profile type exif", profile("exif", exif.tobytes())),
                                      (b"Raw profile type other", xmp)))
            packed = zlib.compress(text)
            if drawn.randrange(8) == 0:
                packed = packed[:-5] if drawn.randrange(2) else b"damaged"
            return {b"tEXt": key + b"\0" + text, b"zTXt": key + b"\0\0" + packed,
                    b"iTXt": key + b"\0\0\0en\0\0" + text,
                    b"iTXt ": key + b"\0\1\0\0XMP\0" + packed,
                    b"iTXt  ": key + b"\0\1"}[kind]

        for i in range(150):
            exif = {"exif": b"MM\0*\0\0\0\x08" + bytes(6)} if i % 7 == 0 else {}
            with io.BytesIO() as file:
                image.save(file, "png", **exif)
                content = file.getvalue()
            for _ in range(drawn.randrange(1, 4)):
                kind = drawn.choice((b"tEXt", b"zTXt", b"iTXt", b"iTXt ", b"iTXt  "))
                data = chunk(kind, drawn.choice((1, 3, 5, 6, 8)))
                kind = kind[:4]
                content = (content[:33] + struct.pack("!I", len(data)) + kind + data
                           + struct.pack("!I", zlib.crc32(kind + data)) + content[33:])
            with open(os.path.join(self.images, f"{i:03}.png"), "wb") as file:
                file.write(content)
        for i in range(20):
            with io.BytesIO() as file:
                image.save(file, "jpeg")
                content = file.getvalue()
            for _ in range(2):
                xmp = b"http://ns.adobe.com/xap/1.0/\0" + drawn.choice(
                    (b"", b"<x/>", b'tiff:Orientation="6"', b"tiff:Orientation>8<"))
                content = (content[:2] + b"\xff\xe1" + struct.pack("!H", len(xmp) + 2) + xmp
                           + content[2:])
            with open(os.path.join(self.images, f"{i:03}.jpg"), "wb") as file:
                file.write(content)
        turned = [rgb_of(os.path.join(self.images, name)).size == (25, 40)
                  for name in os.listdir(self.images)]
        self.assertGreater(turned.count(True), 40)
        self.assertGreater(turned.count(False), 40)
        self.assertEqual(self.compare(16, exact=False), 170)

    def test_xmp_profile(self):
        """One of ImageMagick, which Pillow does not read: it turns an image that nothing else
        turns."""
        image = picture(random.Random(9), "RGB", (40, 25))
        packet = b'<x tiff:Orientation="6"/>'.hex()
        for name, others in (("a", {}), ("b", {"XML:com.adobe.xmp": "tiff:Orientation>1"})):
            info = PngImagePlugin.PngInfo()
            info.add_text("Raw profile type xmp", f"\nxmp\n      25\n{packet}\n", zip=True)
            for key, text in others.items():
                info.add_text(key, text)
            image.save(os.path.join(self.images, name + ".png"), pnginfo=info)
        images, _ = self.ingest(64)
        np.testing.assert_array_equal(images[0], resized(image.transpose(Image.ROTATE_270), 64))
        np.testing.assert_array_equal(images[1], resized(image, 64))

    def test_sixteen_bits(self):
        """The high byte, as Pillow does for colours. (Its conversion of grey instead cuts off
        everything above 255.)"""
        levels = np.random.default_rng(3).integers(0, 65536, (90, 70), dtype=np.uint16)
        Image.fromarray(levels).save(os.path.join(self.images, "grey.png"))
        images, _ = self.ingest(64)
        grey = Image.fromarray((levels >> 8).astype(np.uint8)).convert("RGB")
        np.testing.assert_array_equal(images[0], resized(grey, 64))

    def test_decoded_hashes(self):
        """images.json has XXH3-64 of the pixels at full size: here of one byte pattern, which the
        hash of another decoder would not give."""
        image = picture(random.Random(4), "RGB", (97, 61))
        image.save(os.path.join(self.images, "a.png"))
        image.transpose(Image.FLIP_LEFT_RIGHT).save(os.path.join(self.images, "b.png"))
        exif = Image.Exif()
        exif[0x0112] = 2
        image.transpose(Image.FLIP_LEFT_RIGHT).save(os.path.join(self.images, "c.png"), exif=exif)
        self.ingest(64)
        hashes = [entry[3] for entry in self.document["images"]]
        self.assertEqual(hashes[0], hashes[2])
        self.assertNotEqual(hashes[0], hashes[1])
        raw = b"".join(int(text, 16).to_bytes(8, "little") for text in hashes)
        self.assertEqual(self.document["decoded_sha256"], hashlib.sha256(raw).hexdigest())

    def test_what_pillow_refuses(self):
        """Damage that Pillow reports is rejected by leat; leat also rejects what the decoder only
        warns of."""
        random_ = random.Random(5)
        refused = both = 0
        out = io.BytesIO()
        picture(random_, "RGB", (120, 90)).save(out, "JPEG", quality=90)
        whole = out.getvalue()
        for i in range(150):
            data = bytearray(whole)
            for _ in range(random_.randint(1, 6)):
                data[random_.randrange(2, len(data))] = random_.randrange(256)
            if random_.random() < 0.3:
                data = data[:random_.randrange(len(data))]
            with open(os.path.join(self.images, f"{i:03}"), "wb") as file:
                file.write(data)
        with open(os.path.join(self.images, "whole"), "wb") as file:
            file.write(whole)
        _, names = self.ingest(64)
        for i in range(150):
            try:
                rgb_of(os.path.join(self.images, f"{i:03}"))
            except (OSError, SyntaxError, ValueError, TypeError):
                refused += 1
                both += f"{i:03}" not in names
        self.assertGreater(refused, 20)
        self.assertEqual(both, refused)


class Memory(Folder):
    """By counted bytes; by the resident set in test_images_slow.py."""
    command, threads, little = COUNTED, "1", 34

    def limited(self, memory):
        return leat("ingest", "images", self.images, "-o", os.path.join(self.top, "set"), "--json",
                    "--replace", "--memory", f"{memory}M", "--threads", self.threads,
                    executable=self.command)

    def test_progressive_in_little_memory(self):
        """The coefficients of a progressive JPEG are in memory; the named limit is kept."""
        image = picture(random.Random(6), "RGB", (4000, 3000))
        for i in range(3):
            image.save(os.path.join(self.images, f"{i}.jpg"), quality=60, progressive=True)
        done = self.limited(self.little)
        self.assertEqual(done.returncode, 1, done.stderr)
        limit = int(done.stderr.split("M is enough for all")[0].split()[-1])
        done = self.limited(limit)
        self.assertEqual(done.returncode, 0, done.stderr)
        facts = json.loads(done.stdout)
        self.assertEqual(facts["images"], 3)
        if not os.environ.get("LEAT_SANITIZE"):
            self.assertLessEqual(facts["memory_peak_bytes"], limit << 20)
        images = load_file(os.path.join(self.top, "set", "images.safetensors"))["images"]
        expected = resized(rgb_of(os.path.join(self.images, "0.jpg")), 64)
        self.assertLessEqual(np.abs(images[0].astype(int) - expected.astype(int)).max(), 1)


class Golden(Folder):
    def test_golden_files(self):
        """The committed results of Pillow 13, and the decoded pixels of another decoder."""
        with open(golden_files.path("golden/nn/images.json"), encoding="utf-8") as file:
            golden = json.load(file)["images"]
        compared = 0
        for folder, source in (("images", "golden/nn/images"), ("blood_cells", "data/images/"
                                                                 "blood_cells")):
            images, names = self.ingest(64, source=golden_files.path(source))
            for image, name in zip(images, names):
                key = f"{folder}/{name}"
                wanted = golden.get(f"{key}|upright", golden.get(key))
                if wanted is None:
                    continue
                self.assertEqual(hashlib.sha256(image.tobytes()).hexdigest(),
                                 wanted["result_sha256"], key)
                compared += 1
        self.assertEqual(compared, 19)


if __name__ == "__main__":
    if not os.access(LEAT, os.X_OK):
        print(f"skipped: {LEAT} is not built")
        sys.exit(77)
    unittest.main()
