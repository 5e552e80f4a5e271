"""The examples of docs/python.md, run in order in one program, beside a data set `probes`."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import support

support.need("numpy", "grain", "jax", "leat")


class Examples(unittest.TestCase):
    def test_they_run(self):
        with open(os.path.join(support.ROOT, "docs", "python.md"), encoding="utf-8") as file:
            page = file.read()
        blocks = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
        self.assertGreater(len(blocks), 1)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(support.dataset(), os.path.join(folder, "probes"))
            path = os.path.join(folder, "examples.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n\n".join(blocks))
            done = subprocess.run([sys.executable, path], cwd=folder, capture_output=True,
                                  text=True, timeout=300, check=False,
                                  env={**os.environ, "JAX_PLATFORMS": "cpu"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        # what comments promise literally
        for promised in ("\n1 1\n", "segment 1  ", "step 0 row 3: sequence 3, epoch 0 position 3",
                         "<leat.ProbeDataset probes: 400 rows>", "datetime64[us]",
                         'cannot open "nowhere": no such file or folder'):
            self.assertIn(promised, done.stdout)


if __name__ == "__main__":
    unittest.main()
