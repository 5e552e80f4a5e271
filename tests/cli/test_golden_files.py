"""The golden files of the clone (tests/golden/reference): each is found and readable, and is what
make.py there makes of whole files; how tests find them."""
import gzip
import importlib.util
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

import golden_files
from command import ROOT

FOLDER = os.path.join(ROOT, "tests", "golden", "reference")
_spec = importlib.util.spec_from_file_location("make", os.path.join(FOLDER, "make.py"))
make = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(make)


def ask(name, shared=None):
    """(exit status, output) of a program that prints where a file is, and what it holds."""
    environment = {key: value for key, value in os.environ.items() if key != "LEAT_SHARED"}
    if shared is not None:
        environment["LEAT_SHARED"] = shared
    done = subprocess.run(
        [sys.executable, "-c", "import sys, golden_files\npath = golden_files.path(sys.argv[1])\n"
         "assert path == golden_files.path(sys.argv[1])\nprint(path)\n"
         "print(open(path, 'rb').read(6))", name], env=environment, check=False,
        cwd=os.path.dirname(os.path.abspath(__file__)), capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


class Files(unittest.TestCase):
    def test_each_can_be_read(self):
        names = sorted(name for name in make.names_in(FOLDER) if name not in make.OWN)
        self.assertGreater(len(names), 300)
        for name in names:
            with open(os.path.join(FOLDER, name), "rb") as file:
                data = file.read()
            content = make.content_of(name, data)  # a packed file has a checksum
            self.assertEqual(not content, name == "golden/latency/arrow/bad_empty.arrows", name)
            if name.endswith(".gz"):
                self.assertNotIn(name[:-3], names)
            if ".safetensors" in name:
                self.assertTrue(make.read_tensors(content)[0], name)

    def test_they_are_parts_of_the_whole(self):
        """With LEAT_SHARED; without, that a file which was changed, lost or added is found."""
        if golden_files.WHOLE:
            self.assertEqual(make.check(make.make(golden_files.SHARED)), [])
        files = {}
        for name in make.names_in(FOLDER):
            if name not in make.OWN:
                with open(os.path.join(FOLDER, name), "rb") as file:
                    files[name] = file.read(), 0
        self.assertEqual(make.check(files), [])
        lost, changed = "golden/can/cache/vocab.json", "golden/can/batches_ref.json.gz"
        files["added"] = b"", 0
        del files[lost]
        files[changed] = gzip.compress(b"{}"), 0
        self.assertEqual(make.check(files), ["added", lost, changed])

    def test_lookup(self):
        packed, plain = "golden/can/batches_ref.json", "golden/can/cache/vocab.json"
        for name in (packed, plain):
            status, out = ask(name)
            self.assertEqual((status, out.splitlines()[1][:3]), (0, "b'{"), out)
        path = ask(packed)[1].splitlines()[0]
        self.assertEqual(os.path.basename(path), "batches_ref.json")
        self.assertFalse(os.path.exists(os.path.dirname(os.path.dirname(path))))
        self.assertEqual(ask(plain)[1].splitlines()[0], os.path.join(FOLDER, plain))
        status, out = ask("golden/can/none.json")
        self.assertEqual((status, "there is no golden file" in out), (1, True), out)
        with tempfile.TemporaryDirectory() as shared:
            os.mkdir(os.path.join(shared, "golden"))
            with open(os.path.join(shared, "golden", "own"), "w", encoding="ascii") as file:
                file.write("whole")
            self.assertEqual(ask("golden/own", shared),
                             (0, f"{shared}/golden/own\nb'whole'\n"))
            status, out = ask(plain, shared)  # never a part where whole files are asked for
            self.assertEqual((status, f"{shared}/{plain}" in out), (1, True), out)


class Cuts(unittest.TestCase):
    def tensors(self, **tensors):
        return make.write_tensors([
            (name.replace("__", "/").replace("_f64", ".f64"), "F32", [len(values)],
             struct.pack(f"<{len(values)}f", *values)) for name, values in tensors.items()],
            {"about": "a test"})

    def test_dcgan(self):
        many = list(range(1000))
        tensors, metadata = make.read_tensors(make.dcgan(self.tensors(
            init__w=many, unit__w=many, unit__w_f64=many, unit__moments__w_f64=many,
            simultaneous3__w=many, alternating3__w=many[:500])))
        left = struct.pack("<29f", *many[::35])
        self.assertEqual([(name, shape, values if name != "init/w" else None)
                          for name, _, shape, values in tensors],
                         [("init/w", [1000], None), ("unit/w.f64", [29], left),
                          ("simultaneous3/w", [29], left),
                          ("alternating3/w", [500], struct.pack("<500f", *many[:500]))])
        self.assertEqual(metadata, {"about": "a test",
                                    "unit/w.f64": "every 35th value of 1000",
                                    "simultaneous3/w": "every 35th value of 1000"})

    def test_tensors(self):
        data = self.tensors(in__w=[1], out__w=[2], out__w_f64=[3])
        for cut, left in ((make.float64, ["in/w", "out/w.f64"]), (make.only("out/*"), [
                "out/w", "out/w.f64"])):
            tensors, metadata = make.read_tensors(cut(data))
            self.assertEqual([name for name, *_ in tensors], left)
            self.assertEqual(metadata, {"about": "a test"})
        size, = struct.unpack_from("<Q", data)
        self.assertEqual((size % 8, json.loads(data[8:8 + size])["out/w"]["data_offsets"]),
                         (0, [4, 8]))

    def test_rows(self):
        log = b"time,id\n" + b"".join(b"%d,0C1\n" % i for i in range(7000))
        self.assertEqual(gzip.decompress(make.first_rows(gzip.compress(log))),
                         log[:log.index(b"5000,")])

    def test_packing(self):
        noise = random.Random(1).randbytes(50000)
        for data, packed in ((b"a" * 50000, True), (b"a" * 4000, False), (noise, False)):
            name, content = make.stored("a/b", data)
            self.assertEqual((name, make.content_of(name, content)),
                             ("a/b.gz" if packed else "a/b", data))
            self.assertEqual(make.stored("a/b", data), (name, content))


if __name__ == "__main__":
    unittest.main()
