"""One run by machines with different kernels and numbers of threads, of which each computes one
unit: the weights are those of leat train, for each codec.
"""
import json
import unittest

from server import require

from command import leat
from runs import Runs

WIDTH = ["--width", "6", "--latent", "10", "--units", "3", "--unit-size", "8", "--micro-batch", "8",
         "--sample-every", "0"]
THREADS = (1, 2, 3, 8)


def variants():
    """The kernels that this processor runs."""
    return [name for name in ("scalar", "avx2", "avx512", "neon")
            if leat("doctor", f"--kernels={name}", "--hash").returncode == 0]


class Variants(Runs):
    times = ["--poll-ms", "5"]  # nobody is late, so that each machine computes one unit

    def mixed(self, codec):
        self.small = [*WIDTH, "--codec-up", codec, "--codec-down", "f32" if codec == "f32" else
                      "bf16"]
        machines = [(name, threads) for name in variants() for threads in THREADS]
        steps = -(-len(machines) // 3)
        coordinator = self.coordinate(steps, "--threads", 2)
        self.until_open(coordinator)
        self.count_units()
        workers = [self.work("--kernels", name, "--threads", threads, "--once", "--json")
                   for name, threads in machines]
        accepted = [json.loads(worker.end())["accepted"] for worker in workers]
        self.assertEqual(accepted, [1] * len(machines))
        print(f"{codec}: {machines}, one unit each", flush=True)
        self.work()  # what is left of the last step
        self.expect(coordinator, steps)
        self.expect_counted(steps)

    def test_mixed(self):
        self.assertIn("scalar", variants())
        for codec in ("f32", "bf16", "int8"):
            with self.subTest(codec=codec):
                self.begin()
                self.mixed(codec)


if __name__ == "__main__":
    require()
    unittest.main()
