"""The file of an image data set is one for everybody: safetensors reads it, images and all."""
import json
import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "tests", "cli"))
import image_set  # noqa: E402

try:
    import numpy as np
    import safetensors
    from safetensors.numpy import load_file
except ImportError as problem:
    print(f"skipped: {problem} (scripts/python-env.sh makes the environment)")
    sys.exit(77)


class Images(unittest.TestCase):
    def test_safetensors_reads_it(self):
        for count, size in ((1, 8), (13, 64), (40, 17), (2, 1024)):
            with tempfile.TemporaryDirectory() as folder, self.subTest(count=count, size=size):
                names = image_set.make(folder, count, size)
                path = os.path.join(folder, "images.safetensors")
                tensors = load_file(path)
                self.assertEqual(list(tensors), ["images"])
                images = tensors["images"]
                self.assertEqual((images.dtype, images.shape), (np.uint8, (count, size, size, 3)))
                for i in range(count):
                    self.assertEqual(images[i].tobytes(), image_set.pixels(i, size))
                with safetensors.safe_open(path, "np") as opened:
                    self.assertEqual(opened.metadata(), {"format": "leat.images"})
                with open(os.path.join(folder, "images.json"), encoding="utf-8") as file:
                    document = json.load(file)
                self.assertEqual([one[0] for one in document["images"]], names)
                self.assertEqual(document["file_bytes"], os.path.getsize(path))


if __name__ == "__main__":
    unittest.main()
