"""leat.torch: batches equal to PyTorch Geometric's own, tensor by tensor; epochs, states and hosts
as a training loop uses them; caches opened by safetensors alone."""
import contextlib
import glob
import itertools
import json
import os
import pickle
import subprocess
import sys
import unittest
import unittest.mock

import support

support.need("numpy", "torch", "torch_geometric", "safetensors", "leat", environment="torch")
import numpy as np  # noqa: E402
import safetensors.torch  # noqa: E402
import torch  # noqa: E402
from torch_geometric.data import Batch, Data  # noqa: E402
from torch_geometric.nn import GCNConv, global_mean_pool  # noqa: E402

import leat  # noqa: E402
import leat.can  # noqa: E402
import leat.errors  # noqa: E402
import leat.torch  # noqa: E402

torch.set_num_threads(1)
SMALL = {"max_nodes": 700, "max_edges": 2000, "seed": 7}
FIXED = {"pack": "fixed", "max_nodes": None, "max_edges": None}
CUDA = torch.cuda.is_available()


def loader(path=None, *words, **options):
    return leat.torch.graph_loader(path or support.can_cache(), *words, **{**SMALL, **options})


def tensors(batch):
    """What is compared of a batch that was not made by from_data_list."""
    return {key: batch[key].clone() for key in batch.keys()}


class Case(unittest.TestCase):
    def same(self, found, wanted, strides=True):
        """Two Batch or Data, in every tensor that they hold or are taken apart by."""
        self.assertEqual(list(found.keys()), list(wanted.keys()))
        parts = [(key, found[key], wanted[key]) for key in wanted.keys()]
        if isinstance(wanted, Batch):
            self.assertEqual(type(found), type(wanted))
            self.assertEqual(found.num_graphs, wanted.num_graphs)
            for name in ("_slice_dict", "_inc_dict"):
                one, other = getattr(found, name), getattr(wanted, name)
                self.assertEqual(list(one), list(other))
                parts += [(f"{name} {key}", one[key], other[key]) for key in other]
        for name, one, other in parts:
            self.assertEqual((one.dtype, one.shape, one.device.type),
                             (other.dtype, other.shape, other.device.type), name)
            self.assertTrue(not strides or one.stride() == other.stride(), name)
            self.assertTrue(torch.equal(one, other), name)


def from_cache(path, split):
    """The graphs of a split as somebody makes them who has safetensors, PyTorch and the page on the
    cache's format, but not leat."""
    file = safetensors.torch.load_file(os.path.join(path, f"{split}.safetensors"))
    with open(os.path.join(path, "scaler.json"), encoding="utf-8") as opened:
        scaler = {key: torch.tensor(value) for key, value in json.load(opened).items()
                  if key != "strategy"}
    x = (file["x"] - scaler["x_center"]) / scaler["x_scale"]
    edge_attr = (file["edge_attr"] - scaler["edge_center"]) / scaler["edge_scale"]
    for g in range(len(file["y"])):
        nodes = slice(*file["node_ptr"][g:g + 2].tolist())
        edges = slice(*file["edge_ptr"][g:g + 2].tolist())
        yield Data(x=x[nodes], edge_index=file["edge_index"][:, edges].long().contiguous(),
                   edge_attr=edge_attr[edges], y=file["y"][g:g + 1].long(),
                   node_id=file["node_id"][nodes].long(),
                   attack_type=file["attack_type"][g:g + 1].long())


class Equal(Case):
    def test_to_from_data_list(self):
        """The graphs taken from the files by safetensors; batches of every way to pack them."""
        data = leat.CanDataset(support.can_cache())
        self.assertEqual(len(glob.glob(os.path.join(data.path, "*.safetensors"))), len(data))
        for split, options in (("train", {}), ("val", {**FIXED, "batch": 5}),
                               ("test_01_dos", {"pack": "next-fit"}),
                               ("train", {"pack": "bucket", "max_nodes": 5000, "max_edges": 0})):
            graphs = list(from_cache(data.path, split))
            self.assertEqual(len(graphs), len(data[split]))
            batches, count = loader(data, split, **options), 0
            for epoch in range(2):
                for number, batch in enumerate(batches):
                    said = batches.loader.explain(epoch, number)
                    chosen = [graphs[one.graph] for one in said.graphs]
                    wanted = Batch.from_data_list(chosen)
                    self.same(batch, wanted)
                    count += batch.num_graphs
                    if number == 0:
                        for one, other, graph in zip(batch.to_data_list(),
                                                     wanted.to_data_list(), chosen):
                            self.same(one, other)
                            self.same(one, graph, strides=False)
                        self.same(batch.get_example(2), wanted[2])
                        self.same(batch[1:3][1], chosen[2])
                        self.assertEqual((len(batch), batch.batch_size, batch.num_nodes,
                                          batch.num_edges, batch.validate()),
                                         (len(wanted), wanted.batch_size, wanted.num_nodes,
                                          wanted.num_edges, True))
            self.assertEqual(count, 2 * len(graphs))

    def test_to_data(self):
        data = leat.CanDataset(support.can_cache())
        for graph, wanted in zip(data["val"], from_cache(data.path, "val")):
            self.same(leat.torch.to_data(graph), wanted)

    def test_unlabelled(self):
        """y is -1, in batches and in single graphs, and a loss can leave such graphs out."""
        batches = leat.torch.graph_loader(support.three_states(), epochs=1)
        batch = next(iter(batches))
        self.assertEqual([int((batch.y == label).sum()) for label in (1, 0, -1)], [3, 17, 20])
        self.assertEqual(batch.y.dtype, torch.int64)
        self.assertTrue(torch.equal(batch.attack_type, batch.y))  # dos is type 1
        graphs = list(from_cache(batches.loader.data.path, "train"))
        said = batches.loader.explain(0, 0).graphs
        self.same(batch, Batch.from_data_list([graphs[one.graph] for one in said]))
        for graph, wanted in zip(batches.loader.data["train"], graphs):
            self.assertEqual(leat.torch.to_data(graph).y.item(), wanted.y.item())
        out = torch.randn(len(batch.y), 2, generator=torch.Generator().manual_seed(1))
        labelled = batch.y >= 0
        self.assertEqual(
            torch.nn.functional.cross_entropy(out, batch.y, ignore_index=-1).item(),
            torch.nn.functional.cross_entropy(out[labelled], batch.y[labelled]).item())

    def test_numbers_of_graphs(self):
        """Only where they are asked for; as from_data_list makes them of graphs that have them."""
        for split in "train", "test_01_dos":
            batches, seen = loader(None, split, with_graph=True, epochs=1), []
            graphs = batches.loader.data[split]
            for number, batch in enumerate(batches):
                said = [one.graph for one in batches.loader.explain(0, number).graphs]
                self.assertEqual(batch.graph.tolist(), said)
                chosen = [leat.torch.to_data(graphs[one], with_graph=True) for one in said]
                self.same(batch, Batch.from_data_list(chosen))
                if number == 0:
                    for one, graph in zip(batch.to_data_list(), chosen):
                        self.same(one, graph, strides=False)
                    self.assertEqual(batch[1:3][1].graph.tolist(), said[2:3])
                seen += said
            self.assertEqual(sorted(seen), list(range(len(graphs))))
        self.assertNotIn("graph", next(iter(loader())))

    def test_what_is_compared_is_what_differs(self):
        """The comparison above sees each thing that could be wrong with a batch."""
        batches = loader()
        batch = next(iter(batches))
        graphs = [leat.torch.to_data(batches.loader.data["train"][one.graph])
                  for one in batches.loader.explain(0, 0).graphs]
        self.same(batch, Batch.from_data_list(graphs))
        for key in batch.keys():
            for change in (lambda old: old + 1, lambda old: old.to(torch.float64)):
                broken = Batch.from_data_list(graphs)
                broken[key] = change(broken[key])
                self.assertRaises(AssertionError, self.same, batch, broken)
        for name in ("_slice_dict", "_inc_dict"):
            for key in batch._slice_dict:
                broken = Batch.from_data_list(graphs)
                getattr(broken, name)[key] = getattr(broken, name)[key] + 1
                self.assertRaises(AssertionError, self.same, batch, broken)

    def test_reference(self):
        """The layout of a batch of graphids: names, types, slices, increments."""
        golden = safetensors.torch.load_file(
            support.golden_files.path("golden/can/batch_ref.safetensors"))
        batch = next(iter(loader(**FIXED, batch=8)))
        for key in ("x", "edge_index", "edge_attr", "node_id", "y", "attack_type", "batch", "ptr"):
            self.assertEqual((batch[key].dtype, batch[key].shape[1:] if key != "edge_index" else 0),
                             (golden[key].dtype, golden[key].shape[1:] if key != "edge_index"
                              else 0), key)
        for prefix, found in (("slice/", batch._slice_dict), ("inc/", batch._inc_dict)):
            names = {key[len(prefix):] for key in golden if key.startswith(prefix)}
            self.assertTrue(names <= set(found), names)
            for name in names:
                self.assertEqual((found[name].dtype, found[name].shape),
                                 (golden[prefix + name].dtype, golden[prefix + name].shape), name)

    def test_tensors_are_the_callers(self):
        """Batches may be written to, kept, moved and pickled."""
        wanted = [tensors(batch) for batch in loader(prefetch=2)]
        kept = []
        for batch, one in zip(loader(prefetch=2), wanted):
            for key, tensor in one.items():
                self.assertTrue(torch.equal(batch[key], tensor), key)
            kept.append(batch.edge_attr[3:5])
            for key in batch.keys():
                batch[key].zero_()
        self.assertTrue(all((part == 0).all() for part in kept))
        batches = iter(loader(prefetch=2))
        first, parts = next(batches), []
        parts.append((first.x[2:4], first.x[2:4].clone()))
        parts.append((first.ptr, first.ptr.clone()))
        moved = pickle.loads(pickle.dumps(first)).clone().to("cpu")
        del first
        for _ in batches:
            pass
        for part, copied in parts:  # a part alone holds its batch
            self.assertTrue(torch.equal(part, copied))
        self.same(moved, next(iter(loader())), strides=False)

    def test_nothing_is_copied(self):
        for batch in itertools.islice(loader(pin_memory=False), 3):
            self.assertEqual(batch.x.data_ptr() % 4096, 0)
            self.assertEqual(batch.edge_attr.data_ptr() % 4096, 0)


class Loop(Case):
    def setUp(self):
        self.wanted = []
        batches = loader()
        for _ in range(3):
            self.wanted.append([tensors(batch) for batch in batches])

    def check(self, found, wanted):
        self.assertEqual(len(found), len(wanted))
        for one, other in zip(found, wanted):
            for key, tensor in other.items():
                self.assertTrue(torch.equal(one[key], tensor), key)

    def test_epochs(self):
        batches = loader()
        for epoch in range(3):
            self.assertEqual((batches.epoch, len(batches)), (epoch, len(self.wanted[epoch])))
            self.check([tensors(batch) for batch in batches], self.wanted[epoch])
        self.assertFalse(torch.equal(self.wanted[0][0]["x"], self.wanted[1][0]["x"]))
        batches.set_epoch(1)
        self.check([tensors(batch) for batch in batches], self.wanted[1])

    def test_left_early(self):
        batches = loader()
        iter(batches)
        iter(batches)  # takes nothing, and so no epoch
        for batch in batches:
            self.check([batch], self.wanted[0][:1])
            break
        self.assertEqual(batches.epoch, 0)
        old = iter(batches)
        self.check([next(old)], self.wanted[1][:1])
        self.check(list(batches), self.wanted[2])
        self.assertRaisesRegex(RuntimeError, "another iter", next, old)

    def test_all_but_the_end_of_an_iterator(self):
        """A loop that counts to len() and asks no further is in the next epoch all the same."""
        batches = loader()
        for epoch in range(3):
            found = list(itertools.islice(iter(batches), len(batches)))
            self.check(found, self.wanted[epoch])

    def test_the_last_epoch(self):
        batches = loader(epochs=2)
        self.assertEqual([sum(1 for _ in batches) for _ in range(2)],
                         [len(self.wanted[0]), len(self.wanted[1])])
        over = "all 2 epochs .* over; omit epochs .* set_epoch\\(0\\)"
        for _ in range(2):
            self.assertRaisesRegex(leat.errors.OptionError, over, iter, batches)
        self.assertEqual((batches.epoch, len(batches)), (2, 0))
        batches.load_state_dict(batches.state_dict())
        self.assertRaisesRegex(leat.errors.OptionError, over, list, batches)
        batches.set_epoch(0)
        for epoch in range(2):
            self.check([tensors(batch) for batch in batches], self.wanted[epoch])
        batches = loader(epochs=1)
        self.check([next(iter(batches))], self.wanted[0][:1])  # a look takes the only epoch
        self.assertRaisesRegex(leat.errors.OptionError, "the one epoch .* is over", iter, batches)

    def test_resumed_in_the_middle(self):
        flat = [(epoch, number) for epoch in range(2) for number in range(len(self.wanted[epoch]))]
        batches, states = loader(), []
        for epoch in range(2):
            for batch in batches:
                states.append(json.loads(json.dumps(batches.state_dict())))
        for (epoch, number), state in list(zip(flat, states))[::3]:
            again = loader(threads=1)
            again.load_state_dict(state)
            rest = self.wanted[epoch][number + 1:]
            if rest:  # what is left of the epoch, then the next one
                self.assertEqual(len(again), len(self.wanted[epoch]))
                self.check(list(again), rest)
            self.check(list(again), self.wanted[epoch + 1])
        with self.assertRaisesRegex(leat.LeatError, "seed"):
            loader(seed=8).load_state_dict(states[0])

    def test_pickled(self):
        batches = loader(with_graph=True)
        for epoch in range(2):
            steps = iter(batches)
            for number in range(len(batches)):
                next(steps)
                if number % 3 == 0:
                    again = pickle.loads(pickle.dumps(batches))
                    rest = self.wanted[epoch][number + 1:] or self.wanted[epoch + 1]
                    found = list(again)
                    self.check(found, rest)
                    self.assertIn("graph", found[0])
        batches.close()
        self.assertRaisesRegex(ValueError, "closed", pickle.dumps, batches)

    def test_benign_graphs(self):
        """What a VGAE is trained on."""
        batches = loader(graphs="benign")
        self.assertEqual({int(y) for batch in batches for y in batch.y}, {0})
        self.assertGreater(batches.loader.left_out, 0)

    def test_class_weights(self):
        weights = leat.CanDataset(support.can_cache()).class_weights()
        loss = torch.nn.CrossEntropyLoss(weight=torch.from_numpy(weights))
        self.assertGreater(loss(torch.zeros(4, 2), torch.tensor([0, 1, 0, 0])).item(), 0.69)

    def test_hosts(self):
        parts = [loader(hosts=3, host=host) for host in range(3)]
        for epoch in range(2):
            lengths = {len(part) for part in parts}
            batches = [list(part) for part in parts]
            self.assertEqual({len(each) for each in batches}, lengths)
            found = [each for step in zip(*batches) for each in step]
            empty = found[len(self.wanted[epoch]):]
            self.check(found[:len(self.wanted[epoch])], self.wanted[epoch])
            for batch in empty:
                self.assertEqual((batch.num_graphs, batch.x.shape, batch.edge_index.shape,
                                  batch.to_data_list()), (0, (0, 35), (2, 0), []))
            self.assertEqual(len({json.dumps(part.state_dict()) for part in parts}), 1)

    def test_ahead(self):
        """Batches for a device, copied one ahead: the same ones, and a state that knows of it. The
        device is this machine's processor where there is no other."""
        names = "Stream", "stream", "current_stream", "current_device"
        fakes = {name: unittest.mock.MagicMock() for name in names}
        fakes["current_device"].return_value = 0
        with contextlib.ExitStack() as stack:
            if not CUDA:
                stack.enter_context(unittest.mock.patch.multiple(torch.cuda, **fakes))
                stack.enter_context(unittest.mock.patch.object(Data, "record_stream"))

            def made(**options):
                batches = loader(device="cuda", **options)
                if not CUDA:
                    batches._source._device = torch.device("cpu")
                return batches
            batches, states = made(), []
            for epoch in range(2):
                found = []
                for batch in batches:
                    self.assertEqual(batch.y.dtype, torch.int64)
                    self.assertEqual(batch.x.is_cuda, CUDA)
                    found.append({key: one.cpu() for key, one in tensors(batch).items()})
                    states.append((epoch, len(found), batches.state_dict()))
                self.check(found, self.wanted[epoch])
            once = made(epochs=1)
            self.assertEqual(sum(1 for _ in once), len(self.wanted[0]))
            self.assertRaisesRegex(leat.errors.OptionError, "over", iter, once)
            self.assertEqual(next(iter(made(with_graph=True))).graph.tolist(),
                             [one.graph for one in once.loader.explain(0, 0).graphs])
            for epoch, number, state in states[::4]:
                again = made()
                next(iter(again))
                again.load_state_dict(state)
                rest = self.wanted[epoch][number:] or self.wanted[epoch + 1]
                self.check([{key: one.cpu() for key, one in tensors(batch).items()}
                            for batch in again], rest)
            begun = made(threads=1)
            next(iter(begun))
            again = pickle.loads(pickle.dumps(begun))  # which is one batch ahead
            if not CUDA:
                again._source._device = torch.device("cpu")
            self.check([{key: one.cpu() for key, one in tensors(batch).items()}
                        for batch in again], self.wanted[0][1:])
            apart = made(hosts=2, host=1)
            next(iter(apart))
            self.assertEqual((apart.state_dict()["epoch"], apart.state_dict()["batch"]), (0, 2))

    def test_a_failure_comes_at_its_turn(self):
        """Copied ahead, a step that fails does not take the batch before it along."""
        class Failing:
            def __init__(self):
                self.place, self.left = (0, 0), [loader().loader._next_writable()]

            def _next_writable(self):
                if not self.left:
                    raise leat.errors.CorruptError("damaged")
                return self.left.pop()
        names = "Stream", "stream", "current_stream"
        with unittest.mock.patch.multiple(
                torch.cuda, **{name: unittest.mock.MagicMock() for name in names}), \
                unittest.mock.patch.object(Data, "record_stream"):
            source = leat.torch._DeviceSource(Failing(), False, False, torch.device("cuda", 0))
            source._device = torch.device("cpu")
            self.assertGreater(source.next().num_graphs, 0)
            self.assertRaisesRegex(leat.errors.CorruptError, "damaged", source.next)

    def test_options(self):
        self.assertRaisesRegex(ValueError, "meta", loader, device="meta")
        self.assertRaises(TypeError, loader, unknown=1)
        self.assertRaisesRegex(leat.LeatError, "max-nodes", loader, max_nodes=-1)
        self.assertEqual(next(iter(loader(device="cpu", pin_memory=True))).x.device.type, "cpu")
        batches = loader()
        batches.close()
        self.assertRaisesRegex(ValueError, "closed", lambda: next(iter(batches)))

    @unittest.skipUnless(CUDA, "no CUDA device")
    def test_pinned(self):
        for batch, wanted in zip(loader(), self.wanted[0]):
            self.assertTrue(all(batch[key].is_pinned() for key in batch.keys()))
            there = batch.to("cuda", non_blocking=True)
            self.check([tensors(there.cpu())], [wanted])
        self.assertFalse(next(iter(loader(pin_memory=False))).x.is_pinned())


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(35, 16), GCNConv(16, 16)
        self.out = torch.nn.Linear(16, 2)

    def forward(self, batch):
        hidden = self.first(batch.x, batch.edge_index).relu()
        hidden = self.second(hidden, batch.edge_index).relu()
        return self.out(global_mean_pool(hidden, batch.batch))


class Training(unittest.TestCase):
    def run_steps(self, epochs, stop=None, resume=None):
        """Trains as Lightning's loops do: len() first, one iter() an epoch, states of the loader
        beside those of model and optimizer."""
        torch.manual_seed(3)
        model = Model()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        batches = loader(max_nodes=1500, max_edges=0)
        if resume is not None:
            batches.load_state_dict(resume["loader"])
            model.load_state_dict(resume["model"])
            optimizer.load_state_dict(resume["optimizer"])
        losses = []
        while batches.epoch < epochs:
            self.assertGreater(len(batches), 2)
            for batch in batches:
                loss = torch.nn.functional.cross_entropy(model(batch), batch.y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
                if len(losses) == stop:
                    return losses, {"loader": batches.state_dict(), "model": model.state_dict(),
                                    "optimizer": optimizer.state_dict()}
        return losses, None

    def test_a_model(self):
        losses, _ = self.run_steps(3)
        self.assertTrue(np.isfinite(losses).all())
        self.assertLess(losses[-1], losses[0])
        some, state = self.run_steps(3, stop=len(losses) // 2 + 1)
        rest, _ = self.run_steps(3, resume=state)
        self.assertEqual(some + rest, losses)  # to the bit: the same batches in the same order

    def test_a_program_may_end_with_all_of_it_in_use(self):
        """Nor does PyTorch warn, as it does once of an array that it must not write to."""
        program = ("import leat.torch, sys\n"
                   "batches = leat.torch.graph_loader(sys.argv[1], max_nodes=700)\n"
                   "held = [batch for batch in batches]\n"
                   "rest = iter(batches)\n"
                   "print(next(rest).num_graphs > 0)\n")
        done = subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", program,
                               support.can_cache()], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "True\n", ""))


if __name__ == "__main__":
    unittest.main()
