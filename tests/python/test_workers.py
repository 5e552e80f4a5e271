"""Loaders in workers of a torch DataLoader, each of which would return all batches. PyTorch is not
needed: what tells a worker from the main process is a stand-in (tests/torch/test_workers.py has
the real one)."""
import pickle
import sys
import types
import unittest
import unittest.mock

import support

support.need("numpy", "leat")
import leat  # noqa: E402
import leat.errors  # noqa: E402

SMALL = {"batch": 12, "length": 128, "epochs": 1}


def worker(number, count):
    """As in that worker; None: as in the main process."""
    info = None if number is None else types.SimpleNamespace(id=number, num_workers=count)
    module = types.SimpleNamespace(get_worker_info=lambda: info)
    return unittest.mock.patch.dict(sys.modules, {"torch.utils.data": module})


class Workers(unittest.TestCase):
    def refused(self, loader, pattern):
        self.assertRaisesRegex(leat.errors.OptionError, pattern, next, loader)

    def test_all_loaders(self):
        """One that is made in a worker, and one that was sent to it."""
        for make, rows in (
                (lambda: leat.Loader(support.dataset(), **SMALL), "leat.ProbeDataset"),
                (lambda: leat.GraphLoader(support.can_cache()), "leat.CanSplit"),
                (lambda: leat.ImageLoader(support.image_data(), batch=7), "leat.ImageDataset")):
            sent = pickle.dumps(make())
            for number in range(2):
                with worker(number, 2):
                    for loader in make(), pickle.loads(sent):
                        self.refused(loader, f"^num_workers=2: worker {number} .* host 0 of 1.*"
                                             f"use num_workers=0, .* or {rows}, a map-style")
                        loader.close()
            for number, count in (None, 0), (0, 1):
                with worker(number, count), make() as loader:
                    next(loader)
            with make() as loader:  # without PyTorch, and with half of it
                with unittest.mock.patch.dict(sys.modules, {"torch.utils.data": None}):
                    next(loader)
                with unittest.mock.patch.dict(sys.modules, {"torch.utils.data": types}):
                    next(loader)

    def test_shares(self):
        """(host, hosts) of each of the workers: its own share, or one that others have too."""
        data = leat.ProbeDataset(support.dataset())
        for hosts, shares, accepted in (
                (2, (0, 1), True), (4, (2, 3), True), (4, (1, 3), True), (2, (0, 0), False),
                (2, (1, 1), False), (3, (0, 1), False), (1, (0, 0), False)):
            problems = 0
            for number, host in enumerate(shares):
                with worker(number, 2), leat.Loader(data, **SMALL, host=host,
                                                    hosts=hosts) as loader:
                    try:
                        next(loader)
                    except leat.errors.OptionError:
                        problems += 1
            self.assertEqual(problems == 0, accepted, (hosts, shares))


if __name__ == "__main__":
    unittest.main()
