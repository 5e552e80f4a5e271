"""safetensors files of leat read by the safetensors package, the package's read by leat, and what
each of the two refuses.

Needs scripts/python-env.sh; skipped, with a line that says so, where it could not be made.
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
    import safetensors
    import safetensors.numpy
except ImportError as error:
    print(f"skipped: {error} (scripts/python-env.sh makes the environment)")
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.join(os.environ.get("LEAT_BUILD", os.path.join(ROOT, "build")), "tests",
                    "oracle_tool_safetensors")
BYTES = {"BOOL": 1, "U8": 1, "I8": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2, "I32": 4, "U32": 4,
         "F32": 4, "I64": 8, "U64": 8, "F64": 8}


def tool(*words):
    done = subprocess.run([TOOL, *words], capture_output=True, encoding="utf-8", errors="replace",
                          timeout=300, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{words[:2]}: {done.stderr}")
    return done.stdout


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "some.safetensors")

    def test_ours_read_by_theirs(self):
        tool("write", self.path)
        with safetensors.safe_open(self.path, "numpy") as file:
            self.assertEqual(file.metadata(),
                             {"format": "leat", 'a "key"\n': "\u00e4\u20ac", "empty": ""})
        with open(self.path, "rb") as file:
            data = file.read()
        tensors = dict(safetensors.deserialize(data))
        names = [f"a/{name}" for name in BYTES]
        self.assertEqual(set(tensors), {*names, 'empty "\u00e4"', "scalar"})
        self.assertEqual(tensors['empty "\u00e4"']["shape"], [2, 0, 5])
        self.assertEqual(tensors["scalar"]["shape"], [])
        at = 0
        for index, name in enumerate(reversed(BYTES)):
            tensor = tensors[f"a/{name}"]
            size = 3 * (index + 1) * BYTES[name]
            self.assertEqual(tensor["dtype"], name)
            self.assertEqual(tensor["shape"], [index + 1, 3])
            self.assertEqual(bytes(tensor["data"]), bytes(i % 251 for i in range(at, at + size)))
            at += size
        with safetensors.safe_open(self.path, "numpy") as file:
            found = file.get_tensor("a/F64")
        self.assertEqual(found.tobytes(), bytes(i % 251 for i in range(24)))

    def test_theirs_read_by_ours(self):
        rows = numpy.arange(24)
        arrays = {
            f"{kind}/\u00e4\"\\": rows.astype(kind).reshape(shape)
            for kind, shape in (("bool", (24,)), ("uint8", (2, 12)), ("int8", (24, 1)),
                                ("int16", (2, 3, 4)), ("uint16", (24,)), ("float16", (4, 6)),
                                ("int32", (24,)), ("uint32", (1, 24)), ("float32", (2, 2, 6)),
                                ("int64", (3, 8)), ("uint64", (24,)), ("float64", (6, 4)))}
        arrays["scalar"] = numpy.array(3.5)
        arrays["none"] = numpy.zeros((0, 35), numpy.float32)
        metadata = {"about": json.dumps({"window": 100}), "\u20ac\n": "\u00e4\"", "": "x" * 100000}
        for with_metadata in (None, metadata):
            safetensors.numpy.save_file(arrays, self.path, with_metadata)
            told = json.loads(tool("read", self.path, *metadata, "other"))
            self.assertEqual(told["metadata"], with_metadata or {})
            with open(self.path, "rb") as file:
                data = file.read()
            self.assertEqual(set(told["tensors"]), set(arrays))
            for name, array in arrays.items():
                tensor = told["tensors"][name]
                self.assertEqual(tensor["shape"], list(array.shape))
                self.assertEqual(BYTES[tensor["dtype"]], array.itemsize)
                self.assertEqual(data[tensor["offset"]:tensor["offset"] + tensor["bytes"]],
                                 array.tobytes())

    def test_bfloat16(self):
        bits = numpy.arange(2, dtype=numpy.uint16)
        spec = safetensors.TensorSpec(dtype="bfloat16", shape=[2], data_ptr=bits.ctypes.data,
                                      data_len=bits.nbytes)
        safetensors.serialize_file({"b": spec}, self.path)
        tensor = json.loads(tool("read", self.path))["tensors"]["b"]
        self.assertEqual((tensor["dtype"], tensor["shape"]), ("BF16", [2]))


class Refused(unittest.TestCase):
    """Headers with one or two things changed: what leat reads, the package reads; and the other way
    round, but for what leat says it does not read."""
    ROUNDS = 3000
    NAMES = ("a", "b", "c", "", "\u00e4", "__metadata__")
    VALUES = ("null", "true", "0", "1", "-1", "1.0", "1e1", "8", '"F32"', '"BOOL"', '"f32"',
              '"I64"', '"F8_E4M3"', '"F64"', "[]", "[0]", "[1]", "[0,0]", "[0,4]", "[8,4]",
              "[4,8]", "[2,2]",
              "[1,1,1,1,1,1,1,1]", "[1,1,1,1,1,1,1,1,1]", "[4611686018427387904,4,0]",
              "[4611686018427387904,2]", "[0,4611686018427387904,4]", "[0,4,4]", "[1.0]", "{}",
              '{"k":"v"}', '{"k":"v","k":"w"}', '{"k":null}', '"\\u0000"')
    PIECES = ("{", "}", "[", "]", ",", ":", '"', " ", "0", "1", "\\", "\x00", "\n", "\u00e4")
    # what leat refuses of what the package reads
    STRICTER = ("appears twice", "is of type", "9 numbers; the limit is 8",
                "is not valid JSON: line 1 column")

    def test_both_agree(self):
        rng = random.Random(5)
        with tempfile.TemporaryDirectory() as folder:
            paths, accepted = [], []
            for number in range(self.ROUNDS):
                data = self.changed(rng)
                paths.append(os.path.join(folder, str(number)))
                with open(paths[-1], "wb") as file:
                    file.write(data)
                try:
                    safetensors.deserialize(data)
                    accepted.append(True)
                except safetensors.SafetensorError:
                    accepted.append(False)
            lines = tool("check", *paths).split("\n")[:-1]
        both = stricter = 0
        for path, line, theirs in zip(paths, lines, accepted, strict=True):
            ours = line == "read"
            both += ours and theirs
            if theirs and not ours:
                stricter += 1
                self.assertTrue(any(words in line for words in self.STRICTER), line)
            self.assertFalse(ours and not theirs, f"{path}: {line}")
        self.assertGreater(both, self.ROUNDS // 5)
        self.assertLess(both, self.ROUNDS * 4 // 5)

    def changed(self, rng):
        entries, at = [], 0
        for name in rng.sample(self.NAMES, rng.randrange(4)):
            dtype, shape = rng.choice(list(BYTES)), rng.choice(([], [1], [0], [2, 3], [5, 0, 2]))
            size = BYTES[dtype] * int(numpy.prod(shape))
            entries.append([name, json.dumps(dtype), json.dumps(shape),
                            f"[{at},{at + size}]"])
            at += size
        rng.shuffle(entries)
        if entries and rng.random() < 0.5:
            rng.choice(entries)[rng.randrange(1, 4)] = rng.choice(self.VALUES)
        members = [f'{json.dumps(name)}:{{"dtype":{dtype},"shape":{shape},"data_offsets":{place}}}'
                   for name, dtype, shape, place in entries]
        if rng.random() < 0.2:
            members.insert(rng.randrange(len(members) + 1),
                           rng.choice(('"__metadata__":', '"z":')) + rng.choice(self.VALUES))
        header = "{" + ",".join(members) + "}"
        if rng.random() < 0.3:
            begin = rng.randrange(len(header) + 1)
            end = begin + rng.randrange(2)
            header = header[:begin] + rng.choice((*self.PIECES, "")) + header[end:]
        text = header.encode()
        return struct.pack("<Q", len(text) + rng.choice((0,) * 30 + (1, -1))) + text + \
            bytes(max(0, at + rng.choice((0,) * 30 + (1, -1))))


if __name__ == "__main__":
    unittest.main()
