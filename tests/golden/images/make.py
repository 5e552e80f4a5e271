"""Writes the files of this folder: pictures of every kind that leat reads, with the hash of their
upright RGB pixels, and files that it must reject, with the reason; index.json lists them.

Run in this folder with Pillow 13 (scripts/python-env.sh) and jpegtran (libjpeg-turbo-progs):
../../../.deps/venv/bin/python3 make.py

The pixels of JPEG files are those that Pillow decodes; those of PNG files are computed here.
"""
import hashlib
import io
import json
import os
import struct
import subprocess
import tempfile
import zlib

from PIL import Image, ImageOps

INDEX = []


def noise(*place):
    return zlib.crc32(repr(place).encode())


def picture(width, height, channels):
    """Smooth colours with some noise; rows of tuples."""
    def level(x, y, c):
        smooth = 255 * (x * (c + 1) + y * (3 - c)) // (width * (c + 1) + height * 3)
        return max(0, min(255, smooth + noise(x, y, c) % 17 - 8))
    return [[tuple(level(x, y, c) for c in range(channels)) for x in range(width)]
            for y in range(height)]


def image(mode, width, height):
    rows = picture(width, height, len(mode))
    return Image.frombytes(mode, (width, height), bytes(v for row in rows for p in row for v in p))


def write(name, data):
    with open(name, "wb") as file:
        file.write(data)


def good(name, data, width, height, rgb):
    write(name, data)
    INDEX.append({"file": name, "width": width, "height": height,
                  "sha256": hashlib.sha256(rgb).hexdigest()})


def bad(name, data, reason, what):
    write(name, data)
    INDEX.append({"file": name, "reason": reason, "what": what})


# ---- JPEG ----------------------------------------------------------------------------------------

def jpeg(mode="RGB", size=(19, 13), **options):
    out = io.BytesIO()
    image(mode, *size).save(out, "JPEG", **{"quality": 85, **options})
    return out.getvalue()


def good_jpeg(name, data, pixels=None):
    """`pixels`: a file with the same pixels, for one that Pillow refuses."""
    upright = ImageOps.exif_transpose(Image.open(io.BytesIO(pixels or data))).convert("RGB")
    good(name, data, *upright.size, upright.tobytes())


def exif(orientation, order):
    tiff = {"II": b"II*\0", "MM": b"MM\0*"}[order]
    sign = {"II": "<", "MM": ">"}[order]
    entries = [(0x0100, 3, 1, 19), (0x0112, 3, 1, orientation), (0x0131, 2, 5, 0)]
    tiff += struct.pack(sign + "IH", 8, len(entries))
    for tag, kind, count, value in entries:
        cell = struct.pack(sign + "HH", value, 0) if kind == 3 else struct.pack(sign + "I", value)
        tiff += struct.pack(sign + "HHI", tag, kind, count) + cell
    return tiff + struct.pack(sign + "I", 0)


def with_exif(data, tiff):
    block = b"Exif\0\0" + tiff
    return data[:2] + b"\xff\xe1" + struct.pack(">H", len(block) + 2) + block + data[2:]


def jpegtran(data, *options, scans=None):
    with tempfile.TemporaryDirectory() as folder:
        if scans:
            write(os.path.join(folder, "scans"), scans.encode())
            options = (*options, "-scans", os.path.join(folder, "scans"))
        return subprocess.run(["jpegtran", *options], input=data, capture_output=True,
                              check=True).stdout


def segment(data, marker):
    """Place of the marker's byte."""
    return data.index(bytes([0xff, marker])) + 1


def patched(data, at, value):
    return data[:at] + bytes(value) + data[at + len(bytes(value)):]


def scans(count):
    """A JPEG of three scans, with `count` copies of the last."""
    three = jpegtran(jpeg(), scans="0;\n1;\n2;\n")
    last = three.rindex(b"\xff\xda")
    return three[:last] + three[last:-2] * count + three[-2:]


def make_jpegs():
    slow = {"progressive": True}
    for name, options in (
            ("444", {"subsampling": 0}), ("422", {"subsampling": 1}), ("420", {"subsampling": 2}),
            ("420_low", {"quality": 10}), ("optimized", {"optimize": True}),
            ("restarts", {"restart_marker_blocks": 1}), ("progressive", slow),
            ("rgb", {"keep_rgb": True}), ("one_pixel", {"size": (1, 1)}),
            ("row", {"size": (70, 1)}), ("column", {"size": (1, 70)}), ("grey", {"mode": "L"}),
            ("grey_progressive", {"mode": "L", **slow}), ("cmyk", {"mode": "CMYK"}),
            ("cmyk_progressive", {"mode": "CMYK", **slow})):
        good_jpeg(name + ".jpg", jpeg(**options))
    base = jpeg(size=(33, 21))
    good_jpeg("440.jpg", jpegtran(jpeg(size=(32, 16), subsampling=1), "-rotate", "90"))
    good_jpeg("three_scans.jpg", jpegtran(base, scans="0;\n1;\n2;\n"))
    good_jpeg("scans_100.jpg", scans(98))
    good_jpeg("junk_after.jpg", jpeg() + b"anything")
    good_jpeg("no_end.jpg", jpeg()[:-2], jpeg())
    good_jpeg("junk_before_end.jpg", jpeg()[:-2] + b"\x12\x34\x56" * 9 + jpeg()[-2:], jpeg())
    # a PNG's transform: YCCK, as Adobe's programs write it
    cmyk = jpeg("CMYK")
    good_jpeg("ycck.jpg", patched(cmyk, segment(cmyk, 0xee) + 14, [2]))
    for orientation in range(1, 9):
        good_jpeg(f"exif_{orientation}.jpg",
                  with_exif(jpeg(size=(19, 37)), exif(orientation, "MI"[orientation % 2] * 2)))
    good_jpeg("exif_7_progressive.jpg", with_exif(jpeg(progressive=True), exif(7, "II")))
    # orientations that do not exist, and damaged EXIF data: as stored
    good_jpeg("exif_9.jpg", with_exif(jpeg(), exif(9, "II")))
    good_jpeg("exif_cut.jpg", with_exif(jpeg(), exif(6, "MM")[:25]))
    good_jpeg("exif_far.jpg", with_exif(jpeg(), b"II*\0\xff\xff\xff\xff"))


def make_bad_jpegs():
    base, slow = jpeg(), jpeg(progressive=True, size=(40, 40))
    frame, scan = segment(base, 0xc0), segment(base, 0xda)
    bad("cut_in_header.jpg", base[:scan - 20], "truncated", "before its first scan")
    bad("cut_in_scan.jpg", base[:scan + 40], "truncated", "the JPEG ends after")
    bad("cut_progressive.jpg", slow[:-60], "truncated", "the JPEG ends after")
    bad("only_start.jpg", base[:3], "truncated", "the JPEG ends after 3 bytes")
    bad("no_scan.jpg", base[:frame - 1] + b"\xff\xd9", "damaged", "without a scan")
    bad("no_frame.jpg", base[:frame - 1] + base[scan - 1:], "damaged", "a scan without a frame")
    bad("two_frames.jpg", base[:scan - 1] + base[frame - 1:], "damaged", "two frame headers")
    bad("bad_code.jpg", patched(base, scan + 14, [0xff, 0] * 8), "damaged", "bad Huffman code")
    bad("no_height.jpg", patched(base, frame + 4, [0, 0]), "too_small", "19 x 0 pixels")
    bad("too_wide.jpg", patched(base, frame + 6, [0xff, 0xff]), "too_large", "65535 x 13 pixels")
    bad("too_many.jpg", patched(base, frame + 4, [0xf0, 0, 0xf0, 0]), "too_large",
        "61440 x 61440 pixels")
    bad("twelve_bits.jpg", patched(base, frame + 3, [12]), "unsupported", "a JPEG of 12 bits")
    bad("lossless.jpg", patched(base, frame, [0xc3]), "unsupported", "lossless")
    bad("hierarchical.jpg", patched(base, frame, [0xc6]), "unsupported", "hierarchical")
    bad("two_components.jpg", patched(base, frame + 8, [2]), "unsupported", "2 components")
    bad("sampling.jpg", patched(base, frame + 10, [0x50]), "damaged", "sampling factors 5 x 0")
    bad("arithmetic.jpg", jpegtran(base, "-arithmetic"), "unsupported", "arithmetic-coded")
    bad("scans_101.jpg", scans(99), "too_large", "more than 100 scans")


# ---- PNG -----------------------------------------------------------------------------------------

GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
SAMPLES = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGBA: 4}
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
         (0, 1, 1, 2))


def chunk(name, data, crc=0):
    return (struct.pack(">I", len(data)) + name + data +
            struct.pack(">I", zlib.crc32(name + data) ^ crc))


def packed(samples, depth):
    """One row: filter 0, then the samples, most significant bits first."""
    bits = "".join(f"{v:0{depth}b}" for v in samples)
    bits += "0" * (-len(bits) % 8)
    return b"\0" + bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))


def png(colour, depth, samples, interlaced=False, extra=b"", after=b"", **broken):
    """`samples`: rows of pixels, tuples of whole numbers below 2^depth."""
    height, width = len(samples), len(samples[0])
    passes = ADAM7 if interlaced else ((0, 0, 1, 1),)
    raw = b""
    for x0, y0, dx, dy in passes:
        for y in range(y0, height, dy):
            row = [v for pixel in samples[y][x0::dx] for v in pixel]
            raw += packed(row, depth) if row else b""
    data = zlib.compress(raw, 9)
    header = struct.pack(">IIBBBBB", broken.get("width", width), height, depth, colour, 0, 0,
                         interlaced)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra +
            chunk(b"IDAT", data, broken.get("crc", 0)) + after + chunk(b"IEND", b""))


def draw(colour, depth, width, height):
    return [[tuple(noise(x, y, c, depth) % (1 << depth) for c in range(SAMPLES[colour]))
             for x in range(width)] for y in range(height)]


def palette(count):
    return [tuple(noise("palette", i, c) % 256 for c in range(3)) for i in range(count)]


def rgb_of(colour, depth, samples, colours):
    def one(value):  # as 8 bits: the high byte of 16, and fewer spread over the scale
        return value >> 8 if depth == 16 else value * 255 // ((1 << depth) - 1)
    out = bytearray()
    for row in samples:
        for pixel in row:
            if colour == PALETTE:
                out += bytes(colours[pixel[0]])
            elif colour in (GREY, GREY_ALPHA):
                out += bytes([one(pixel[0])] * 3)
            else:
                out += bytes(one(v) for v in pixel[:3])
    return bytes(out)


def make_pngs():
    names = {GREY: "grey", RGB: "rgb", PALETTE: "palette", GREY_ALPHA: "grey_alpha", RGBA: "rgba"}
    depths = {GREY: (1, 2, 4, 8, 16), RGB: (8, 16), PALETTE: (1, 2, 4, 8), GREY_ALPHA: (8, 16),
              RGBA: (8, 16)}
    for colour, name in names.items():
        for depth in depths[colour]:
            for interlaced in (False, True):
                samples = draw(colour, depth, 11, 7)
                colours = palette(1 << depth) if colour == PALETTE else []
                extra = chunk(b"PLTE", bytes(v for c in colours for v in c)) if colours else b""
                if colours:
                    extra += chunk(b"tRNS", bytes([0, 128])[:1 << depth])
                good(f"{name}_{depth}{'_interlaced' if interlaced else ''}.png",
                     png(colour, depth, samples, interlaced, extra), 11, 7,
                     rgb_of(colour, depth, samples, colours))
    samples = draw(RGB, 8, 20, 35)
    plain = rgb_of(RGB, 8, samples, [])
    # chunks that other programs use to change colours; ignored
    gamma = chunk(b"gAMA", struct.pack(">I", 100000)) + chunk(b"sBIT", bytes([5, 6, 5]))
    good("gamma.png", png(RGB, 8, samples, extra=gamma), 20, 35, plain)
    good("transparent.png", png(RGB, 8, samples, extra=chunk(b"tRNS", bytes(6))), 20, 35, plain)
    good("profile.png", png(RGB, 8, samples, extra=chunk(b"iCCP", b"x\0\0not zlib")), 20, 35, plain)
    good("junk_after.png", png(RGB, 8, samples) + b"anything", 20, 35, plain)
    turned = bytes(v for y in range(20) for x in range(35) for v in samples[34 - x][y])
    good("exif_6.png", png(RGB, 8, samples, extra=chunk(b"eXIf", exif(6, "MM"))), 35, 20, turned)
    good("exif_6_after.png", png(RGB, 8, samples, True, after=chunk(b"eXIf", exif(6, "II"))), 35,
         20, turned)
    short = png(PALETTE, 8, [[(200,), (1,)]], extra=chunk(b"PLTE", bytes([9] * 6)))
    good("palette_short.png", short, 2, 1, bytes([0, 0, 0, 9, 9, 9]))


def make_bad_pngs():
    samples = draw(RGB, 8, 12, 9)
    base = png(RGB, 8, samples)
    bad("cut_in_header.png", base[:30], "truncated", "in its header")
    bad("cut_in_pixels.png", base[:150], "truncated", "the PNG ends after 150 bytes")
    bad("no_end.png", base[:-12], "truncated", "the PNG ends after")
    bad("checksum.png", png(RGB, 8, samples, crc=1), "damaged", "CRC")
    bad("checksum_beside.png", png(RGB, 8, samples, extra=chunk(b"tEXt", b"a\0b", 1)), "damaged",
        "CRC")
    bad("few_pixels.png", png(RGB, 8, samples, width=13), "damaged", "")
    bad("no_width.png", png(RGB, 8, samples, width=0), "too_small", "0 x 9 pixels")
    bad("too_wide.png", png(RGB, 8, samples, width=1 << 30), "too_large", "1073741824 x 9 pixels")
    bad("no_palette.png", png(PALETTE, 8, [[(1,)]]), "damaged", "")
    bad("depth.png", patched(base, 24, [3]), "damaged", "")
    bad("apple.png", base[:8] + chunk(b"CgBI", bytes(4)) + base[8:], "damaged",
        "does not begin with its header")


# ---- WebP: read only by a leat that was built with libwebp ---------------------------------------

def webp(mode="RGB", size=(33, 21), **options):
    out = io.BytesIO()
    image(mode, *size).save(out, "WEBP", **options)
    return out.getvalue()


def good_webp(name, data, pixels=None):
    good_jpeg(name, data, pixels)
    INDEX[-1]["library"] = "libwebp"


def bad_webp(name, data, reason, what):
    bad(name, data, reason, what)
    INDEX[-1]["library"] = "libwebp"


def make_webps():
    good_webp("other.webp", webp(size=(4, 3)))
    good_webp("lossy.webp", webp())
    good_webp("lossless.webp", webp(lossless=True))
    good_webp("alpha.webp", webp("RGBA", lossless=True, exact=True))
    good_webp("lossy_alpha.webp", webp("RGBA", exact=True))
    good_webp("exif_6.webp", webp(lossless=True, exif=b"Exif\0\0" + exif(6, "MM")))
    good_webp("junk_after.webp", webp(lossless=True) + b"anything", webp(lossless=True))
    frames = [image("RGB", 8, 8), image("RGB", 8, 8).transpose(Image.ROTATE_90)]
    out = io.BytesIO()
    frames[0].save(out, "WEBP", save_all=True, append_images=frames[1:])
    bad_webp("animated.webp", out.getvalue(), "unsupported", "an animated WebP")
    bad_webp("cut.webp", webp()[:-20], "truncated", "the WebP ends after")
    bad_webp("cut_lossless.webp", webp(lossless=True)[:-40], "truncated", "the WebP ends after")
    bad_webp("no_picture.webp", b"RIFF\x0c\0\0\0WEBPXXXX\0\0\0\0", "damaged", "without a picture")


def make_others():
    for form, seems in (("GIF", "a GIF"), ("BMP", "a BMP"), ("TIFF", "a TIFF")):
        out = io.BytesIO()
        image("RGB", 4, 3).save(out, form)
        bad(f"other.{form.lower()}", out.getvalue(), "not_an_image", seems)
    for name, data, seems in (
            ("empty.jpg", b"", "empty"), ("text.png", b"not a picture\n", "text"),
            ("zeros.jpg", bytes(40), "neither JPEG nor PNG"),
            ("document.jpg", b"%PDF-1.7\n", "a PDF"),
            ("packed.zip", b"PK\3\4....", "a zip archive"),
            ("phone.jpg", b"\0\0\0\x18ftypheic", "an HEIC")):
        bad(name, data, "not_an_image", seems)


make_jpegs()
make_bad_jpegs()
make_pngs()
make_bad_pngs()
make_webps()
make_others()
with open("index.json", "w", encoding="ascii") as index:
    lines = ",\n ".join(json.dumps(entry) for entry in INDEX)
    index.write(f"[{lines}]\n")
