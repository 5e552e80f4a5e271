"""leat inspect, cat and batches of CAN caches whose numbers are not what an ingest writes: zero,
below zero, huge, with hashes that match, as from somebody who edits them. Each ends in an error
or a finding; none in a crash. Runs the command named by LEAT (default: build/leat)."""
import copy
import ctypes
import ctypes.util
import hashlib
import json
import os
import shutil
import struct
import tempfile
import unittest

from command import leat

WHOLE = (-2**63, -1, 2**31 - 1, 2**63 - 1)
REAL = (float("inf"), float("nan"), -1e308)
# What the metadata alone says, so that no other number contradicts it. A log's own facts: where it
# was cut, its times, its lines; how validation was drawn; what the loader makes of the windows.
UNCHECKED = {"bus", "recording", "vehicle", "rejected", "first_s", "last_s", "mean_interval",
             "val_fraction_seed", "frames_cut"}
XXHASH = ctypes.util.find_library("xxhash")


class Cache:
    """A small cache, which is restored after each change."""

    def __init__(self, folder, store):
        logs = os.path.join(folder, "logs")
        if not os.path.isdir(logs):
            leat("synth", "can", "--frames", 8000, "--vehicles", 1, "--attacks", "dos", "-o", logs,
                 status=0)
        done = leat("ingest", "can", logs, "-o", os.path.join(folder, store), "--store", store,
                    "--json", status=0)
        self.path = json.loads(done.stdout)["cache"]
        self.page = os.path.join(folder, "page.html")
        self.files = {}
        for name in os.listdir(self.path):
            with open(os.path.join(self.path, name), "rb") as file:
                self.files[name] = file.read()
        self.metadata = json.loads(self.files["cache_metadata.json"])

    def write(self, name, data):
        with open(os.path.join(self.path, name), "wb") as file:
            file.write(data)

    def put_metadata(self, document):
        """With its hash in .complete."""
        old, new = self.files["cache_metadata.json"], json.dumps(
            document, indent=2, sort_keys=True, ensure_ascii=False).encode()
        self.write("cache_metadata.json", new)
        self.write(".complete", self.files[".complete"].replace(
            hashlib.sha256(old).hexdigest().encode(), hashlib.sha256(new).hexdigest().encode()))

    def put_tensors(self, split, data):
        """With the hashes of the pages, and theirs."""
        hashed = ctypes.CDLL(XXHASH).XXH3_64bits
        hashed.restype, hashed.argtypes = ctypes.c_uint64, (ctypes.c_char_p, ctypes.c_size_t)
        data = bytes(data)
        pages = b"".join(struct.pack("<Q", hashed(data[at:at + 4096], len(data[at:at + 4096])))
                         for at in range(0, len(data), 4096))
        self.write(f"{split}.safetensors", data)
        self.write(f"{split}.pages", pages)
        document = copy.deepcopy(self.metadata)
        document["splits"][split]["pages_xxh3"] = f"{hashed(pages, len(pages)):016x}"
        self.put_metadata(document)

    def restore(self):
        for name, data in self.files.items():
            self.write(name, data)

    def commands(self, graph):
        """The two that read everything; and those that show the graph at its place."""
        return (("inspect", self.path, "--html", self.page),
                ("inspect", self.path, "--verify", "--json"),
                ("cat", self.path, "--graph", graph, "--format", "words"),
                ("batches", self.path, "--explain", 0))


def places(value, path=()):
    """The path of each number of a document; of each list, and of the members of each vocabulary,
    only of the first."""
    if isinstance(value, dict):
        names = sorted(value)
        if path and path[-1] in ("id_frames", "mean_interval", "attack_balance"):
            names = names[:1]
        for name in names:
            yield from places(value[name], (*path, name))
    elif isinstance(value, list):
        for index in range(min(len(value), 1)):
            yield from places(value[index], (*path, index))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path


def put(document, path, value):
    for name in path[:-1]:
        document = document[name]
    document[path[-1]] = value


def at(document, path):
    for name in path:
        document = document[name]
    return document


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="leat-can-hostile-")
        cls.caches = {store: Cache(cls.folder, store) for store in ("features", "frames")}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def expect_handled(self, cache, graph, what):
        """No command crashes, all say what is the matter; whether --verify finds anything."""
        for words in cache.commands(graph):
            with self.subTest(what, words=words):
                done = leat(*words)
                self.assertIn(done.returncode, (0, 1), done.stderr)
                self.assertNotIn("Sanitizer", done.stderr)
                self.assertNotIn("runtime error", done.stderr)
                if "--json" in words:
                    told = json.loads(done.stdout)["verification"]
                    self.assertEqual(done.returncode, 0 if told["ok"] else 1)
                elif done.returncode == 1:
                    self.assertRegex(done.stderr, r"\Aleat: .*\S\n\Z")
        return told["ok"]

    def test_metadata(self):
        cache = self.caches["features"]
        cache.put_metadata(cache.metadata)  # as it was: nothing else is wrong with what follows
        self.assertTrue(self.expect_handled(cache, 0, "unchanged"))
        for path in places(cache.metadata):
            before = at(cache.metadata, path)
            for value in (-1, 0, 2**63 - 1, 1e308):
                if value == before:
                    continue
                document = copy.deepcopy(cache.metadata)
                put(document, path, value)
                cache.put_metadata(document)
                ok = self.expect_handled(cache, 0, f"{path} is {value}")
                if not UNCHECKED & set(path):
                    self.assertFalse(ok, f"{path} is {value}")
        cache.restore()

    @unittest.skipIf(XXHASH is None, "no shared libxxhash, which hashes the pages of tensors")
    def test_tensors(self):
        for store, cache in self.caches.items():
            data = cache.files["train.safetensors"]
            last = cache.metadata["splits"]["train"]["num_graphs"] - 1
            size, = struct.unpack("<Q", data[:8])
            for name, tensor in sorted(json.loads(data[8:8 + size]).items()):
                if name == "__metadata__":
                    continue
                kind = {"I64": "q", "I32": "i", "U32": "I", "I16": "h", "F32": "f",
                        "F64": "d"}[tensor["dtype"]]
                begin, end = tensor["data_offsets"]
                wide = struct.calcsize(kind)
                for value in REAL if kind in "fd" else WHOLE:
                    if kind == "f" and abs(value) == 1e308:
                        value /= 1e270
                    for place in (0, (end - begin) // wide - 1):
                        changed = bytearray(data)
                        graph = 0 if place == 0 else last
                        place = 8 + size + begin + place * wide
                        try:
                            struct.pack_into("<" + kind, changed, place, value)
                        except struct.error:
                            continue  # not a number of this type
                        if changed == data:
                            continue
                        cache.put_tensors("train", changed)
                        what = f"{store}: {name} at {place} is {value}"
                        ok = self.expect_handled(cache, graph, what)
                        if name not in ("x", "edge_attr", "frame_bytes", "frame_id", "frame_time"):
                            self.assertFalse(ok, what)
            cache.restore()


if __name__ == "__main__":
    unittest.main()
