"""A loader in a torch DataLoader with workers: every batch once, or an error in the main process.
"""
import hashlib
import unittest

import support

support.need("numpy", "torch", "leat", environment="torch")
from torch.utils.data import DataLoader, IterableDataset, get_worker_info  # noqa: E402

import leat  # noqa: E402
import leat.errors  # noqa: E402

SMALL = {"batch": 4, "length": 128, "epochs": 1}
WAYS = ("fork", "spawn", "forkserver")


def digest(inputs):
    return hashlib.sha256(inputs.tobytes()).hexdigest()


class Held(IterableDataset):
    """A loader that was made in the main process."""
    def __init__(self, path):
        self.loader = leat.Loader(path, **SMALL)

    def __iter__(self):
        for batch in self.loader:
            yield digest(batch["inputs"])


class Made(IterableDataset):
    """One that is made in the worker; with `share`, of its own share."""
    def __init__(self, path, share=False):
        self.path, self.share = path, share

    def __iter__(self):
        info = get_worker_info()
        mine = {"host": info.id, "hosts": info.num_workers} if self.share and info else {}
        for batch in leat.Loader(self.path, **SMALL, **mine):
            yield from map(digest, batch["inputs"]) if self.share else [digest(batch["inputs"])]


class Workers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = support.dataset(count=2000, probes=40)

    def test_every_batch_once_or_not_at_all(self):
        with leat.Loader(self.path, **SMALL) as loader:
            wanted = [digest(batch["inputs"]) for batch in loader]
        self.assertEqual(len(set(wanted)), len(wanted))
        self.assertEqual(list(DataLoader(Held(self.path), batch_size=None)), wanted)
        for way in WAYS:
            for make in Held, Made:
                if (way, make) == ("fork", Held):
                    continue  # the library refuses it
                with self.subTest(way=way, make=make.__name__):
                    several = DataLoader(make(self.path), batch_size=None, num_workers=2,
                                         multiprocessing_context=way)
                    self.assertRaisesRegex(leat.errors.OptionError, "num_workers=0", list, several)
        one = DataLoader(Made(self.path), batch_size=None, num_workers=1)
        self.assertEqual(list(one), wanted)

    def test_shares(self):
        with leat.Loader(self.path, **SMALL) as loader:
            wanted = [digest(row) for batch in loader for row in batch["inputs"]]
        shared = DataLoader(Made(self.path, share=True), batch_size=None, num_workers=2)
        self.assertEqual(sorted(shared), sorted(wanted))

    def test_images(self):
        """The map-style data set that the error names."""
        data = leat.ImageDataset(support.image_data())
        found = [each for batch in DataLoader(data, batch_size=7, num_workers=2) for each in batch]
        self.assertEqual(len(found), len(data))
        for each, wanted in zip(found, data):
            self.assertEqual(each.numpy().tobytes(), wanted.tobytes())


if __name__ == "__main__":
    unittest.main()
