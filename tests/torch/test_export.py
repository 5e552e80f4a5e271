"""leat export, as PyTorch sees it: the model card's own code loads the weights and generates the
images of leat sample; weights that PyTorch has initialised are imported, and generate the same."""
import json
import os
import re
import subprocess
import sys
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"))
import support

support.need("numpy", "torch", "safetensors", environment="torch")

import numpy as np  # noqa: E402
import torch  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402


def at(*names):
    return os.path.join(support.folder(), *names)


def card_code(folder):
    """The program in the model card, as names."""
    with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
        code = re.search(r"```python\n(.*?)```", file.read(), re.S)[1]
    names, before = {}, os.getcwd()
    os.chdir(folder)
    try:
        exec(code, names)  # noqa: S102  our own card
    finally:
        os.chdir(before)
    return names


def discriminator(width):
    layers = [torch.nn.Conv2d(3, width, 4, 2, 1, bias=False), torch.nn.LeakyReLU(0.2)]
    for factor in (1, 2, 4):
        layers += [torch.nn.Conv2d(factor * width, 2 * factor * width, 4, 2, 1, bias=False),
                   torch.nn.BatchNorm2d(2 * factor * width), torch.nn.LeakyReLU(0.2)]
    layers.append(torch.nn.Conv2d(8 * width, 1, 4, 1, 0, bias=False))
    return torch.nn.ModuleDict({"main": torch.nn.Sequential(*layers)})


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        support.run("train", "dcgan", support.image_data(count=40, size=64), "-o", at("run"),
                    "--steps", "20", "--width", "8", "--latent", "16", "--unit-size", "16",
                    "--micro-batch", "16", "--seed", "3", "--sample-every", "0")
        support.run("export", at("run"), "-o", at("model"))

    def compare(self, generator, run, count=16):
        """PyTorch's images of the run's latent vectors are those that leat rounds to levels."""
        done = subprocess.run([os.path.join(support.BUILD, "tests", "torch_tool_generated"), run,
                               str(count)], check=True, capture_output=True, timeout=120)
        numbers = np.frombuffer(done.stdout, "<f4")
        vectors, wanted = np.split(numbers, [16 * count])
        with torch.no_grad():
            found = generator.eval()(torch.from_numpy(vectors.reshape(count, 16).copy()))
        wanted = wanted.reshape(count, 64, 64, 3)
        difference = np.abs(found.permute(0, 2, 3, 1).double().numpy() - wanted)
        self.assertLess(difference.max(), 1e-5)
        self.assertGreater(np.abs(wanted).max(), 0.05)

    def test_the_card_generates_the_same_images(self):
        self.compare(card_code(at("model"))["generator"], at("run"))

    def test_the_discriminator_loads(self):
        weights = load_file(at("model", "discriminator.safetensors"))
        model = discriminator(8)
        missing, unexpected = model.load_state_dict(weights, strict=False)
        self.assertEqual(unexpected, [])
        self.assertTrue(all(name.endswith("num_batches_tracked") for name in missing))

    def test_weights_of_pytorch(self):
        names = card_code(at("model"))
        torch.manual_seed(1)
        g, d = names["Generator"](8, 16), discriminator(8)
        save_file({f"{name}.{key}": value for name, model in (("G", g), ("D", d))
                   for key, value in model.state_dict().items() if "num_batches" not in key},
                  at("torch.safetensors"))
        support.run("import", at("torch.safetensors"), "-o", at("imported"))
        support.run("export", at("imported"), "-o", at("again"))
        again = card_code(at("again"))["generator"]
        for key, value in g.state_dict().items():
            if "running" not in key and "num_batches" not in key:
                self.assertTrue(torch.equal(value, again.state_dict()[key]), key)
        self.compare(again, at("imported"))
        with open(at("again", "config.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["width"], 8)


if __name__ == "__main__":
    unittest.main()
