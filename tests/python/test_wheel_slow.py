"""The wheel: built by pip from the checkout, installed elsewhere, with a libleat of its own."""
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

import support

support.need("numpy", "scikit_build_core")

# DuckDB comes along where scripts/install.sh fetched it; else it is the system's
DUCKDB = os.path.exists(os.path.join(support.ROOT, ".deps", "duckdb", "lib", "libduckdb.so"))

USE = """
import leat, sys
data = leat.ProbeDataset(sys.argv[1])
rows = sum(len(row) for row in data)
assert rows == data.measurement_count == 20000, rows
with open("/proc/self/maps", encoding="ascii", errors="replace") as file:
    print(*sorted({line.split()[-1] for line in file if "libleat" in line}))
"""


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        done = subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel",
                               "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir",
                               cls.folder.name, os.path.join(support.ROOT, "python")],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        cls.wheel, = (os.path.join(cls.folder.name, name) for name in os.listdir(cls.folder.name))

    def test_what_is_in_it(self):
        self.assertRegex(os.path.basename(self.wheel), r"^leat-[0-9.]+-py3-none-linux_\w+\.whl$")
        with zipfile.ZipFile(self.wheel) as file:
            names = {name for name in file.namelist() if ".dist-info/" not in name}
            meta = next(file.read(name).decode() for name in file.namelist()
                        if name.endswith("/METADATA"))
        sources = {os.path.relpath(os.path.join(folder, name), os.path.join(support.ROOT, "python"))
                   for folder, _, found in os.walk(os.path.join(support.ROOT, "python", "leat"))
                   for name in found if "__pycache__" not in folder}
        duckdb = {"leat/libduckdb.so", "leat/LICENSE.duckdb"} if DUCKDB else set()
        self.assertEqual(names, sources | {"leat/libleat.so", "leat/leat"} | duckdb)
        self.assertIn("Requires-Python: >=3.10", meta)

    def test_it_works_away_from_here(self):
        target = os.path.join(self.folder.name, "installed")
        subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-q",
                        "--no-deps", "--no-index", "--target", target, self.wheel], check=True)
        done = subprocess.run([sys.executable, "-c", USE, support.dataset()], cwd="/", text=True,
                              env={**os.environ, "PYTHONPATH": target}, capture_output=True,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.split(), [os.path.join(target, "leat", "libleat.so")])
        done = subprocess.run([os.path.join(target, "bin", "leat"), "batches", support.dataset(),
                               "--steps", "0:1"], cwd="/", capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": target}, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("8 sequences", done.stdout)
        if DUCKDB:
            done = subprocess.run([os.path.join(target, "leat", "leat"), "doctor"], cwd="/",
                                  capture_output=True, text=True, check=False)
            self.assertIn(os.path.join(target, "leat", "libduckdb.so"), done.stdout)


if __name__ == "__main__":
    unittest.main()
