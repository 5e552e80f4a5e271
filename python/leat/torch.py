"""leat for PyTorch Geometric: batches of graphs as torch_geometric.data.Batch.

    loader = leat.torch.graph_loader("cache", max_nodes=8192, max_edges=32768, seed=1)
    for epoch in range(10):
        for batch in loader:             # each pass is an epoch, drawn anew
            model(batch.x, batch.edge_index, batch.edge_attr, batch.batch)

A batch equals what Batch.from_data_list returns for the same graphs, tensor by tensor, but graphs
are not handled one by one: leat's threads build it ahead of time.
"""
from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch_geometric.data import Batch, Data

from leat._handle import Path
from leat.can import CanDataset, Graph, GraphBatch, GraphLoader
from leat.errors import LeatError, OptionError

Place = tuple[int, int]  # epoch, and the number of its batches that are done, over all hosts


def to_data(graph: Graph, *, with_graph: bool = False) -> Data:
    """A graph of a CanSplit as a torch_geometric.data.Data, equal to its part of a batch: x [N, 35]
    and edge_attr [E, 11] float32; edge_index [2, E], y [1], node_id [N], attack_type [1] int64;
    with_graph: graph [1], its number in the split, too. x and edge_attr are in the graph's memory.
    """
    return Data(x=torch.from_numpy(graph.x),
                edge_index=torch.from_numpy(graph.edge_index).long(),
                edge_attr=torch.from_numpy(graph.edge_attr),
                y=torch.tensor([graph.facts.y]), node_id=torch.from_numpy(graph.node_id).long(),
                attack_type=torch.tensor([graph.facts.attack_type]),
                **({"graph": torch.tensor([graph.facts.graph])} if with_graph else {}))


def _arrays(found: GraphBatch, with_graph: bool) -> dict[str, npt.NDArray[Any]]:
    """The arrays that become the tensors of a Batch, by its names and in its order."""
    return {"x": found.x, "edge_index": found.edge_index, "edge_attr": found.edge_attr,
            "y": found.y, "node_id": found.node_id, "attack_type": found.attack_type,
            **({"graph": found.graph} if with_graph else {}),
            "batch": found.node_graph, "ptr": found.node_ptr}


def _wide(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Converts to PyTorch Geometric's 64-bit integers. NumPy does it, because PyTorch distributes
    even small work to its threads and waits for all of them."""
    return array.astype(np.int64, copy=False) if array.dtype.kind == "i" else array


def _pinned(tensor: torch.Tensor) -> torch.Tensor:
    """A copy in pinned memory, which a device reads directly. PyTorch keeps such memory for reuse,
    but not before the copies from it are complete."""
    copied = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    np.copyto(copied.numpy(), tensor.numpy())
    return copied


_EMPTY = Batch(_base_cls=Data)


def _batch(found: GraphBatch, tensors: Mapping[str, torch.Tensor]) -> Batch:
    """The Batch, with the data by which PyTorch Geometric splits it: where each graph's part of a
    tensor is, and the offset added to it. These stay in main memory, as in its own batches."""
    batch = copy.copy(_EMPTY)  # creating one by its class takes ten times as long
    for key, tensor in tensors.items():
        batch.stores[0][key] = tensor
    count = len(found.y)
    # copies: they are small, and must not keep the loader's memory
    nodes, edges = torch.tensor(found.node_ptr), torch.tensor(found.edge_ptr)
    each, none = torch.arange(count + 1), torch.zeros(count, dtype=torch.long)
    slices = {"x": nodes, "edge_index": edges, "edge_attr": edges, "y": each, "node_id": nodes,
              "attack_type": each}
    if "graph" in tensors:
        slices["graph"] = each
    batch._num_graphs = count
    batch._slice_dict = slices
    batch._inc_dict = {key: nodes[:-1] if key == "edge_index" else none for key in slices}
    return batch


class _Source:
    """Takes batches from a loader into main memory, pinned or not."""

    def __init__(self, loader: GraphLoader, pin: bool, with_graph: bool) -> None:
        self._loader, self._pin, self._with_graph = loader, pin, with_graph

    @property
    def place(self) -> Place:
        """The place of the next batch returned."""
        return self._loader.place

    def seek(self, place: Place | Mapping[str, Any]) -> None:
        """Goes to a place or state."""
        self._loader.seek(place)

    def next(self) -> Batch:
        """The next batch."""
        found = self._loader._next_writable()
        tensors = {key: torch.from_numpy(_wide(each))
                   for key, each in _arrays(found, self._with_graph).items()}
        if self._pin:
            tensors = {key: _pinned(each) for key, each in tensors.items()}
        return _batch(found, tensors)


class _DeviceSource(_Source):
    """The same on a CUDA device: during computation on a batch, the next one is copied there, on a
    separate stream."""

    def __init__(self, loader: GraphLoader, pin: bool, with_graph: bool,
                 device: torch.device) -> None:
        super().__init__(loader, pin, with_graph)
        self._device = torch.device("cuda", torch.cuda.current_device()
                                    if device.index is None else device.index)
        self._stream = torch.cuda.Stream(self._device)
        self._sent: tuple[Place, Batch] | None = None

    @property
    def place(self) -> Place:
        """The place of the next batch returned; the loader is one batch ahead."""
        return self._loader.place if self._sent is None else self._sent[0]

    def seek(self, place: Place | Mapping[str, Any]) -> None:
        """Goes to a place or state."""
        self._loader.seek(place)
        self._sent = None

    def _send(self) -> tuple[Place, Batch]:
        place, found = self._loader.place, self._loader._next_writable()
        here = {key: torch.from_numpy(each)
                for key, each in _arrays(found, self._with_graph).items()}
        if self._pin:
            here = {key: _pinned(each) for key, each in here.items()}
        with torch.cuda.stream(self._stream):  # integers become 64 bits wide there
            there = {key: each.to(self._device, non_blocking=self._pin)
                     for key, each in here.items()}
            there = {key: each if each.is_floating_point() else each.long()
                     for key, each in there.items()}
        return place, _batch(found, there)

    def next(self) -> Batch:
        """The next batch, for the current stream."""
        batch = (self._sent or self._send())[1]
        self._sent = None
        now = torch.cuda.current_stream(self._device)
        now.wait_stream(self._stream)
        batch.record_stream(now)  # its memory is not reused before this stream is done with it
        try:
            self._sent = self._send()
        except (StopIteration, LeatError):
            pass  # the end; or a failure, which is raised again at this batch's turn
        return batch


class GraphBatches:
    """The result of graph_loader(): iter() over an epoch, its len(), and a state.

    Use it where a torch.utils.data.DataLoader is expected: a training loop, Lightning's Trainer. It
    needs no workers, because the threads are leat's. It can be pickled, like its loader.
    """

    def __init__(self, loader: GraphLoader, device: torch.device | str | None,
                 pin_memory: bool | None, with_graph: bool) -> None:
        self.loader = loader  #: explain(), counters(), data
        self._arguments = (device, pin_memory, with_graph)
        pin = torch.cuda.is_available() and pin_memory is not False
        where = torch.device("cpu" if device is None else device)
        self._source = (_DeviceSource(loader, pin, with_graph, where) if where.type == "cuda" else
                        _Source(loader, pin, with_graph))
        self._epoch, self._begun = loader.place[0], False
        self._turn = 0  # of the iterator that may continue
        self._length: tuple[int, int] | None = None  # epoch and its steps

    @property
    def epoch(self) -> int:
        """The current epoch; between epochs, the next one."""
        return self._epoch

    def set_epoch(self, epoch: int) -> None:
        """Makes the next iter() start this epoch from its first batch."""
        self._seek((epoch, 0))

    def __len__(self) -> int:
        """Batches of the epoch; epochs may differ, because each is drawn anew."""
        epochs = self.loader.epochs
        if epochs and self._epoch >= epochs:
            return 0
        if self._length is None or self._length[0] != self._epoch:
            self._length = self._epoch, self.loader.epoch(self._epoch).steps
        return self._length[1]

    def _seek(self, place: Place | Mapping[str, Any]) -> None:
        self._source.seek(place)
        self._epoch, self._begun = self.loader.place[0], False
        self._turn += 1

    def __iter__(self) -> Iterator[Batch]:
        """The batches of one epoch: the one that was set, or the rest of the epoch of a restored
        state, otherwise the next one. An epoch that was left early is not resumed. Ends an earlier
        iterator. Raises OptionError when all `epochs` are over."""
        if self._begun:
            self._leave()
        epochs = self.loader.epochs
        if epochs and self._epoch >= epochs:
            raise OptionError(
                f"all {epochs} epochs of this loader are over; omit epochs to continue, or call "
                f"set_epoch(0) to start again" if epochs > 1 else
                "the one epoch of this loader (epochs=1) is over; omit epochs to continue, or call "
                "set_epoch(0) to start again")
        self._turn += 1
        return self._iterate(self._turn)

    def _leave(self) -> None:
        """Moves to the next epoch, where the loader already is after the last batch."""
        if self._source.place[0] == self._epoch:
            self._seek((self._epoch + 1, 0))
        self._epoch, self._begun = self._source.place[0], False

    def _iterate(self, turn: int) -> Iterator[Batch]:
        steps = len(self)
        step = self._source.place[1] // self.loader.hosts
        while step < steps:
            if turn != self._turn:
                raise RuntimeError("another iter() or another place of this loader has ended this "
                                   "iterator")
            batch = self._source.next()
            step, self._begun = step + 1, True
            yield batch
        if turn == self._turn and self._begun:
            self._leave()

    def state_dict(self) -> dict[str, Any]:
        """The state to resume from, after the last batch returned. The same on every host; JSON of
        at most 256 bytes."""
        epoch, batch = self._source.place
        return {**self.loader.state(), "epoch": epoch, "batch": batch}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restores a state: the next iter() returns the rest of its epoch. A state of different
        data, options or seed raises InputError, which names which of these it is."""
        self._seek(state_dict)

    def __reduce__(self) -> Any:
        return _resumed, (self.loader, self._arguments, self.state_dict())

    def close(self) -> None:
        """Ends the loader; batches still held stay valid."""
        self.loader.close()

    def __repr__(self) -> str:
        return f"<leat.torch.GraphBatches of {self.loader.data.path} {self.loader.split}>"


def _resumed(loader: GraphLoader, arguments: tuple[Any, ...], state: dict[str, Any]
             ) -> GraphBatches:
    """Batches that were pickled."""
    batches = GraphBatches(loader, *arguments)
    batches.load_state_dict(state)
    return batches


def graph_loader(data: CanDataset | Path, split: str = "train", *,
                 device: torch.device | str | None = None, pin_memory: bool | None = None,
                 with_graph: bool = False, **options: Any) -> GraphBatches:
    """Batches of graphs of one split as torch_geometric.data.Batch.

    data: a CanDataset, or the path of one. options: those of leat.GraphLoader (graphs, max_nodes,
    max_edges, device_memory, model, pack, batch, seed, curriculum, epochs, host, hosts, threads,
    memory, ...).

    The tensors: x [N, 35], edge_attr [E, 11] float32; edge_index [2, E], y [G], node_id [N],
    attack_type [G], batch [N], ptr [G + 1] int64; y is 1 for an attack, 0 for benign, -1 for
    unlabelled. Without a device they are in main memory, x and
    edge_attr in the loader's, and a batch stays unchanged while any of its tensors is alive.
    Writing to them is allowed and changes no other batch.

    device: a CUDA device to copy batches to, each during computation on the one before. pin_memory:
    copies go through pinned memory, asynchronously; without a device batches are in pinned memory,
    for batch.to(device, non_blocking=True). None or True: if CUDA is available; False: never.

    with_graph: batches also have graph [G] int64, the numbers of their graphs in the split;
    data[split].facts(number) returns the capture and window of each.

    Each iter() is an epoch; with `epochs`, one after the last raises OptionError.

    With several hosts, the last batches of an epoch may be without graphs on some of them, so that
    all have the same number of steps.
    """
    where = None if device is None else torch.device(device)
    if where is not None and where.type not in ("cpu", "cuda"):
        raise ValueError(f"device {device!r} is not accepted: a CUDA device, \"cpu\" or None")
    return GraphBatches(GraphLoader(data, split, **options), device, pin_memory, with_graph)
