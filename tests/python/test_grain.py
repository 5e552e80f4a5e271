"""leat.grain with the real Grain: its own checkpoint check, sources, elastic iterators."""
import itertools
import json
import pickle
import unittest

import support

support.need("numpy", "grain", "leat")
import grain  # noqa: E402
import grain.experimental  # noqa: E402
import numpy as np  # noqa: E402

import leat  # noqa: E402
import leat.grain  # noqa: E402

OPTIONS = {"batch": 40, "length": 128, "split": None, "epochs": 1}


class Batches(unittest.TestCase):
    def setUp(self):
        self.path = support.dataset()

    def test_grains_own_check(self):
        ds = leat.grain.BatchDataset(self.path, **OPTIONS)
        iterator = iter(ds)
        self.assertGreater(iterator.loader.steps, 5)
        grain.experimental.assert_equal_output_after_checkpoint(ds)
        grain.experimental.assert_equal_output_after_checkpoint(
            ds.map(lambda batch: {"sum": batch["inputs"].sum(axis=1)}))

    def test_grains_check_sees_a_wrong_position(self):
        class Wrong(leat.grain.BatchIterator):
            def set_state(self, state):
                super().set_state({**state, "step": max(0, state["step"] - 1)})

        class Dataset(leat.grain.BatchDataset):
            def __iter__(self):
                return Wrong(leat.Loader(self._data, **self._options))
        with self.assertRaises(AssertionError):
            grain.experimental.assert_equal_output_after_checkpoint(
                Dataset(self.path, **OPTIONS))

    def test_the_batches_are_the_loaders(self):
        wanted = leat.Loader(self.path, **OPTIONS)
        for one, other in itertools.zip_longest(leat.grain.BatchDataset(self.path, **OPTIONS),
                                                wanted):
            for key in leat.KEYS:
                self.assertTrue((one[key] == other[key]).all())

    def test_contract(self):
        iterator = leat.grain.BatchIterator(leat.Loader(self.path, **OPTIONS))
        self.assertIsInstance(iterator, grain.DatasetIterator)
        self.assertIs(iter(iterator), iterator)
        self.assertLessEqual(len(json.dumps(iterator.get_state())), 256)
        iterator.start_prefetch()
        next(iterator)
        with self.assertRaisesRegex(leat.LeatError, "seed"):
            iterator.set_state({**iterator.get_state(), "seed": 5})
        iterator.close()
        iterator.close()
        self.assertRaises(ValueError, next, iterator)

    def test_elastic(self):
        whole = list(leat.Loader(self.path, **OPTIONS))
        iterator = leat.grain.ElasticBatchIterator(
            leat.Loader(self.path, **OPTIONS, hosts=8, host=3))
        self.assertIsInstance(iterator, grain.experimental.ElasticIterator)
        self.assertIs(iter(iterator), iterator)
        for _ in range(3):
            next(iterator)
        state = iterator.get_state()
        for hosts in (5, 2):
            parts = [leat.grain.ElasticBatchIterator(
                leat.Loader(self.path, **OPTIONS, hosts=hosts, host=host))
                for host in range(hosts)]
            for part in parts:
                part.set_state(state)
            found = np.concatenate([next(part)["inputs"] for part in parts])
            self.assertTrue((found == whole[3]["inputs"]).all())


class Rows(unittest.TestCase):
    def setUp(self):
        self.path = support.dataset()

    def test_source(self):
        data = leat.ProbeDataset(self.path)
        source = leat.grain.ProbeRowSource(self.path, split="test")
        self.assertIsInstance(source, grain.sources.RandomAccessDataSource)
        self.assertEqual(len(source), len(data.rows("test")))
        first = data.rows("test")[0]
        wanted = data[first].measurements()
        found = source[np.int64(0)]
        self.assertEqual(found["src_id"], data[first].src_id)
        for key, array in wanted.items():
            self.assertTrue((found[key] == array).all())
        self.assertRaises(IndexError, lambda: source[len(source)])

    def test_many_at_once(self):
        source = leat.grain.ProbeRowSource(self.path)
        wanted = [7, 3, 3, 0, len(source) - 1]
        found = source._getitems(wanted)
        self.assertEqual([int(one["src_id"]) for one in found],
                         [int(source[i]["src_id"]) for i in wanted])
        found[1]["rtt"][:] = 0  # transforms may write: every element is its own
        self.assertFalse((found[2]["rtt"] == 0).all())

    def test_in_a_pipeline(self):
        source = leat.grain.ProbeRowSource(self.path, split="test")
        ds = grain.MapDataset.source(source).shuffle(seed=5).map(lambda row: row["rtt"].max())
        seen = sorted(float(value) for value in ds)
        self.assertEqual(seen, sorted(float(source[i]["rtt"].max()) for i in range(len(source))))
        grain.experimental.assert_equal_output_after_checkpoint(ds.to_iter_dataset().batch(8))

    def test_the_same_words_in_every_process(self):
        source = leat.grain.ProbeRowSource(self.path, split="test")
        again = pickle.loads(pickle.dumps(source))
        self.assertEqual(repr(again), repr(source))
        self.assertNotIn(" at 0x", repr(source))
        self.assertNotIn(support.folder(), repr(source))
        self.assertEqual(float(again[3]["rtt"].sum()), float(source[3]["rtt"].sum()))


if __name__ == "__main__":
    unittest.main()
