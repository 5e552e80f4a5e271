"""Vehicle logs as graphs: caches opened for reading, their graphs, and batches of graphs."""
from __future__ import annotations

import ctypes as c
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from leat import _abi, _handle, _ring
from leat._handle import Path, copy_of, path_of
from leat._library import call, encoded, held, integer, lib, set_options, size, whole
from leat._ring import choice, real
from leat.errors import OptionError

NODE_FEATURES, EDGE_FEATURES = _abi.NODE_FEATURES, _abi.EDGE_FEATURES
_SCALES = tuple(name.lower() for name in _abi.ENUMS["SCALE"])


def attack_name(code: SupportsIndex, y: SupportsIndex | None = None) -> str:
    """The name of an attack by its code in `attack_type`: "benign", "dos", ..., "unlabelled" (-1).

    Code 0 is that of benign graphs and of attacks whose type is not known: with the `y` of its
    graph, the latter are "attack of unknown type". Raises OptionError for other numbers.
    docs/can.md lists them.
    """
    number, label = integer("code", code), 0 if y is None else integer("y", y)
    name = (_text(lib.leat_can_attack_name_of(int(label > 0), number))
            if -1 <= number < 1000 else "")
    if not name:
        raise OptionError(f"attack code {number} does not exist")
    return name


class Sizes(NamedTuple):
    """Numbers of nodes, or of edges, of the graphs of a split."""
    min: int
    max: int
    mean: float
    p95: float
    p99: float


class _SplitFacts(NamedTuple):
    name: str
    graph_count: int
    node_count: int
    edge_count: int
    frames: int
    file_bytes: int
    nodes: Sizes
    edges: Sizes
    attacks: dict[str, int]


class Capture(NamedTuple):
    """One bus of one recording in a log; if captures are merged, all logs of a split."""
    file: str            #: name; "" if captures are merged
    folder: str
    split: str           #: "train" (validation included) or a test
    bus: int | None      #: None: buses are mixed
    vehicle: int | None  #: from the file's name
    frames: int
    windows: int
    tail: int            #: frames after the last window,
    between: int         #: between windows,
    dropped: int         #: and only in windows dropped between training and validation
    rejected: int        #: lines that were rejected
    first_s: float       #: times of the first and the last frame
    last_s: float
    recording: int       #: number in its log, whose clock falls back between two; 0: not known


class Scaler(NamedTuple):
    """A feature f becomes float32(f - center) / scale, both rounded to float32 first."""
    strategy: str                          #: "z_benign", ...; see docs/can.md
    x_center: npt.NDArray[np.float64]      #: [35]
    x_scale: npt.NDArray[np.float64]       #: [35]
    edge_center: npt.NDArray[np.float64]   #: [11]
    edge_scale: npt.NDArray[np.float64]    #: [11]


class GraphFacts(NamedTuple):
    """The facts of a graph, without reading it."""
    graph: int         #: number in its split
    window_start: int  #: first frame of the window, in its capture
    capture: int       #: in CanDataset.captures
    node_count: int
    edge_count: int
    y: int             #: 1: attack, some frame is labelled as one; 0: benign; -1: unlabelled
    attack_type: int   #: 0: none, or an unknown type if y is 1; -1: unlabelled
    attack_first: int  #: first frame of the window that is labelled as an attack, -1: none
    attack_count: int  #: frames labelled as attacks

    @property
    def attack(self) -> str:
        """attack_name(attack_type, y)"""
        return attack_name(self.attack_type, self.y)


def _shown(found: Any) -> str:
    """The repr() of a named tuple, with the shapes of its arrays instead of their values."""
    return f"{type(found).__name__}(" + ", ".join(
        f"{name}={list(one.shape) if isinstance(one, np.ndarray) else repr(one)}"
        for name, one in zip(found._fields, found)) + ")"


class Graph(NamedTuple):
    """A graph with its own arrays."""
    facts: GraphFacts
    x: npt.NDArray[np.float32]          #: [N, 35] features of nodes
    edge_attr: npt.NDArray[np.float32]  #: [E, 11] features of edges
    edge_index: npt.NDArray[np.int32]   #: [2, E] nodes 0 .. N - 1: sources, then targets
    node_id: npt.NDArray[np.int32]      #: [N] number of the identifier; 0: unknown

    def __repr__(self) -> str:
        return _shown(self)


class GraphBatch(NamedTuple):
    """A disjoint union of G graphs with N nodes and E edges. The arrays are read-only views of the
    loader's memory, like those of leat.Loader."""
    epoch: int
    batch: int        #: its number in the epoch, over all hosts
    batch_count: int  #: of the epoch
    x: npt.NDArray[np.float32]           #: [N, 35]
    edge_attr: npt.NDArray[np.float32]   #: [E, 11]
    edge_index: npt.NDArray[np.int32]    #: [2, E] nodes of the batch: sources, then targets
    node_id: npt.NDArray[np.int32]       #: [N] number of the identifier; 0: unknown
    node_graph: npt.NDArray[np.int32]    #: [N] the node's graph, 0 .. G - 1, ascending
    node_ptr: npt.NDArray[np.int64]      #: [G + 1] first node of each graph
    edge_ptr: npt.NDArray[np.int64]      #: [G + 1] first edge
    y: npt.NDArray[np.int32]             #: [G] 1: attack; 0: benign; -1: unlabelled
    attack_type: npt.NDArray[np.int32]   #: [G] 0: none, or unknown if y is 1; -1: unlabelled
    graph: npt.NDArray[np.int64]         #: [G] number in the split

    def __repr__(self) -> str:
        return _shown(self)


class EpochFacts(NamedTuple):
    """The plan of an epoch."""
    batches: int
    steps: int   #: of each host, at least 1
    graphs: int
    tiers: int   #: active tiers of the curriculum


class GraphExplanation(NamedTuple):
    """The contents of a batch of any host; str() gives it in words."""
    epoch: int
    batch: int
    batch_count: int
    tiers: int
    node_count: int
    edge_count: int
    graphs: tuple[GraphFacts, ...]  #: in the order of the batch

    def __str__(self) -> str:
        head = (f"epoch {self.epoch} batch {self.batch} of {self.batch_count}: {len(self.graphs)} "
                f"graphs, {self.node_count} nodes, {self.edge_count} edges\n")
        return head + "".join(
            f"graph {one.graph}: capture {one.capture}, frames from {one.window_start}, "
            f"{one.node_count} nodes, {one.edge_count} edges, " +
            (f"attack {one.attack_type}, {one.attack_count} frames from {one.attack_first}"
             if one.y > 0 else "benign" if one.y == 0 else "unlabelled") + "\n"
            for one in self.graphs)


def _text(found: bytes | None) -> str:
    return (found or b"").decode("utf-8", "replace")


def _facts(found: Any) -> GraphFacts:
    return GraphFacts(*(getattr(found, name) for name in GraphFacts._fields))


class _Handle(_handle.Handle):
    """An open leat_can_cache; its readers, by (split, scale), are leat_can_readers."""
    close, destroy = lib.leat_can_cache_close, lib.leat_can_reader_destroy

    def __init__(self, path: str) -> None:
        self._path = encoded(path)
        super().__init__()

    def open(self) -> c.c_void_p:
        """The leat_can_cache, opened again."""
        pointer = c.c_void_p()
        call(lib.leat_can_cache_open, c.byref(pointer), self._path)
        return pointer

    def reader(self, kind: tuple[str, int]) -> c.c_void_p:
        """A new leat_can_reader."""
        pointer = c.c_void_p()
        call(lib.leat_can_reader_create, c.byref(pointer), self.pointer, encoded(kind[0]), kind[1])
        return pointer

    def __reduce__(self) -> Any:
        return _Handle, (os.fsdecode(self._path),)


class CanSplit(Sequence[Graph]):
    """The graphs of one split: a sequence of Graph, by (number of nodes, capture, window start).

    Reading verifies each page once, when it is first read; CorruptError and InputOutputError name
    the file and byte. Any number of threads may read; reading lets other Python threads run. It can
    be pickled, like its data set, as a path.
    """

    def __init__(self, handle: _Handle, facts: _SplitFacts, scale: str) -> None:
        self._handle, self._count = handle, facts.graph_count
        self._kind = (facts.name, choice("scale", scale, _SCALES))
        self.scale = scale        #: "stored": by the cache's scaler; "none": as stored
        self.name = facts.name    #: "train", "val", "test_..."
        self.node_count = facts.node_count  #: of all graphs
        self.edge_count = facts.edge_count
        self.nodes = facts.nodes  #: of a graph
        self.edges = facts.edges
        self.frames = facts.frames  #: of its logs; those of val count as train
        self.file_bytes = facts.file_bytes
        #: graphs of each attack_name, including "benign" and "unlabelled"
        self.attacks: dict[str, int] = dict(facts.attacks)

    def _number(self, graph: int) -> int:
        try:
            return range(self._count)[graph]
        except IndexError:
            raise IndexError(f"graph {graph}: split {self.name} has {self._count} graphs") \
                from None

    def facts(self, graph: int) -> GraphFacts:
        """The facts of a graph, without reading it."""
        found = _abi.CanGraphFacts()
        with _handle.Reader(self._handle, self._kind) as reader:
            call(lib.leat_can_reader_facts, reader, self._number(graph), c.byref(found))
        return _facts(found)

    def _graph(self, graph: int) -> Graph:
        found = _abi.CanGraph()
        with _handle.Reader(self._handle, self._kind) as reader:
            call(lib.leat_can_reader_graph, reader, graph, c.byref(found))
            facts = _facts(found.facts)
            nodes, edges = facts.node_count, facts.edge_count
            return Graph(
                facts,
                copy_of(found.x, nodes * NODE_FEATURES, np.float32).reshape(nodes, -1),
                copy_of(found.edge_attr, edges * EDGE_FEATURES,
                        np.float32).reshape(edges, EDGE_FEATURES),
                copy_of(found.edge_index, 2 * edges, np.int32).reshape(2, edges),
                copy_of(found.node_id, nodes, np.int32))

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, item: int) -> Graph: ...
    @overload
    def __getitem__(self, item: slice) -> Sequence[Graph]: ...

    def __getitem__(self, item: int | slice) -> Any:
        if isinstance(item, slice):
            return [self._graph(each) for each in range(self._count)[item]]
        return self._graph(self._number(item))

    def __reduce__(self) -> Any:
        return _split_of, (self._handle, self.name, self.scale)

    def __repr__(self) -> str:
        return f"<leat.CanSplit {self.name}: {self._count} graphs>"


def _split_of(handle: _Handle, name: str, scale: str) -> CanSplit:
    """A split that was pickled."""
    return CanSplit(handle, _split_facts(handle.pointer)[name], scale)


def _split_facts(pointer: c.c_void_p) -> dict[str, _SplitFacts]:
    """The facts of all splits, by name."""
    cache, splits, found = _abi.CanFacts(), {}, _abi.CanSplit()
    held.leat_can_cache_get_facts(pointer, c.byref(cache))
    for index in range(cache.split_count):
        call(held.leat_can_cache_get_split, pointer, index, c.byref(found))
        nodes, edges = (Sizes(*(getattr(sizes, name) for name in Sizes._fields))
                        for sizes in (found.nodes, found.edges))
        name = _text(found.name)
        splits[name] = _SplitFacts(
            name, found.graph_count, found.node_count, found.edge_count, found.frames,
            found.file_bytes, nodes, edges,
            {_text(one.name): one.graphs for one in found.attacks[:found.attack_count]})
    return splits


class CanDataset(_handle.Owner[_Handle], Mapping[str, CanSplit]):
    """A cache of `leat ingest can`: a mapping from the names of its splits to their graphs.

    path: the folder of a cache, or a folder that contains a single cache. Opening reads only its
    JSON; a split is mapped at its first use. The files are also ordinary safetensors
    (docs/can-graphs.md); data read here is verified and scaled.

    Any number of threads may read. It can be pickled and used in a child after fork (it is reopened
    by its path). Use it in a `with`, call close(), or leave it to the garbage collector: the files
    are closed when nothing uses them any more, including splits and loaders.

    Raises NotFoundError, CorruptError, InputError, InputOutputError.
    """

    def __init__(self, path: Path) -> None:
        self._argument = path_of(path, "the folder of a CAN cache")
        self._open = _Handle(self._argument)
        found, scaler = _abi.CanFacts(), _abi.CanScalerFacts()
        pointer = self._open.pointer
        held.leat_can_cache_get_facts(pointer, c.byref(found))
        held.leat_can_cache_get_scaler(pointer, c.byref(scaler))
        self.path: str = os.fsdecode(found.path)  #: of the cache's own folder
        self.fingerprint = _text(found.fingerprint)  #: of inputs, settings and version
        self.dataset, self.preset = _text(found.dataset), _text(found.preset)
        self.built_at = _text(found.built_at)  #: UTC; "" in caches written by leat
        self.window: int = found.window  #: frames
        self.stride: int = found.stride
        self.frames_stored: bool = found.frames  #: graphs are built from stored frames
        self.windows_dropped: int = found.windows_dropped  #: between training and validation
        #: identifiers without a number, which are in no training log
        self.unknown: tuple[str, ...] = tuple(
            _text(lib.leat_can_cache_identifier(pointer, index))
            for index in range(found.vocab_count, found.id_count))
        #: identifier to its number, from 1
        self.vocabulary: dict[str, int] = {
            _text(lib.leat_can_cache_identifier(pointer, index)): index + 1
            for index in range(found.vocab_count)}
        #: settings of the cache, by the names of the command's options
        self.settings: dict[str, str] = dict(self._settings(pointer))
        self.scaler = Scaler(_text(scaler.strategy), *(
            np.array(getattr(scaler, name)) for name in Scaler._fields[1:]))
        self.captures: tuple[Capture, ...] = tuple(
            self._capture(pointer, index) for index in range(found.capture_count))
        self._splits = _split_facts(pointer)

    @staticmethod
    def _settings(pointer: c.c_void_p) -> Iterator[tuple[str, str]]:
        index = 0
        while name := lib.leat_can_cache_setting_name(pointer, index):
            yield _text(name), _text(lib.leat_can_cache_setting(pointer, name))
            index += 1

    @staticmethod
    def _capture(pointer: c.c_void_p, index: int) -> Capture:
        found = _abi.CanCaptureFacts()
        call(held.leat_can_cache_get_capture, pointer, index, c.byref(found))
        return Capture(os.fsdecode(found.file), os.fsdecode(found.folder), _text(found.split),
                       found.bus if found.bus >= 0 else None, found.vehicle or None,
                       *(getattr(found, name) for name in Capture._fields[5:]))

    def split(self, name: str, *, scale: str = "stored") -> CanSplit:
        """The graphs of a split; scale "none": as stored."""
        handle = self._handle
        if name not in self._splits:
            raise KeyError(f"no split {name!r}: the cache has {', '.join(self._splits)}")
        return CanSplit(handle, self._splits[name], scale)

    def class_weights(self, split: str = "train") -> npt.NDArray[np.float32]:
        """[2] weights of benign (y = 0) and attack (y = 1) for a loss in which both count the same:
        n / (classes * n_c), n the labelled graphs of the split, n_c those of the class.

        A class without graphs has weight 0, and is not counted in `classes`: the other one has 1.
        For PyTorch: CrossEntropyLoss(weight=torch.from_numpy(data.class_weights())).
        """
        name, found = self.split(split).name, _abi.CanClasses()
        call(lib.leat_can_cache_get_classes, self._handle.pointer, encoded(name), c.byref(found))
        return np.array(found.weight, np.float32)

    def graph(self, split: str, graph: int, *, scale: str = "stored") -> Graph:
        """One graph."""
        return self.split(split, scale=scale)[graph]

    def __getitem__(self, name: str) -> CanSplit:
        return self.split(name)

    def __iter__(self) -> Iterator[str]:
        """The names of the splits: train, val, then tests."""
        return iter(self._splits)

    def __len__(self) -> int:
        """The number of splits; for graphs: len(data["train"])."""
        return len(self._splits)

    __eq__, __hash__ = object.__eq__, object.__hash__  # by identity, like other data sets

    def __reduce__(self) -> Any:
        return CanDataset, (self._argument,)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} {split.graph_count}" for name, split in self._splits.items())
        return f"<leat.CanDataset {self._argument}: {sizes}>"


class _Open(_ring.Open):
    """A leat_graph_loader."""
    destroy = lib.leat_graph_loader_destroy


class _Held(_ring.Held):
    """A leat_graph_batch."""
    __slots__ = ()
    release = held.leat_graph_batch_release


def _arrays(found: Any, writable: bool) -> GraphBatch:
    """The arrays of a leat_graph_batch, which this function now owns; nothing is copied."""
    holder = _Held(found)
    graphs, nodes, edges = found.graph_count, found.node_count, found.edge_count

    def array(name: str, kind: str, *shape: int) -> npt.NDArray[Any]:
        return holder.array(getattr(found, name), shape, kind, writable)
    return GraphBatch(
        found.epoch, found.batch, found.batch_count,
        x=array("x", "<f4", nodes, NODE_FEATURES),
        edge_attr=array("edge_attr", "<f4", edges, EDGE_FEATURES),
        edge_index=array("edge_index", "<i4", 2, edges), node_id=array("node_id", "<i4", nodes),
        node_graph=array("node_graph", "<i4", nodes),
        node_ptr=array("node_ptr", "<i8", graphs + 1),
        edge_ptr=array("edge_ptr", "<i8", graphs + 1), y=array("y", "<i4", graphs),
        attack_type=array("attack_type", "<i4", graphs), graph=array("graph", "<i8", graphs))


def _budget(data: CanDataset, split: str, device_memory: int | str, model: str) -> tuple[int, int]:
    """max_nodes and max_edges of batches whose step uses at most this much device memory."""
    names: list[str | None] = []
    while name := lib.leat_graph_model_name(len(names)):
        names.append(_text(name))
    number, facts = choice("model", model, names), data.split(split)
    memory, nodes, edges = _abi.GraphMemory(), c.c_int64(), c.c_int64()
    totals = _abi.GraphTotals(facts.node_count, facts.edge_count, max(facts.nodes.min, 1),
                              facts.nodes.max, facts.edges.max)
    call(lib.leat_graph_memory_of, number, len(data.vocabulary) + 1, c.byref(memory))
    call(lib.leat_graph_budget, c.byref(memory), size("device_memory", device_memory),
         c.byref(totals), c.byref(nodes), c.byref(edges))
    return nodes.value, edges.value


def _limits(data: CanDataset, split: str, given: tuple[int | None, int | None], pack: str,
            device_memory: int | str | None, model: str | None) -> tuple[int | None, int | None]:
    """max_nodes and max_edges, as given or from the memory of a device."""
    if device_memory is None and model is None:
        return given
    if device_memory is None or model is None:
        raise OptionError("device_memory and model require each other: the memory, and the model "
                          "whose step uses it")
    if given != (None, None):
        raise OptionError("device_memory, and max_nodes or max_edges, both limit the nodes and "
                          "edges of a batch; give only one of them")
    if pack == "fixed":
        raise OptionError("device_memory: pack 'fixed' has no budget; use batch to set the number "
                          "of graphs per batch")
    return _budget(data, split, device_memory, model)


def _refuse_idle(pack: str, curriculum: Path | None, given: Mapping[str, Any]) -> None:
    """Refuses options that have no effect with the others: the run is not the one intended."""
    if pack != "fixed" and given["batch"] is not None:
        raise OptionError(f"batch is for pack 'fixed'; with pack {pack!r}, max_nodes and max_edges "
                          "limit the size of a batch")
    for name in ("max_nodes", "max_edges", "oversize"):
        if pack == "fixed" and given[name] is not None:
            raise OptionError(f"{name}: pack 'fixed' has no budget; use batch to set the number of "
                              "graphs per batch")
    for name in ("tiers", "curriculum_start", "curriculum_end"):
        if curriculum in (None, "none") and given[name] is not None:
            raise OptionError(f"{name} requires a curriculum; give curriculum 'random' or the path "
                              "of a file of scores")


class GraphLoader(_ring.Ring):
    """Batches of graphs of one split: an iterator of GraphBatch.

    data: a CanDataset, or the path of one. A batch is a function of the cache, `split`, its epoch
    and number, `order`, and these options (docs/can-graphs.md):

    graphs "all", "benign" (y = 0) or "attack" (y = 1), the others are in no batch; pack "ffd",
    "next-fit", "bucket" (as many graphs as fit max_nodes and max_edges, default 8192 and 32768; 0:
    no limit), or "fixed" (`batch` graphs, default 32); instead of the two limits, device_memory
    (bytes, or "16G") and model "vgae", "vgae-large", "gat" or "gat-large": the device memory that a
    training step of the model may use; oversize "skip" (default), "alone" or "fail": what to do
    with a graph that exceeds a budget (without it, a warning counts those skipped); min_steps of an
    epoch; seed; curriculum None, "random", or the path of a file of scores, with tiers (default
    10), curriculum_start (1), curriculum_end (10) and epochs; preset "default" or "reference";
    scale "stored" or "none". An option that has no effect with the others, such as batch without
    pack "fixed", raises OptionError.

    Each epoch is drawn anew; after `epochs` of them the iterator ends (0: never). Host `host` of
    `hosts` gets every hosts-th batch, the same number per epoch as the others: the last one may be
    without graphs.

    threads, prefetch (batches built ahead; None: as many as fit, at most 8) and memory (bytes, or
    "512M") change only the speed. The guarantees of leat.Loader about arrays, threads, waiting and
    processes hold here too.

    order "global": the graphs of a batch may be anywhere in the file; "windowed" or
    "windowed:SIZE", for caches larger than memory: the batches of an epoch go through windows of
    SIZE bytes (128M), each read once, in large pieces.

    Raises OptionError (naming the option and its value), CorruptError, InputOutputError; a step
    that failed raises again until seek().
    """

    _name, _batch, _counters = "leat_graph_loader", _abi.GraphBatch, _abi.GraphLoaderCounters
    _rows = "leat.CanSplit"

    def __init__(self, data: CanDataset | Path, split: str = "train", *, graphs: str = "all",
                 pack: str = "ffd", max_nodes: int | None = None, max_edges: int | None = None,
                 device_memory: int | str | None = None, model: str | None = None,
                 batch: int | None = None, oversize: str | None = None, min_steps: int = 1,
                 seed: int = 0, curriculum: Path | None = None, tiers: int | None = None,
                 curriculum_start: float | None = None, curriculum_end: float | None = None,
                 epochs: int = 0, preset: str = "default", scale: str = "stored", host: int = 0,
                 hosts: int = 1, threads: int | None = None, prefetch: int | None = None,
                 memory: int | str | None = None, order: str = "global") -> None:
        super().__init__(host, hosts)
        self._data = data if isinstance(data, CanDataset) else CanDataset(data)
        nodes, edges = _limits(self._data, split, (max_nodes, max_edges), pack, device_memory,
                               model)
        _refuse_idle(pack, curriculum, {
            "batch": batch, "max_nodes": max_nodes, "max_edges": max_edges, "oversize": oversize,
            "tiers": tiers, "curriculum_start": curriculum_start, "curriculum_end": curriculum_end})
        options = lib.leat_graph_loader_options_default()
        by_scores = curriculum not in (None, "none", "random")
        counts = {"max_nodes": nodes, "max_edges": edges, "batch": batch, "min_steps": min_steps,
                  "seed": seed, "tiers": tiers, "epochs": epochs}
        ramp = {"curriculum_start": curriculum_start, "curriculum_end": curriculum_end}
        words: dict[str, Any] = {
            "graphs": graphs, "pack": pack, "oversize": oversize, "preset": preset, "order": order,
            "curriculum": "scores" if by_scores else curriculum or "none"}
        for kind, values in ((whole, counts), (real, ramp)):
            words.update((name.replace("_", "-"), kind(name, value))
                         for name, value in values.items() if value is not None)
        set_options(lib.leat_graph_batch_options_table(), options.batches, words)
        set_options(lib.leat_graph_loader_options_table(), options,
                    {"scale": scale, **_ring.options_of(host, hosts, threads, prefetch, memory)})
        options.split = encoded(split)
        if by_scores and curriculum is not None:
            options.scores = encoded(curriculum)
        pointer = _Open()
        pointer.data = self._data._handle  # stays open for the loader, even if _data is closed
        call(lib.leat_graph_loader_create, c.byref(pointer), pointer.data.pointer,
             c.byref(options))
        self._pointer = pointer
        self.split, self.host, self.hosts, self.epochs = split, host, hosts, epochs
        self.max_nodes: int = options.batches.max_nodes  #: of a batch
        self.max_edges: int = options.batches.max_edges
        found = _abi.GraphLoaderFacts()
        held.leat_graph_loader_get_facts(pointer, c.byref(found))
        self.split_graphs: int = found.split_graphs
        self.graphs: int = found.graphs  #: graphs in batches, without those left out or skipped
        self.left_out: int = found.left_out  #: graphs that the option `graphs` leaves out
        #: graphs that exceed a budget: skipped, or in their own batch
        self.oversize: npt.NDArray[np.uint32] = copy_of(found.oversize, found.oversize_count,
                                                        np.uint32)
        if oversize is None and self.oversize.size > 0:
            warnings.warn(
                f"{self.oversize.size} of {found.split_graphs} graphs of {split} exceed max_nodes "
                f"({self.max_nodes}) or max_edges ({self.max_edges}) and are in no batch; raise "
                "the limit, or pass oversize 'alone', 'fail' or 'skip'", stacklevel=2)
        self.most_graphs: int = found.most_graphs  #: most graphs of any batch
        self.most_nodes: int = found.most_nodes
        self.most_edges: int = found.most_edges

    @property
    def data(self) -> CanDataset:
        """The data set."""
        return self._data

    def __next__(self) -> GraphBatch:
        """The next batch; StopIteration at the end (only with `epochs`)."""
        return _arrays(self._take(), False)

    def _next_writable(self) -> GraphBatch:
        """Like next(), but with writable arrays: nothing else uses the batch until it is released,
        and the loader then rewrites every byte."""
        return _arrays(self._take(), True)

    @property
    def place(self) -> tuple[int, int]:
        """Epoch of the next batch, and the number of its batches that are done, over all hosts."""
        epoch, batch = c.c_int64(), c.c_int64()
        held.leat_graph_loader_place(self._open, c.byref(epoch), c.byref(batch))
        return epoch.value, batch.value

    def epoch(self, number: int) -> EpochFacts:
        """The number of batches of an epoch, which is planned to find out, as by seek()."""
        found = _abi.GraphEpochFacts()
        call(lib.leat_graph_loader_get_epoch, self._open, integer("epoch", number),
             c.byref(found))
        return EpochFacts(found.batch_count, found.step_count, found.graph_count, found.tiers)

    def state(self) -> dict[str, int | str]:
        """The state to resume from: {"v", "data", "options", "seed", "epoch", "batch"}.

        JSON of at most 256 bytes, the same on all hosts; a run may resume with a different number
        of hosts if it divides "batch".
        """
        return super().state()

    def seek(self, place: Sequence[SupportsIndex] | str | Mapping[str, Any]) -> None:
        """Goes to a place (epoch, batch), or to a state (as returned by state(), or its JSON).

        `batch` is a multiple of `hosts`. A state of different data, options or seed raises
        InputError, which names which of these it is. Only load() can name the option: a state holds
        a hash of them.
        """
        with self._alone:
            if isinstance(place, (str, Mapping)):
                self._restore(place)
                return
            try:
                epoch, batch = place
            except (TypeError, ValueError):
                raise TypeError(f"{place!r} is not a place; give (epoch, batch), or a state") \
                    from None
            call(lib.leat_graph_loader_seek, self._open, integer("epoch", epoch),
                 integer("batch", batch))

    def explain(self, epoch: int, batch: int) -> GraphExplanation:
        """The graphs of a batch of any host."""
        found = c.POINTER(_abi.GraphExplanation)()
        call(lib.leat_graph_loader_explain, self._open, integer("epoch", epoch),
             integer("batch", batch), c.byref(found))
        try:
            one = found.contents
            return GraphExplanation(
                one.epoch, one.batch, one.batch_count, one.tiers, one.node_count, one.edge_count,
                tuple(_facts(each) for each in one.graphs[:one.graph_count]))
        finally:
            lib.leat_graph_explanation_destroy(found)

    def counters(self) -> dict[str, int]:
        """Counters of the batches returned so far: batches, graphs, nodes, edges; payload_bytes
        read, stall_ns (waiting for batches), work_ns (of all threads), memory_bytes, prefetch."""
        return super().counters()

    def __repr__(self) -> str:
        where = "closed" if self._pointer is None else "next epoch {}, batch {}".format(*self.place)
        return f"<leat.GraphLoader of {self._data.path} {self.split}: {where}>"
