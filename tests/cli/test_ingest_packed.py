"""Inputs compressed by gzip, bzip2, xz and zstd: the same data set as from plain files; damage.

Runs the command named by LEAT (default: build/leat). Compresses with Python's own modules, and with
libzstd, which leat needs as well.
"""
import bz2
import ctypes
import ctypes.util
import gzip
import json
import lzma
import os
import random
import re
import shutil
import unittest
import zipfile

import folder
import command

ZSTD_WINDOW_LOG = 101

OWN = 32 if os.environ.get("LEAT_SANITIZE") else 0  # MiB that a sanitizer's runtime takes


def zstd(data, window_log=0):
    library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    library.ZSTD_createCCtx.restype = ctypes.c_void_p
    library.ZSTD_compressBound.restype = library.ZSTD_compress2.restype = ctypes.c_size_t
    library.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    library.ZSTD_CCtx_setParameter.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
    library.ZSTD_CCtx_setParameter.restype = ctypes.c_size_t
    library.ZSTD_compress2.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t,
                                       ctypes.c_char_p, ctypes.c_size_t]
    library.ZSTD_freeCCtx.argtypes = [ctypes.c_void_p]
    context, room = library.ZSTD_createCCtx(), library.ZSTD_compressBound(len(data))
    packed = ctypes.create_string_buffer(room)
    library.ZSTD_CCtx_setParameter(context, 201, 1)  # with a checksum
    if window_log:
        library.ZSTD_CCtx_setParameter(context, ZSTD_WINDOW_LOG, window_log)
    size = library.ZSTD_compress2(context, packed, room, data, len(data))
    library.ZSTD_freeCCtx(context)
    return packed.raw[:size]


CODINGS = {".gz": ("gzip", gzip.compress), ".bz2": ("bzip2", bz2.compress),
           ".xz": ("xz", lzma.compress), ".zst": ("zstd", zstd)}


def objects(count, seed=1):
    draw = random.Random(seed)
    return [{"type": "ping", "timestamp": 1556136000 + i, "from": f"192.0.2.{draw.randrange(250)}",
             "dst_addr": "198.51.100.1", "avg": draw.randrange(90000) / 1000} for i in range(count)]


class Packed(folder.Folder):
    def ingest(self, *words):
        """The manifest, and the result."""
        shutil.rmtree(self.at("out"), ignore_errors=True)
        done = command.leat("ingest", "probes", *words, "-o", self.at("out"), "--json", status=0)
        with open(self.at("out/manifest.json"), "rb") as file:
            return file.read(), json.loads(done.stdout)

    def refused(self, *words):
        shutil.rmtree(self.at("out"), ignore_errors=True)
        return command.leat("ingest", "probes", *words, "-o", self.at("out"), status=1).stderr

    def test_the_same_data_set(self):
        rows = objects(3000)
        lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
        texts = {"ndjson": lines, "json": json.dumps(rows).encode(),
                 "csv": b"event_time,src_addr,dst_addr,rtt\n" + b"".join(
                     f"{row['timestamp']},{row['from']},{row['dst_addr']},{row['avg']}\n".encode()
                     for row in rows)}
        want = self.ingest(self.write("plain", lines))[0]
        for kind, text in texts.items():
            cut = len(text) // 3
            for suffix, (name, pack) in CODINGS.items():
                with self.subTest(kind=kind, coding=name):
                    # several members, zero bytes after them; the name says nothing
                    data = pack(text[:cut]) + pack(b"") + pack(text[cut:]) + bytes(8)
                    self.assertEqual(self.ingest(self.write("packed", data))[0], want)
                    with open(self.write("a." + kind + suffix, pack(text)), "rb") as file:
                        self.assertLess(len(file.read()), len(text))
        folder = self.at("folder")
        os.mkdir(folder)
        for i, suffix in enumerate(CODINGS):
            part = "".join(json.dumps(row) + "\n" for row in rows[i::4]).encode()
            self.write(f"folder/p{i}.ndjson{suffix}", CODINGS[suffix][1](part))
        for threads in (1, 3):
            self.assertEqual(self.ingest(folder, "--threads", threads)[0], want)
        self.write("folder/p0.ndjson.zst", zstd(b"{}"))
        self.assertRegex(self.refused(folder), "contains \"p0.ndjson.gz\" and \"p0.ndjson.zst\"")
        # a frame that is skipped comes first, as from a parallel compressor
        skipped = b"\x50\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"abc"
        self.assertEqual(self.ingest(self.write("packed", skipped + zstd(lines)))[0], want)

    def test_damage_is_named(self):
        lines = "".join(json.dumps(row) + "\n" for row in objects(2000)).encode()
        for name, pack in CODINGS.values():
            data = pack(lines)
            head = rf'packed": damaged {name} data at byte \d+: '
            for keep in (12, len(data) // 2, len(data) - 1):
                with self.subTest(coding=name, keep=keep):
                    self.assertRegex(self.refused(self.write("packed", data[:keep])),
                                     head + "the file is truncated")
            with self.subTest(coding=name, second="truncated"):
                self.assertRegex(self.refused(self.write("packed", data + data[:-1])),
                                 head + "the file is truncated")
            with self.subTest(coding=name, after="garbage"):
                self.assertRegex(self.refused(self.write("packed", data + b"garbage")),
                                 head + f"data after a complete member is not {name}")
            with self.subTest(coding=name, byte="flipped"):
                changed = bytearray(data)
                changed[len(data) * 2 // 3] ^= 0x10
                self.assertRegex(self.refused(self.write("packed", changed)), head)

    def test_a_binary_log_of_can_in_gzip(self):
        """It is told by what is inside, with the line that converts it."""
        os.mkdir(self.at("logs"))
        blf = gzip.compress(b"LOGG\x90\0\0\0" + bytes(200))
        for name in ("x.log.gz", "x.csv.gz", "x.blf.gz"):
            with open(self.at("logs", name), "wb") as file:
                file.write(blf)
            said = command.leat("ingest", "can", self.at("logs", name), "-o", self.at("out"),
                                status=1).stderr
            self.assertIn(f'{name}" is a BLF file of Vector, not a log of lines; convert it: '
                          "python3 -m can.logconvert FILE.blf FILE.log", said)
        os.unlink(self.at("logs", "x.log.gz"))
        os.unlink(self.at("logs", "x.csv.gz"))
        self.assertRegex(command.leat("ingest", "can", self.at("logs"), "-o", self.at("out"),
                                      status=1).stderr, 'it contains 1 other: ".*x.blf.gz"')

    def test_empty_files_are_not_packed(self):
        """What a failed download leaves."""
        for suffix in (*CODINGS, ".zip"):
            path = self.write("a.ndjson" + suffix, b"")
            self.assertRegex(self.refused(path), "is empty, which no compressed file is")
            os.unlink(path)

    def test_a_document_must_end_with_its_file(self):
        text = json.dumps(objects(100)).encode()
        for name, pack in CODINGS.values():
            with self.subTest(coding=name):
                self.assertRegex(self.refused(self.write("packed", pack(text[:-1]))),
                                 'packed" is not a complete JSON array: after element 99, it ends')

    def test_archives(self):
        """A zip archive of one file, and of others."""
        lines = "".join(json.dumps(row) + "\n" for row in objects(2000)).encode()
        want = self.ingest(self.write("plain", lines))[0]

        def archive(*members, method=zipfile.ZIP_DEFLATED):
            with zipfile.ZipFile(self.at("packed"), "w", method) as file:
                for name, data in members:
                    file.writestr(name, data)
            return self.at("packed")

        one = ("a/x.json", lines)
        for members in ([one], [("a/", b""), one, ("__MACOSX/a/x.json", b"x"), ("a/.hidden", b"")]):
            for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
                self.assertEqual(self.ingest(archive(*members, method=method))[0], want)
        self.assertRegex(self.refused(archive(one, ("y.json", b""))), "a zip archive of 2 files")
        self.assertRegex(self.refused(archive()), "packed")
        self.assertRegex(self.refused(archive(one, method=zipfile.ZIP_BZIP2)), "other than deflate")
        with open(archive(one, method=zipfile.ZIP_STORED), "rb") as file:
            data = bytearray(file.read())
        self.assertRegex(self.refused(self.write("packed", data[:-30])), 'packed" cannot be read')
        alone = "more than one zip archive, or has bytes before or after it"
        for joined in (data + data, data + b"x", data + lines[:9000]):
            self.assertRegex(self.refused(self.write("a.ndjson.zip", joined)), alone)
        self.assertRegex(self.refused(self.write("a.ndjson.zip", data + 9 * lines)),
                         "cannot be read as a zip archive")  # the end is not at its end
        os.unlink(self.at("a.ndjson.zip"))
        data[len(data) // 2] ^= 1
        self.assertRegex(self.refused(self.write("packed", data)), 'packed": damaged zip archive: ')
        os.mkdir(self.at("folder"))
        os.rename(archive(one), self.at("folder/x.json.zip"))
        self.assertEqual(self.ingest(self.at("folder"))[0], want)
        self.write("folder/x.json", lines)
        self.assertRegex(self.refused(self.at("folder")), '"x.json" and "x.json.zip"')

    def test_dictionaries_count(self):
        """A dictionary or window of 64 MiB fits only a larger limit; the message names one."""
        rows = objects(500)
        lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
        filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 64 << 20}]
        want = self.ingest(self.write("plain", lines))[0]
        # zstd narrows a window to the contents: these end with a line that is too long
        wide = lines + b" " * (70 << 20)
        for name, data in (("xz", lzma.compress(lines, filters=filters)),
                           ("zstd", zstd(wide, 26))):
            with self.subTest(coding=name):
                path = self.write("packed", data)
                self.assertRegex(self.refused(path, "--memory", "48M"), "use (a larger )?--memory")
                manifest, result = self.ingest(path, "--memory", f"{140 + OWN}M")
                self.assertEqual(manifest, want)
                self.assertLessEqual(result["memory_peak_bytes"], (140 + OWN) << 20)
                # what a later member needs is not known before
                later = self.write("later", CODINGS[".xz" if name == "xz" else ".zst"][1](lines)
                                   + data)
                refusal = self.refused(later, "--memory", f"{140 + OWN}M")
                self.assertRegex(refusal, 'later": unpacking it requires')
                # but the message names what is enough
                enough = int(re.search(r"\(--memory (\d+)M is enough\)", refusal)[1]) + OWN
                manifest, result = self.ingest(later, "--memory", f"{enough}M")
                self.assertEqual(result["measurements"], 2 * len(rows))
                self.assertLessEqual(result["memory_peak_bytes"], enough << 20)

    def test_bombs_take_no_memory(self):
        """Blanks that unpack to a thousand times their size, and a line without end."""
        text = json.dumps(objects(1)[0]).encode() + b"\n" + b" " * (80 << 20)
        for pack in (gzip.compress, zstd):
            data = pack(text)
            with self.subTest(pack=pack):
                _, result = self.ingest(self.write("packed", data), "--memory", f"{64 + OWN}M")
                self.assertEqual((result["measurements"], result["rejected"]), (1, 1))
                self.assertLessEqual(result["memory_peak_bytes"], (64 + OWN) << 20)


if __name__ == "__main__":
    unittest.main()
