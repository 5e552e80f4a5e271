"""leat.CanDataset and leat.GraphLoader: a cache's graphs as the file has them, batches of them, the
same ones whatever was in between; lifetimes; processes; errors."""
import copy
import gc
import glob
import hashlib
import itertools
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import warnings

import support

support.need("numpy", "leat")
import numpy as np  # noqa: E402

import leat  # noqa: E402
import leat.can  # noqa: E402
import leat.errors  # noqa: E402

SMALL = {"max_nodes": 700, "max_edges": 2000, "seed": 7}
KINDS = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "I32": "<i4", "U32": "<u4", "I16": "<i2"}


def tensors(path):
    """A safetensors file by NumPy alone."""
    with open(path, "rb") as file:
        data = file.read()
    size = int.from_bytes(data[:8], "little")
    found = {}
    for name, one in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            first, last = one["data_offsets"]
            found[name] = np.frombuffer(data[8 + size + first:8 + size + last],
                                        KINDS[one["dtype"]]).reshape(one["shape"])
    return found


def digest(batch):
    """What stands for all of a batch: its place, and the hash that `leat batches` gives it."""
    return (*batch[:3],
            hashlib.sha256(b"".join(array.tobytes() for array in batch[3:])).hexdigest())


def digests(count, place=None, **options):
    with leat.GraphLoader(support.can_cache(), **{**SMALL, **options}) as loader:
        if place is not None:
            loader.seek(place)
        return [digest(batch) for batch in itertools.islice(loader, count)]


class Dataset(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = support.can_cache()
        cls.data = leat.CanDataset(cls.path)

    def test_what_it_is(self):
        data = self.data
        folder, = glob.glob(os.path.join(self.path, "*"))
        with open(os.path.join(folder, "cache_metadata.json"), encoding="utf-8") as file:
            said = json.load(file)
        with open(os.path.join(folder, "vocab.json"), encoding="utf-8") as file:
            self.assertEqual(data.vocabulary, json.load(file)["entries"])
        with open(os.path.join(folder, "scaler.json"), encoding="utf-8") as file:
            scaler = json.load(file)
        self.assertEqual((data.path, data.fingerprint, data.window, data.stride, data.built_at),
                         (folder, said["digest"], 100, 100, said["built_at"]))
        self.assertEqual(list(data.unknown), said["unknown_ids"])
        self.assertEqual(data.settings["vocab"], "train")
        self.assertEqual(data.scaler.strategy, scaler["strategy"])
        for name in ("x_center", "x_scale", "edge_center", "edge_scale"):
            self.assertEqual(getattr(data.scaler, name).tolist(), scaler[name], name)
        self.assertEqual(len(data.captures), len(said["captures"]))
        for found, wanted in zip(data.captures, said["captures"]):
            self.assertEqual(found._asdict(), {key: wanted[key] for key in found._fields})
        self.assertEqual(list(data)[:2], ["train", "val"])
        self.assertEqual(set(data), set(said["splits"]))
        self.assertEqual(len(data), len(said["splits"]))
        for name, wanted in said["splits"].items():
            split = data[name]
            self.assertEqual((len(split), split.node_count, split.edge_count, split.attacks),
                             (wanted["num_graphs"], wanted["num_nodes"], wanted["num_edges"],
                              wanted["attack_balance"]))
            self.assertEqual((split.nodes.min, split.nodes.max),
                             (wanted["graph_stats"]["node_count"]["min"],
                              wanted["graph_stats"]["node_count"]["max"]))
        self.assertIn(f"train {len(data['train'])}, val", repr(data))
        self.assertNotEqual(data, leat.CanDataset(self.path))
        self.assertEqual(len({data, data}), 1)

    def test_graphs_are_those_of_the_file(self):
        for name in self.data:
            file = tensors(os.path.join(self.data.path, f"{name}.safetensors"))
            raw, scaled = self.data.split(name, scale="none"), self.data[name]
            nodes, edges = file["node_ptr"], file["edge_ptr"]
            for g in range(0, len(raw), 7):
                graph, after = raw[g], scaled[g]
                self.assertEqual(graph.facts, raw.facts(g))
                for key in ("window_start", "capture", "y", "attack_type", "attack_first",
                            "attack_count"):
                    self.assertEqual(getattr(graph.facts, key), file[key][g], key)
                at, on = slice(nodes[g], nodes[g + 1]), slice(edges[g], edges[g + 1])
                for found, wanted in ((graph.x, file["x"][at]),
                                      (graph.node_id, file["node_id"][at]),
                                      (graph.edge_attr, file["edge_attr"][on]),
                                      (graph.edge_index, file["edge_index"][:, on])):
                    self.assertEqual(found.dtype, wanted.dtype)
                    np.testing.assert_array_equal(found, wanted)
                center, scale = self.data.scaler.x_center, self.data.scaler.x_scale
                np.testing.assert_array_equal(
                    after.x, (graph.x - center.astype("f4")) / scale.astype("f4"))
                center, scale = self.data.scaler.edge_center, self.data.scaler.edge_scale
                np.testing.assert_array_equal(
                    after.edge_attr, (graph.edge_attr - center.astype("f4")) / scale.astype("f4"))

    def test_names_of_attacks(self):
        """Those that docs/can.md lists."""
        with open(os.path.join(support.ROOT, "docs", "can.md"), encoding="utf-8") as file:
            listed = re.findall(r"^\| (-?\d+) \| ([a-z-]+) \|", file.read(), re.M)
        self.assertEqual([int(code) for code, _ in listed], list(range(-1, len(listed) - 1)))
        for code, name in listed:
            self.assertEqual(leat.attack_name(int(code)), name)
            self.assertEqual(leat.attack_name(int(code), y=1),
                             "attack of unknown type" if code == "0" else name)
        for code in (-2, len(listed) - 1, 2 ** 40):
            self.assertRaises(leat.errors.OptionError, leat.attack_name, code)

    def test_like_a_sequence(self):
        split = self.data["train"]
        self.assertEqual(split[-1].facts, split.facts(len(split) - 1))
        self.assertEqual([one.facts.graph for one in split[2:8:3]], [2, 5])
        self.assertEqual(sum(1 for _ in split), len(split))
        self.assertEqual(self.data.graph("val", 1).facts, self.data["val"].facts(1))
        kept = split[3]
        kept.x[:] = 0  # the caller's own
        self.assertFalse((split[3].x == 0).all())

    def test_shown_by_shapes(self):
        graph = self.data["train"][3]
        nodes, edges = graph.facts.node_count, graph.facts.edge_count
        self.assertEqual(repr(graph), f"Graph(facts={graph.facts!r}, x=[{nodes}, 35], "
                         f"edge_attr=[{edges}, 11], edge_index=[2, {edges}], node_id=[{nodes}])")
        with leat.GraphLoader(self.data, **SMALL) as loader:
            batch = next(loader)
        self.assertRegex(repr(batch), r"^GraphBatch\(epoch=0, batch=0, .*"
                         rf"x=\[{len(batch.x)}, 35\], .*graph=\[{len(batch.y)}\]\)$")

    def test_stored_frames_give_the_same(self):
        frames = leat.CanDataset(support.can_cache("--store=frames"))
        self.assertTrue(frames.frames_stored)
        self.assertFalse(self.data.frames_stored)
        for name in self.data:
            for g in range(0, len(self.data[name]), 11):
                for one, other in zip(frames[name][g][1:], self.data[name][g][1:]):
                    np.testing.assert_array_equal(one, other)

    def test_errors(self):
        self.assertRaisesRegex(KeyError, "dev.*train, val", lambda: self.data["dev"])
        self.assertRaisesRegex(ValueError, "scale.*minmax", self.data.split, "val", scale="minmax")
        for graph in (len(self.data["val"]), -len(self.data["val"]) - 1):
            self.assertRaisesRegex(IndexError, "split val", lambda at=graph: self.data["val"][at])
            self.assertRaisesRegex(IndexError, "split val", self.data["val"].facts, graph)
        self.assertRaises(leat.errors.NotFoundError, leat.CanDataset, "/nowhere")
        self.assertRaisesRegex(ValueError, "null", leat.CanDataset, "a\0b")

    def test_closed(self):
        with leat.CanDataset(self.path) as data:
            split, loader = data["train"], leat.GraphLoader(data, **SMALL)
        self.assertTrue(data.closed)
        self.assertRaisesRegex(ValueError, "closed", lambda: data["train"])
        self.assertEqual(split[0].facts.graph, 0)  # what was made of it stays usable
        self.assertEqual(digest(next(loader)), digests(1)[0])

    def test_pickled_and_forked(self):
        self.assertEqual(pickle.loads(pickle.dumps(self.data)).fingerprint, self.data.fingerprint)
        split = self.data["train"]
        before = split[0]
        for scale in "stored", "none":
            one, other = pickle.loads(pickle.dumps([self.data.split("val", scale=scale), split]))
            self.assertEqual((one.name, one.scale, len(one), one.attacks, one.nodes),
                             ("val", scale, len(self.data["val"]), self.data["val"].attacks,
                              self.data["val"].nodes))
            np.testing.assert_array_equal(one[1].x, self.data.graph("val", 1, scale=scale).x)
            np.testing.assert_array_equal(other[0].x, before.x)
            self.assertIs(one._handle, other._handle)  # opened once
        child = os.fork()
        if child == 0:
            signal.alarm(support.LIMIT)
            good = False
            try:
                good = (split[0].x == before.x).all() and digest(
                    next(leat.GraphLoader(self.data, **SMALL))) == digests(1)[0]
            finally:
                os._exit(0 if good else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_damage(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "cache")
            shutil.copytree(self.path, path)
            file, = glob.glob(os.path.join(path, "*", "val.safetensors"))
            with open(file, "r+b") as opened:
                opened.seek(os.path.getsize(file) // 3)  # in x
                opened.write(b"\x55\xaa\x55")
            data = leat.CanDataset(path)
            with self.assertRaisesRegex(leat.errors.CorruptError, "val.safetensors"):
                for _ in data["val"]:
                    pass
            self.assertGreater(sum(1 for _ in data["train"]), 0)
            with leat.GraphLoader(data, "val", epochs=1) as loader:
                for _ in range(2):
                    self.assertRaisesRegex(leat.errors.CorruptError, "val", next, loader)


class Labels(unittest.TestCase):
    """1, 0 and -1: attack, benign and unlabelled."""
    def test_graphs(self):
        data = leat.CanDataset(support.three_states())
        train = data["train"]
        self.assertEqual(train.attacks, {"benign": 17, "dos": 3, "unlabelled": 20})
        files = [capture.file for capture in data.captures]
        found = [(files[one.facts.capture], one.facts.y, one.facts.attack_type) for one in train]
        self.assertEqual({one: found.count(one) for one in found},
                         {("dos.csv", 0, 0): 17, ("dos.csv", 1, 1): 3, ("drive.log", -1, -1): 20})
        for graph in train:
            if graph.facts.y == -1:
                self.assertEqual((graph.facts.attack_first, graph.facts.attack_count), (-1, 0))
        self.assertEqual(data.settings["unlabelled"], "by-name")
        self.assertEqual(data.scaler.strategy, "z_benign")

    def test_batches(self):
        with leat.GraphLoader(support.three_states(), epochs=1) as loader:
            batch = next(loader)
            words = str(loader.explain(0, 0)).splitlines()[1:]
        self.assertEqual([(batch.y == label).sum() for label in (1, 0, -1)], [3, 17, 20])
        np.testing.assert_array_equal(batch.attack_type, batch.y)  # dos is type 1
        for line, label in zip(words, batch.y):
            self.assertRegex(line, {1: "attack 1, ", 0: "benign$", -1: "unlabelled$"}[label])

    def test_neither(self):
        """Unlabelled graphs are left out by each filter, and of no class."""
        for word, label, count in (("benign", 0, 17), ("attack", 1, 3)):
            with leat.GraphLoader(support.three_states(), graphs=word, epochs=1) as loader:
                self.assertEqual(next(loader).y.tolist(), [label] * count)
                self.assertEqual((loader.graphs, loader.left_out), (count, 40 - count))
        np.testing.assert_array_equal(leat.CanDataset(support.three_states()).class_weights(),
                                      np.float32([20 / (2 * 17), 20 / (2 * 3)]))

    def test_curriculum(self):
        """Unlabelled graphs are not ranked with the benign ones."""
        with leat.GraphLoader(support.three_states(), curriculum="random", tiers=17,
                              epochs=9) as loader:
            batch = next(loader)
        self.assertEqual([(batch.y == label).sum() for label in (1, -1)], [3, 20])
        self.assertLess((batch.y == 0).sum(), 17)


class Batches(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = support.can_cache()
        cls.data = leat.CanDataset(cls.path)
        with leat.GraphLoader(cls.data, **SMALL, epochs=2) as loader:
            cls.counts = [loader.epoch(0).batches, loader.epoch(1).batches]
            cls.wanted = [digest(batch) for batch in loader]

    def test_a_batch_is_the_union_of_its_graphs(self):
        split = self.data["train"]
        with leat.GraphLoader(self.data, **SMALL, epochs=1) as loader:
            said = loader.epoch(0)
            self.assertEqual((said.graphs, loader.graphs, loader.split_graphs),
                             (len(split), len(split), len(split)))
            self.assertEqual(loader.oversize.size, 0)
            seen = []
            for number, batch in enumerate(loader):
                self.assertEqual(batch[:3], (0, number, said.batches))
                self.assertLessEqual(len(batch.x), SMALL["max_nodes"])
                self.assertLessEqual(len(batch.edge_attr), SMALL["max_edges"])
                self.assertLessEqual(len(batch.x), loader.most_nodes)
                graphs = [split[g] for g in batch.graph.tolist()]
                seen += batch.graph.tolist()
                nodes = np.cumsum([0] + [one.facts.node_count for one in graphs])
                edges = np.cumsum([0] + [one.facts.edge_count for one in graphs])
                for name, wanted in {
                        "x": np.concatenate([one.x for one in graphs]),
                        "edge_attr": np.concatenate([one.edge_attr for one in graphs]),
                        "edge_index": np.concatenate(
                            [one.edge_index + at for one, at in zip(graphs, nodes)], axis=1),
                        "node_id": np.concatenate([one.node_id for one in graphs]),
                        "node_graph": np.repeat(np.arange(len(graphs)), np.diff(nodes)),
                        "node_ptr": nodes, "edge_ptr": edges,
                        "y": [one.facts.y for one in graphs],
                        "attack_type": [one.facts.attack_type for one in graphs]}.items():
                    array = getattr(batch, name)
                    np.testing.assert_array_equal(array, wanted, name)
                    self.assertEqual(array.ctypes.data % 4096, 0)
                    self.assertFalse(array.flags.writeable)
                explained = loader.explain(0, number)
                self.assertEqual([one.graph for one in explained.graphs], batch.graph.tolist())
                self.assertEqual((explained.node_count, explained.edge_count),
                                 (len(batch.x), len(batch.edge_attr)))
                self.assertIn(f"epoch 0 batch {number} of {said.batches}", str(explained))
                self.assertIn(f"graph {batch.graph[0]}: ", str(explained))
            self.assertEqual(sorted(seen), list(range(len(split))))
            self.assertEqual(loader.counters()["graphs"], len(split))

    def test_the_command_makes_the_same(self):
        for options in ({}, {"split": "val", "pack": "bucket"}, {"scale": "none", "min_steps": 20},
                        {"hosts": 2, "host": 1}, {"preset": "reference", "epochs": 3},
                        {"curriculum": "random", "tiers": 3, "epochs": 5},
                        {"order": "windowed:1M"}):
            options = {**SMALL, **options}
            words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
            said = support.run("batches", self.path, *words, "--steps=0:4", "--hash=rows")
            with leat.GraphLoader(self.path, **options) as loader:
                found = [f"{one.epoch} {one.batch} {digest(one)[3]}"
                         for one in itertools.islice(loader, 4) if len(one.graph)]
            self.assertEqual(said.splitlines(), found, options)
            self.assertGreater(len(found), 1)

    def test_the_memory_of_a_device(self):
        budget = {"device_memory": "48M", "model": "gat"}
        words = ["batches", self.path, "--device-memory=48M", "--model=gat", "--seed=7",
                 "--steps=0:4"]
        told, said = support.run(*words), support.run(*words, "--hash=rows")
        with leat.GraphLoader(self.path, **budget, seed=7) as loader:
            found = [f"{one.epoch} {one.batch} {digest(one)[3]}"
                     for one in itertools.islice(loader, 4)]
            self.assertLessEqual(loader.most_nodes, loader.max_nodes)
            self.assertLess(loader.max_nodes, 8192)
            self.assertIn(f" {loader.max_nodes:,} nodes and {loader.max_edges:,} edges per batch",
                          told)
        self.assertEqual(said.splitlines(), found)
        with leat.GraphLoader(self.path) as one, leat.GraphLoader(
                self.path, device_memory=48 << 20, model="vgae") as other:
            self.assertEqual((one.max_nodes, one.max_edges), (8192, 32768))
            self.assertGreater(other.max_nodes, loader.max_nodes)
        for options, words in (({"device_memory": "16G"}, "model"),
                               ({"model": "gat"}, "require each"),
                               ({**budget, "max_edges": 9}, "max_edges"),
                               ({**budget, "pack": "fixed"}, "fixed"),
                               ({**budget, "model": "gcn"}, "gcn.*'vgae-large'"),
                               ({**budget, "device_memory": "some"}, "^device_memory: 'some'"),
                               ({**budget, "device_memory": 9}, "device memory of 9 bytes"),
                               ({**budget, "split": "dev"}, "dev")):
            with self.subTest(options):
                self.assertRaisesRegex((leat.LeatError, ValueError, KeyError), words,
                                       leat.GraphLoader, self.path, **options)

    def test_epochs(self):
        self.assertEqual(len(self.wanted), sum(self.counts))
        first, second = self.wanted[:self.counts[0]], self.wanted[self.counts[0]:]
        self.assertNotEqual([one[3:] for one in first], [one[3:] for one in second])
        with leat.GraphLoader(self.data, **SMALL, epochs=2) as loader:
            list(loader)
            self.assertRaises(StopIteration, next, loader)
            self.assertEqual(loader.place, (2, 0))
            loader.seek((1, 0))
            self.assertEqual(digest(next(loader)), second[0])

    def test_what_decides_bytes(self):
        for same in ({"threads": 1}, {"threads": 5}, {"prefetch": 0}, {"epochs": 3},
                     {"split": "train"}):
            self.assertEqual(digests(4, **same), self.wanted[:4], same)
        for other in ({"seed": 8}, {"split": "val"}, {"pack": "next-fit"}, {"pack": "bucket"},
                      {"max_nodes": 600}, {"scale": "none"},
                      {"pack": "fixed", "batch": 9, "max_nodes": None, "max_edges": None},
                      {"min_steps": 40}, {"preset": "reference"}, {"order": "windowed:1M"}):
            self.assertNotEqual(digests(4, **other), self.wanted[:4], other)

    def test_hosts(self):
        hosts = 4
        found = {}
        for host in range(hosts):
            with leat.GraphLoader(self.data, **SMALL, epochs=2, hosts=hosts, host=host) as loader:
                batches = list(loader)
                self.assertEqual(len(batches), loader.epoch(0).steps + loader.epoch(1).steps)
            for batch in batches:
                if len(batch.y):
                    found[batch.epoch, batch.batch] = digest(batch)
                else:
                    self.assertEqual((batch.x.shape, batch.edge_index.shape), ((0, 35), (2, 0)))
        self.assertEqual([found[key] for key in sorted(found)], self.wanted)

    def test_curriculum(self):
        options = {"curriculum": "random", "tiers": 4, "epochs": 8, "seed": 3}
        with leat.GraphLoader(self.data, **options) as loader:
            counts = [loader.epoch(number).graphs for number in range(8)]
            self.assertEqual([loader.epoch(0).tiers, loader.epoch(7).tiers], [1, 4])
        self.assertEqual((counts, counts[-1]), (sorted(counts), len(self.data["train"])))
        self.assertLess(counts[0], counts[-1])
        facts = [self.data["train"].facts(g) for g in range(len(self.data["train"]))]
        scores = {"fingerprint": self.data.fingerprint, "capture": [one.capture for one in facts],
                  "window_start": [one.window_start for one in facts],
                  "score": [float(-one.graph) for one in facts]}
        path = os.path.join(support.folder(), "scores.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(scores, file)
        with leat.GraphLoader(self.data, **{**options, "curriculum": path}) as loader:
            batches = itertools.takewhile(lambda batch: batch.epoch == 0, loader)
            seen = sorted(g for batch in batches for g in batch.graph.tolist())
        benign = [one.graph for one in facts if not one.y]
        quarter = benign[-len(seen) + len(facts) - len(benign):]  # the last ones score lowest
        self.assertEqual(seen, sorted(quarter + [one.graph for one in facts if one.y]))

    def test_graphs_of_one_label(self):
        train = self.data["train"]
        labels = [train.facts(g).y for g in range(len(train))]
        for y, word in enumerate(("benign", "attack")):
            with leat.GraphLoader(self.data, **SMALL, graphs=word, epochs=1) as loader:
                self.assertEqual((loader.graphs, loader.left_out, loader.split_graphs),
                                 (labels.count(y), labels.count(1 - y), len(labels)))
                batches = list(loader)
                state = loader.state()
            self.assertEqual(sorted(g for batch in batches for g in batch.graph.tolist()),
                             [g for g, label in enumerate(labels) if label == y])
            self.assertEqual({int(each) for batch in batches for each in batch.y}, {y})
            with leat.GraphLoader(self.data, **SMALL, epochs=1) as loader:
                self.assertRaisesRegex(leat.LeatError, "option", loader.seek, state)
        self.assertEqual(digests(4, graphs="all"), self.wanted[:4])
        with leat.GraphLoader(self.data, **SMALL, graphs="benign", curriculum="random", tiers=4,
                              epochs=8) as loader:
            self.assertLess(loader.epoch(0).graphs, loader.epoch(7).graphs)
            self.assertEqual(loader.epoch(7).graphs, labels.count(0))
        self.assertRaisesRegex(leat.errors.OptionError, "split test_05_suppress: graphs attack: "
                               "no graph has an attack", leat.GraphLoader, self.data,
                               "test_05_suppress", graphs="attack")
        self.assertRaisesRegex(leat.LeatError, "graphs: \"normal\"", leat.GraphLoader, self.data,
                               graphs="normal")

    def test_class_weights(self):
        for name, split in self.data.items():
            counts = np.array([sum(split.facts(g).y == y for g in range(len(split)))
                               for y in range(2)])
            weights = self.data.class_weights(name)
            self.assertEqual((weights.dtype, weights.shape), (np.float32, (2,)))
            self.assertAlmostEqual(float((weights * counts).sum()), len(split), 3)
            np.testing.assert_array_equal(weights, np.float32(
                [len(split) / ((counts > 0).sum() * n) if n else 0 for n in counts]))
        np.testing.assert_array_equal(self.data.class_weights("test_05_suppress"), [1, 0])
        np.testing.assert_array_equal(self.data.class_weights(), self.data.class_weights("train"))
        self.assertRaisesRegex(KeyError, "dev", self.data.class_weights, "dev")

    def test_oversize(self):
        largest = self.data["train"].nodes.max
        sizes = [self.data["train"].facts(g).node_count for g in range(len(self.data["train"]))]
        over = [g for g, size in enumerate(sizes) if size == largest]
        limit = {"max_nodes": largest - 1, "max_edges": 0}
        with self.assertWarnsRegex(UserWarning, rf"^{len(over)} of {len(sizes)} graphs of train "
                                   rf"exceed max_nodes \({largest - 1}\) .* are in no batch"):
            loader = leat.GraphLoader(self.data, **limit, epochs=1)
        with loader:
            self.assertEqual(loader.oversize.tolist(), over)
            self.assertEqual(sum(len(batch.y) for batch in loader), len(sizes) - len(over))
        with warnings.catch_warnings():  # what was asked for is no surprise
            warnings.simplefilter("error")
            with leat.GraphLoader(self.data, **limit, oversize="skip", epochs=1) as loader:
                self.assertEqual(loader.graphs, len(sizes) - len(over))
            with leat.GraphLoader(self.data, **limit, oversize="alone", epochs=1) as loader:
                self.assertEqual(sum(len(batch.y) for batch in loader), len(sizes))
        self.assertRaisesRegex(leat.LeatError, f"graph {over[0]}", leat.GraphLoader, self.data,
                               **limit, oversize="fail")


class State(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = support.can_cache()
        cls.wanted = digests(30)

    def test_every_place(self):
        states = []
        with leat.GraphLoader(self.path, **SMALL) as loader:
            for _ in range(30):
                states.append((loader.place, loader.state()))
                next(loader)
        self.assertGreater(states[-1][0][0], 1)  # epochs ended on the way
        for number, (place, state) in list(enumerate(states))[::3]:
            self.assertEqual((state["epoch"], state["batch"]), place)
            self.assertLessEqual(len(json.dumps(state)), 256)
            for to in (place, state, json.dumps(state)):
                self.assertEqual(digests(30 - number, to, threads=1), self.wanted[number:])

    def test_files(self):
        path = os.path.join(support.folder(), "graphs.state")
        with leat.GraphLoader(self.path, **SMALL) as loader:
            list(itertools.islice(loader, 5))
            loader.save(path)
            loader.save(path)  # its own
            with open(path, "rb") as file:
                kept = file.read()
            with open(path, "wb") as file:
                file.write(b"mine")
            self.assertRaisesRegex(FileExistsError, "not recognised as a state", loader.save, path)
            with open(path, "rb") as file:
                self.assertEqual(file.read(), b"mine")
            loader.save(path, replace=True)
            with open(path, "rb") as file:
                self.assertEqual(file.read(), kept)
        with leat.GraphLoader(self.path, **SMALL) as loader:
            loader.load(path)
            self.assertEqual(digest(next(loader)), self.wanted[5])
        with leat.GraphLoader(self.path, **{**SMALL, "max_nodes": 650}) as loader:
            self.assertRaisesRegex(leat.LeatError, "max-nodes", loader.load, path)
        probes = os.path.join(support.folder(), "probes.state")
        with leat.Loader(support.dataset(), batch=4, length=64) as loader:
            next(loader)
            loader.save(probes)
            loader.seek(0)
            loader.load(probes)
            self.assertEqual(loader.step, 1)
        with leat.GraphLoader(self.path, **SMALL) as loader:
            self.assertRaises(leat.LeatError, loader.load, probes)

    def test_killed(self):
        program = ("import json, leat, os, sys\n"
                   "loader = leat.GraphLoader(sys.argv[1], max_nodes=700, max_edges=2000, seed=7)\n"
                   "for _ in range(13): next(loader)\n"
                   "print(json.dumps(loader.state()), flush=True)\n"
                   "os.kill(os.getpid(), 9)\n")
        done = subprocess.run([sys.executable, "-c", program, self.path], capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (-9, ""))
        self.assertEqual(digests(4, json.loads(done.stdout)), self.wanted[13:17])

    def test_pickled(self):
        with leat.GraphLoader(self.path, "train", **SMALL) as loader:
            list(itertools.islice(loader, 13))
            for copied in (pickle.loads(pickle.dumps(loader)), copy.deepcopy(loader)):
                with copied:
                    self.assertEqual((copied.place, copied.state()),
                                     (loader.place, loader.state()))
                    self.assertEqual([digest(next(copied)) for _ in range(9)],
                                     self.wanted[13:22])
        self.assertRaisesRegex(ValueError, "closed", pickle.dumps, loader)

    def test_places(self):
        place = leat.GraphLoader(self.path, **SMALL).place
        for to in ([0, 2], (np.int64(0), np.int32(2)), np.array([0, 2])):
            self.assertEqual(digests(1, to), self.wanted[2:3])
        with leat.GraphLoader(self.path, **SMALL) as loader:
            for to in (3, None, (1,), (0, 1, 2)):
                self.assertRaisesRegex(TypeError, r"is not a place; give \(epoch, batch\)",
                                       loader.seek, to)
            self.assertRaisesRegex(TypeError, "batch: 1.5 is not an integer", loader.seek,
                                   (0, 1.5))
            self.assertEqual(loader.place, place)

    def test_what_is_no_path(self):
        probes = leat.ProbeDataset(support.dataset())
        for kind in leat.GraphLoader, leat.CanDataset:
            for data, word in ((None, "None"), (probes, "<leat.ProbeDataset .*>"), (["a"], "")):
                self.assertRaisesRegex(TypeError, f"{word} is not a path; give that of the folder "
                                       "of a CAN cache$", kind, data)

    def test_a_data_set_of_the_other_kind(self):
        path = support.dataset()
        for kind in leat.GraphLoader, leat.CanDataset:
            self.assertRaisesRegex(leat.errors.NotFoundError, f'^"{path}" is a data set of `leat '
                                   "ingest probes`, .*open it with leat.ProbeDataset in "
                                       r"Python, leat_dataset_open\(\) in C$", kind, path)
        for path in (self.path, leat.CanDataset(self.path).path):
            for kind in leat.Loader, leat.ProbeDataset:
                self.assertRaisesRegex(leat.errors.NotFoundError, f'^"{path}" is a cache of `leat '
                                       "ingest can`, .*open it with leat.CanDataset in "
                                           r"Python, leat_can_cache_open\(\) in C$", kind, path)

    def test_other_hosts(self):
        with leat.GraphLoader(self.path, **SMALL, hosts=2) as loader:
            list(itertools.islice(loader, 2))
            state = loader.state()
        self.assertEqual((state["epoch"], state["batch"]), (0, 4))
        self.assertEqual(digests(1, state, hosts=4, host=3), self.wanted[7:8])
        self.assertRaisesRegex(leat.errors.OptionError, "3 hosts", digests, 1, state, hosts=3)

    def test_refused_by_name(self):
        other = support.can_cache(frames=9000, vehicles=1, seed=6)
        with leat.GraphLoader(self.path, **SMALL) as loader:
            next(loader)
            state = loader.state()
        for path, options, word in ((self.path, {"seed": 8}, "seed"), (other, {}, "data"),
                                    (self.path, {"max_nodes": 650}, "option"),
                                    (self.path, {"split": "val"}, "option")):
            with leat.GraphLoader(path, **{**SMALL, **options}) as loader:
                self.assertRaisesRegex(leat.LeatError, word, loader.seek, state)
                self.assertEqual(loader.place, (0, 0))  # a refusal changes nothing
        with leat.GraphLoader(self.path, **SMALL) as loader:
            for place in ((0, 99999), (-1, 0), (0, -1), (2 ** 63, 0), "{", {**state, "v": 2}):
                self.assertRaises(leat.LeatError, loader.seek, place)
            self.assertEqual(digest(next(loader)), self.wanted[0])


class Lifetimes(unittest.TestCase):
    def setUp(self):
        self.path = support.can_cache()

    def test_a_held_batch_never_changes(self):
        with leat.GraphLoader(self.path, **SMALL, prefetch=2) as loader:
            batches = [next(loader) for _ in range(3)]
            before = [digest(batch) for batch in batches]
            views = [batch.x[3:5] for batch in batches]
            copies = [view.copy() for view in views]
            for _ in range(40):
                next(loader)
            self.assertEqual([digest(batch) for batch in batches], before)
            del batches
            for _ in range(40):
                next(loader)
        gc.collect()
        for view, copied in zip(views, copies):  # a view alone holds its batch
            np.testing.assert_array_equal(view, copied)

    def test_the_test_above_sees_a_batch_that_is_not_held(self):
        class NotHeld(leat.can._Held):
            def __init__(self, pointer):
                super().__init__(pointer)
                leat.can.held.leat_graph_batch_release(pointer)

            def __del__(self):
                pass
        with unittest.mock.patch.object(leat.can, "_Held", NotHeld):
            with leat.GraphLoader(self.path, **SMALL, prefetch=2) as loader:
                first = next(loader).x
                before = first.copy()
                for _ in range(40):
                    next(loader)
                changed = not (first == before).all()
        self.assertTrue(changed)

    def test_batches_given_back_are_used_again(self):
        with leat.GraphLoader(self.path, **SMALL, prefetch=2) as loader:
            places = {next(loader).x.ctypes.data for _ in range(100)}
            self.assertLessEqual(len(places), 6)

    def test_closed(self):
        loader = leat.GraphLoader(self.path, **SMALL)
        batch = next(loader)
        before = digest(batch)
        loader.close()
        loader.close()
        self.assertEqual(digest(batch), before)
        for use in (lambda: next(loader), loader.state, lambda: loader.seek((0, 0)),
                    loader.counters, lambda: loader.place, lambda: loader.epoch(0),
                    lambda: loader.explain(0, 0), lambda: loader.save("x")):
            self.assertRaisesRegex(ValueError, "closed", use)
        self.assertIn("closed", repr(loader))

    def test_fork(self):
        with leat.GraphLoader(self.path, **SMALL) as loader:
            next(loader)
            child = os.fork()
            if child == 0:
                signal.alarm(support.LIMIT)
                try:
                    next(loader)
                except leat.errors.OptionError as problem:
                    loader.close()  # leaves the parent's as it is
                    os._exit(0 if "fork" in str(problem) else 2)
                os._exit(1)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
            self.assertEqual(digest(next(loader)), digests(2)[1])

    def test_sizes(self):
        for text, size in (("512M", 512 << 20), ("8388608", 1 << 23), ("8388608K", 1 << 33),
                           ("2g", 2 << 30), ("1GiB", 1 << 30), (1 << 30, 1 << 30)):
            found = [leat.GraphLoader(self.path, **SMALL, threads=1,
                                      memory=memory).counters()["prefetch"]
                     for memory in (text, size)]
            self.assertEqual(found[0], found[1], text)
            self.assertEqual(leat.can.size("memory", text), size)
        for text in "", "M", "1.5G", "12X", "1Gi", "-1", "1 G", "9" * 20, "9999999999G":
            self.assertRaisesRegex(leat.errors.OptionError, "^memory: ", leat.GraphLoader,
                                   self.path, memory=text)
        for name in "memory", "prefetch", "threads", "host", "hosts":
            self.assertRaisesRegex(TypeError, f"^{name}: 1.5 is not an integer",
                                   leat.GraphLoader, self.path, **{name: 1.5})
        with leat.Loader(support.dataset(), batch=4, length=64, memory="64M") as loader:
            next(loader)
        self.assertRaisesRegex(leat.errors.OptionError, "^memory: 'much'", leat.Loader,
                               support.dataset(), memory="much")

    def test_options_are_named(self):
        for options, words in (({"max_nodes": -1}, "max-nodes"), ({"pack": "tight"}, "tight"),
                               ({"min_steps": 0}, "min-steps"), ({"seed": -1}, "seed"),
                               ({"curriculum": "random"}, "epochs"), ({"hosts": 0}, "hosts"),
                               ({"split": "dev"}, "dev"), ({"memory": 1000}, "memory"),
                               ({"curriculum": "/nowhere", "epochs": 3}, "nowhere"),
                               ({"threads": 2 ** 40}, "threads"), ({"pack": "f\0"}, "null"),
                               ({"scale": "minmax"}, "minmax"), ({"host": 1}, "host")):
            with self.subTest(options):
                self.assertRaisesRegex((leat.LeatError, ValueError), words, leat.GraphLoader,
                                       self.path, **{**SMALL, **options})

    def test_options_without_effect(self):
        ramp = {"pack": "next-fit", "curriculum": None}
        for options, words in (
                ({"batch": 4}, "^batch is for pack 'fixed'; with pack 'ffd', max_nodes and "
                               "max_edges limit the size of a batch$"),
                ({"batch": 32, "pack": "bucket"}, "^batch is for pack 'fixed'; with pack 'bucket'"),
                ({"pack": "fixed", "max_nodes": 900}, "^max_nodes: pack 'fixed' has no budget"),
                ({"pack": "fixed", "max_edges": 0}, "^max_edges: pack 'fixed' has no budget"),
                ({"pack": "fixed", "oversize": "skip"}, "^oversize: pack 'fixed' has no budget"),
                ({**ramp, "tiers": 10}, "^tiers requires a curriculum"),
                ({**ramp, "curriculum_start": 1}, "^curriculum_start requires a curriculum"),
                ({"curriculum": "none", "curriculum_end": 2}, "^curriculum_end requires")):
            with self.subTest(options):
                self.assertRaisesRegex(leat.errors.OptionError, words, leat.GraphLoader, self.path,
                                       **options)
        with leat.GraphLoader(self.path, pack="fixed") as loader:
            self.assertEqual(len(next(loader).y), 32)
        with leat.GraphLoader(self.path, pack="fixed", batch=np.int16(4)) as loader:
            self.assertEqual(len(next(loader).y), 4)
        self.assertRaisesRegex(leat.errors.OptionError, "^batch: ", leat.GraphLoader, self.path,
                               pack="fixed", batch=0)

    def test_texts_are_not_numbers(self):
        ramp = {"curriculum": "random", "epochs": 4}
        for options in ({"max_nodes": "900"}, {"max_edges": "900"}, {"min_steps": "2"},
                        {"seed": "1"}, {"epochs": "2"}, {"seed": 1.0}, {"hosts": "1"},
                        {"tiers": "10", **ramp}, {"batch": "4", "pack": "fixed"}):
            name, value = next(iter(options.items()))
            self.assertRaisesRegex(TypeError, f"^{name}: {value!r} is not an integer$",
                                   leat.GraphLoader, self.path, **options)
        for name in "curriculum_start", "curriculum_end":
            self.assertRaisesRegex(TypeError, f"^{name}: '2' is not a number$", leat.GraphLoader,
                                   self.path, **ramp, **{name: "2"})
        with leat.GraphLoader(self.path, seed=2 ** 63 - 1, **ramp, tiers=np.int64(4),
                              curriculum_start=np.float32(1), curriculum_end=2) as loader:
            self.assertEqual([loader.epoch(number).tiers for number in (0, 3)], [2, 4])


if __name__ == "__main__":
    unittest.main()
